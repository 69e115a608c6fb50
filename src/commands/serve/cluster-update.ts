/** Has processes load what has changed in a cluster, and serve it together. */
import type { ClusterDelta, LoadedPolicyReport } from "../../config/from-cluster/cluster-document.js";
import type { ClusterCopy } from "./cluster-copy.js";
import type { Answer, Child, Fleet } from "./fleet.js";
import type { Prepared } from "./messages.js";

/** How long a process may take: modules are fetched meanwhile, each with time-outs of its own. */
const PREPARE_WITHIN_MS = 300_000;

/** How long a process may take to say that it serves something else: longer than anything holds its main thread. One that hangs is replaced. */
const SWAP_WITHIN_MS = 10_000;

/**
 * One bad policy holds up nobody: processes refuse no state. One that can't load it all the same is ended, when others can, and its successor begins with
 * everything.
 * @param generation of what they serve then
 * @returns what became of the policies that were loaded anew; undefined when no process serves it
 */
export async function updateFromCluster(
  fleet: Pick<Fleet, "ask" | "tell" | "serves" | "kill">,
  children: readonly Child[],
  delta: ClusterDelta,
  generation: number,
  copy: ClusterCopy,
): Promise<readonly LoadedPolicyReport[] | undefined> {
  const ask = (whom: readonly Child[], what: ClusterDelta) =>
    fleet.ask(whom, PREPARE_WITHIN_MS, (id) => ({ type: "prepare", id, generation, delta: what }));
  const answers = await ask(children, delta);
  const whole = copy.whole();
  const lacking = [...answers].filter(([, answer]) => prepared(answer)?.needs === "whole").map(([child]) => child);
  if (whole !== undefined && lacking.length > 0)
    for (const [child, answer] of await ask(lacking, whole)) answers.set(child, answer);
  const able = [...answers].filter(([, answer]) => prepared(answer)?.ok === true).map(([child]) => child);
  const good = able.length > 0;
  for (const [child, answer] of answers) {
    if (able.includes(child) || answer === "gone") continue;
    fleet.tell(child, { type: "discard" });
    if (good) fleet.kill(child, "a serving process could not load the cluster's policies: it is killed");
  }
  for (const child of able) fleet.serves(child, generation);
  // Others are told that policies are served, and webhooks made for them: that must be true then.
  await fleet.ask(able, SWAP_WITHIN_MS, (id) => ({ type: "swap", id }));
  return good ? together([...answers.values()].map((answer) => prepared(answer)?.reports ?? [])) : undefined;
}

const prepared = (answer: Answer): Prepared | undefined =>
  typeof answer === "object" && answer.type === "prepared" ? answer : undefined;

/** One that waits is the worst: as long as any process does, nobody is to be told that the policy is answered for. */
const BADNESS = { loaded: 0, "last-good": 1, unavailable: 2, waiting: 3, refused: 4 } as const;

/** Of what processes say about the same policy the worst: one of them may not have got a module. */
function together(all: readonly (readonly LoadedPolicyReport[])[]): readonly LoadedPolicyReport[] {
  const reports = new Map<string, LoadedPolicyReport>();
  for (const report of all.flat()) {
    const other = reports.get(report.key);
    if (other === undefined || BADNESS[other.state] < BADNESS[report.state]) reports.set(report.key, report);
  }
  return [...reports.values()];
}
