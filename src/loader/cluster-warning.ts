/** Warnings about a policy that looks things up where there is no cluster: what will fail, and the remedy. */
import type { GroupEntry, PolicyEntry, Problem } from "../config/index.js";
import type { Requirement } from "../world/needs.js";

/** An entry that is loaded by itself, not made of members. */
export type LoadedEntry = Exclude<PolicyEntry, GroupEntry>;

/** The warning, at the key of the policy's kind. */
export function clusterWarning(entry: LoadedEntry, requires: readonly Requirement[]): Problem {
  const asked = listed(requires.map(({ what }) => what));
  const fails = entry.kind === "module" ? "what it asks fails" : `requests for which it asks are ${denied(requires)}`;
  const message = `asks a cluster for ${asked}: without one ${fails}. ${advice(entry, requires)}`;
  return entry.origin.warning([entry.kind], message, undefined, { code: "CLUSTER_NEEDED" });
}

function denied(requires: readonly Requirement[]): string {
  const ignorable = requires.filter((requirement) => requirement.ignorable === true).map(({ what }) => what);
  if (ignorable.length === 0) return "denied";
  const which = ignorable.length === requires.length ? "" : ` those for ${listed(ignorable)}`;
  return `denied,${which} unless its failurePolicy is Ignore`;
}

function advice({ kind }: LoadedEntry, requires: readonly Requirement[]): string {
  const documents = [...new Set(requires.flatMap((requirement) => requirement.documents ?? []))];
  if (documents.length === 0) return "Name one with --kubeconfig";
  const where =
    kind === "resource" ? "add their file to `resource`" : "move the policy to a file and name both under `resource`";
  const rest = requires.filter((requirement) => requirement.documents === undefined).map(({ what }) => what);
  const cluster = rest.length === 0 ? ", or name a cluster" : `; ${listed(rest)} can only be told by a cluster, named`;
  return `Write ${listed(documents)} as YAML documents beside it (${where})${cluster} with --kubeconfig`;
}

function listed(parts: readonly string[]): string {
  const last = parts.at(-1) ?? "";
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(", ")} and ${last}`;
}
