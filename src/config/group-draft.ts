import type { Origin } from "./documents/origin.js";
import { pairOf, type SourceNode } from "./documents/source-node.js";
import type { GroupDraft } from "./entry.js";

/** What can be told of a group that has mistakes elsewhere, so that those of its expression are found in the same run. */
export function groupDraft(node: SourceNode, origin: Origin): GroupDraft | undefined {
  if (node.kind !== "map") return undefined;
  const expression = stringAt(node, "expression");
  const policies = pairOf(node, "policies")?.value;
  if (expression === undefined || policies === undefined || policies.kind === "scalar") return undefined;
  const names =
    policies.kind === "map"
      ? policies.pairs.map(({ key }) => key)
      : policies.items.map((item) => stringAt(item, "name"));
  const members = names.filter((name) => name !== undefined);
  return members.length === names.length ? Object.freeze({ expression, members, origin }) : undefined;
}

function stringAt(node: SourceNode, key: string): string | undefined {
  const value = node.kind === "map" ? pairOf(node, key)?.value : undefined;
  return value?.kind === "scalar" && typeof value.value === "string" ? value.value : undefined;
}
