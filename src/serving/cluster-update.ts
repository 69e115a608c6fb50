/** Has processes load what has changed in a cluster, and serve it together. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ClusterDelta } from "../config/from-cluster/cluster-document.js";
import type { ClusterCopy } from "./cluster-copy.js";
import type { Child, Fleet } from "./fleet.js";
import { type LoadedByProcess, preparedBy } from "./prepared-answers.js";

/** How long a process may take to load policies anew: modules are fetched meanwhile, each with time-outs of its own. */
export const PREPARE_WITHIN_MS = 300_000;

/** How long the others wait for the one that fetches modules first: a registry that does not answer must not hold up the start twice. */
const HEAD_START_MS = 20_000;

/** How long a process may take to say that it serves something else: longer than anything holds its main thread. One that hangs is replaced. */
const SWAP_WITHIN_MS = 10_000;

/**
 * One bad policy holds up nobody: processes refuse no state. One that can't load it all the same is ended, when others can, and its successor begins with
 * everything.
 * @param generation of what they serve then
 * @returns what those say that serve it now
 */
export async function updateFromCluster(
  fleet: Pick<Fleet, "ask" | "tell" | "kill">,
  children: readonly Child[],
  delta: ClusterDelta,
  generation: number,
  copy: ClusterCopy,
): Promise<ReadonlyMap<Child, LoadedByProcess>> {
  const ask = (whom: readonly Child[], what: ClusterDelta) =>
    fleet.ask(whom, PREPARE_WITHIN_MS, (id) => ({ type: "prepare", id, generation, delta: what }));
  // What one of them has fetched the others find in the download folder: at first nothing is there.
  const first = namesModules(delta) ? 1 : children.length;
  const begun = ask(children.slice(0, first), delta);
  if (first < children.length) await headStart(begun);
  const others = await ask(children.slice(first), delta);
  const answers = new Map([...(await begun), ...others]);
  const whole = copy.whole();
  const lacking = [...answers].filter(([, answer]) => preparedBy(answer)?.needs === "whole").map(([child]) => child);
  if (whole !== undefined && lacking.length > 0)
    for (const [child, answer] of await ask(lacking, whole)) answers.set(child, answer);
  const able = new Map<Child, LoadedByProcess>();
  for (const [child, answer] of answers) {
    const loaded = preparedBy(answer);
    const isWhole = delta.base === 0 || lacking.includes(child);
    if (loaded?.ok === true) able.set(child, { reports: loaded.reports ?? [], isWhole });
  }
  for (const [child, answer] of answers) {
    if (able.has(child) || answer === "gone") continue;
    fleet.tell(child, { type: "discard" });
    if (able.size > 0) fleet.kill(child, "a serving process could not load the cluster's policies: it is killed");
  }
  // Others are told that policies are served, and webhooks made for them: that must be true then.
  await fleet.ask([...able.keys()], SWAP_WITHIN_MS, (id) => ({ type: "swap", id }));
  return able;
}

/** Resolves with the work, or when it has had its time. */
async function headStart(work: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  const late = sleep(HEAD_START_MS, undefined, { signal: done.signal }).catch(() => {});
  await Promise.race([work, late]);
  done.abort();
}

/** Whether everything is loaded, with modules from somewhere. Later ones come one by one. */
const namesModules = ({ base, put }: ClusterDelta): boolean =>
  base === 0 && put.some(({ text }) => text.includes('"module": "'));
