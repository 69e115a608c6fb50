/** Checks what entries say about each other: references to unknown policies, and groups that contain themselves. */

import { didYouMean } from "../data/suggest.js";
import type { GroupEntry, PolicyEntry } from "./entry.js";
import type { Problem } from "./problem.js";

/** A reference from a top-level group (or an inline group in it) to an entry. */
interface Reference {
  readonly to: string;
  readonly problem: (message: string) => Problem;
}

/**
 * The errors of every group that has any, by id.
 * @param entries the entries that are right so far
 * @param ids the ids of all entries, invalid ones included: referring to those is no error of the one who refers
 */
export function checkReferences(
  entries: readonly PolicyEntry[],
  ids: readonly string[],
): ReadonlyMap<string, readonly Problem[]> {
  const graph = new Map(entries.map((entry) => [entry.id, entry.kind === "group" ? referencesOf(entry) : []]));
  const known = new Set(ids);
  const errors = new Map<string, readonly Problem[]>();
  for (const [id, references] of graph) {
    const problems = references.flatMap((reference) => {
      if (!known.has(reference.to)) {
        return [
          reference.problem(`no policy is named ${JSON.stringify(reference.to)}${didYouMean(reference.to, ids)}`),
        ];
      }
      const cycle = pathBetween(reference.to, id, graph);
      return cycle === undefined
        ? []
        : [reference.problem(`groups must not contain themselves: ${[id, ...cycle].join(" -> ")}`)];
    });
    if (problems.length > 0) errors.set(id, problems);
  }
  return errors;
}

function referencesOf(group: GroupEntry): readonly Reference[] {
  return group.members.flatMap(({ policy, origin }): readonly Reference[] => {
    if (policy.kind === "group") return referencesOf(policy);
    if (policy.kind !== "reference") return [];
    return [{ to: policy.id, problem: (message) => origin.error(["policy"], message) }];
  });
}

/** The shortest way along references from one entry to another, both included. */
function pathBetween(
  from: string,
  to: string,
  graph: ReadonlyMap<string, readonly Reference[]>,
): readonly string[] | undefined {
  const cameFrom = new Map<string, string | undefined>([[from, undefined]]);
  for (const current of cameFrom.keys()) {
    if (current === to) {
      const path: string[] = [];
      for (let step: string | undefined = current; step !== undefined; step = cameFrom.get(step)) path.unshift(step);
      return path;
    }
    for (const { to: next } of graph.get(current) ?? []) if (!cameFrom.has(next)) cameFrom.set(next, current);
  }
  return undefined;
}
