/** What the status of a policy tells of its version in shadow. */
import type { RolledOut } from "../../config/from-cluster/rollouts.js";
import type { ShadowExample } from "../../policy/served/shadow/tally.js";
import type { Progress } from "./record.js";

/** Examples in a status: the latest; `GET /policies` has more. */
const SHOWN_EXAMPLES = 3;

/**
 * A few lines.
 * @param examples of this replica
 * @param outlook when it is promoted
 */
export function shadowWords(
  { rollout: { note, shadow, enforcedNamespaces, problems } }: RolledOut,
  { record, counts }: Progress,
  examples: readonly ShadowExample[],
  outlook: string | undefined,
): string {
  const generation = shadow?.document.generation ?? 0;
  const inForce = note.generation === 0 ? "none is in force" : `generation ${note.generation} is in force`;
  const { agreed, wouldDeny, wouldAllow, failed, notEvaluated } = counts;
  const gone = record.denied === 0 ? "" : ` Denials that replicas counted that have gone: ${record.denied}.`;
  const lines = [
    `generation ${generation} is in shadow since ${new Date(record.since).toISOString()}; ${inForce}.`,
    `Would deny: ${wouldDeny}, would allow: ${wouldAllow}, failed: ${failed}, agreed: ${agreed}, not evaluated: ${notEvaluated}.${gone}`,
    ...(enforcedNamespaces.length > 0 ? [`In force in ${enforcedNamespaces.join(", ")}.`] : []),
    ...(outlook === undefined ? [] : [`${outlook[0]?.toUpperCase()}${outlook.slice(1)}.`]),
    ...problems.map(({ path, message }) => `${path.at(-1)}: ${message}.`),
    ...examples.slice(-SHOWN_EXAMPLES).map(exampleWords),
  ];
  return lines.join("\n");
}

function exampleWords({ at, result, operation, kind, namespace, name, message }: ShadowExample): string {
  const what = [operation, kind, namespace === undefined ? name : `${namespace}/${name ?? ""}`]
    .filter(Boolean)
    .join(" ");
  const would = result === "wouldAllow" ? "would allow" : result === "failed" ? "failed at" : "would deny";
  return `${new Date(at).toISOString()} ${would} ${what}${message === undefined ? "" : `: ${message}`}`;
}
