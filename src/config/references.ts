/** Checks references between entries: to unknown policies, and groups that contain themselves. */
import { didYouMean } from "../data/suggest.js";
import type { Problem } from "./documents/problem.js";

/** A reference from a top-level group (or a group inside of it) to an entry. */
export interface Reference {
  /** Id of the top-level entry. */
  readonly from: string;
  readonly to: string;
  /** A problem at the place of the reference. */
  readonly problem: (message: string, code: "CONFIG_REFERENCE" | "CONFIG_CYCLE") => Problem;
}

/**
 * The errors of references, by the id of the entry that has them.
 * @param good the ids of entries that are valid so far: only these can contain themselves
 * @param ids the ids of all entries, invalid ones included: references to those are not errors of their own
 */
export function checkReferences(
  references: readonly Reference[],
  good: readonly string[],
  ids: readonly string[],
): ReadonlyMap<string, readonly Problem[]> {
  const known = new Set(ids);
  const graph = new Map(good.map((id): [string, string[]] => [id, []]));
  for (const { from, to } of references) graph.get(from)?.push(to);
  const errors = new Map<string, Problem[]>();
  for (const { from, to, problem } of references) {
    const cycle = known.has(to) ? pathBetween(to, from, graph) : undefined;
    const message = !known.has(to)
      ? `no policy is named ${JSON.stringify(to)}${ofMember(to, known) || didYouMean(to, ids)}`
      : cycle && `groups must not contain themselves: ${[from, ...cycle].join(" -> ")}`;
    const code = known.has(to) ? "CONFIG_CYCLE" : "CONFIG_REFERENCE";
    if (message !== undefined) errors.set(from, [...(errors.get(from) ?? []), problem(message, code)]);
  }
  return errors;
}

/** The advice for a reference to the member of a group. */
function ofMember(to: string, known: ReadonlySet<string>): string {
  const slash = to.indexOf("/");
  if (slash === -1 || !known.has(to.slice(0, slash))) return "";
  return ": members belong to their group; make it an entry of its own, and let both refer to that";
}

/** The shortest path along references from one entry to another, both included. */
function pathBetween(
  from: string,
  to: string,
  graph: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined {
  const cameFrom = new Map<string, string | undefined>([[from, undefined]]);
  for (const current of cameFrom.keys()) {
    if (current === to) {
      const path: string[] = [];
      for (let step: string | undefined = current; step !== undefined; step = cameFrom.get(step)) path.unshift(step);
      return path;
    }
    for (const next of graph.get(current) ?? []) if (!cameFrom.has(next)) cameFrom.set(next, current);
  }
  return undefined;
}
