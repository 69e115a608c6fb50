import { didYouMean } from "../data/suggest.js";
import { Origin } from "../documents/origin.js";
import type { Path } from "../documents/problem.js";
import { describeNode, type MapNode, pairOf, type SourceNode } from "../documents/source-node.js";
import type { CelEntry, GroupEntry, ModuleEntry, PolicyEntry } from "./entry.js";
import { KIND_KEYS, type KindKey } from "./entry-fields.js";
import { type GroupFields, groupEntry, type Level, moduleEntry, readFields, type Written } from "./entry-parts.js";
import { readMembers } from "./member-reader.js";
import type { ProblemSink } from "./problem-sink.js";
import { readResource } from "./resource-reader.js";
import { mismatch } from "./shape.js";

/** Deepest nesting of inline groups; by-reference groups may be chained on. */
export const MAX_GROUP_DEPTH = 16;
/** Most policies and members of one configuration, those that resources bring in included. */
export const MAX_POLICIES = 10_000;

/** Reads one entry of policies.yaml, or one member of a group; undefined after at least one error. */
export function readPolicy(written: Written): PolicyEntry | undefined {
  const { node, path, level, context } = written;
  const { sink } = context;
  if (node.kind !== "map") return mismatch(node, path, sink, `a map with ${kindsInWords(level)}`);
  if (++context.budget.policies > MAX_POLICIES) {
    sink.error(path, `more than ${MAX_POLICIES} policies and members in one configuration`);
    return undefined;
  }
  const map = { ...written, node };
  switch (kindOf(map)) {
    case "module":
      return readModule(map);
    case "resource":
      return readResource(map);
    case "cel":
      return readCel(map);
    case "expression":
      return readGroup(map);
    case undefined:
      return undefined;
  }
}

/** The one kind that the keys tell. */
function kindOf({ node, path, level, context: { sink } }: Written<MapNode>): KindKey | undefined {
  const found = [...KIND_KEYS, "url", "policies"].filter((key) => pairOf(node, key) !== undefined);
  const kinds = new Set(
    found.map((key) => (key === "url" ? "module" : key === "policies" ? "expression" : (key as KindKey))),
  );
  const [kind] = kinds;
  if (kind !== undefined && kinds.size === 1) {
    if (!found.includes("url") || !found.includes("module")) return kind;
    sink.keyError([...path, "url"], '"url" is another name for "module": write only one of them');
    return undefined;
  }
  if (kind !== undefined) {
    sink.error(path, `has ${found.join(" and ")}, but a policy is exactly one of ${KIND_KEYS.join(", ")}`);
    return undefined;
  }
  const slip = node.pairs.map(({ key }) => didYouMean(key, [...KIND_KEYS, "policies"])).find((text) => text !== "");
  sink.error(path, `does not say what it is: expected ${kindsInWords(level)}${slip ?? ""}`);
  return undefined;
}

function kindsInWords(level: Level): string {
  return `exactly one of ${level.member ? "policy, " : ""}${KIND_KEYS.join(", ")}`;
}

function readModule(written: Written<MapNode>): ModuleEntry | undefined {
  const { id, path, context } = written;
  const fields: (ReturnType<typeof readFields<"module">> & { url?: string }) | undefined = readFields(
    "module",
    written,
  );
  if (fields === undefined) return undefined;
  const settings = pairOf(written.node, "settings");
  // What stands in a resource is read by Kubernetes elsewhere, too.
  if (settings !== undefined && context.chain.length === 0) {
    warnOfOldWords(settings.value, [...path, "settings"], context.sink);
  }
  const { url, namespacedName: _, ...parts } = fields;
  const origin = new Origin(context.document, path);
  return moduleEntry({ id, origin, ...parts, module: parts.module ?? url! }, context);
}

/** Words in settings that are texts for Kubewarden's policy server. */
function warnOfOldWords(node: SourceNode, path: Path, sink: ProblemSink): void {
  if (node.kind === "map") for (const { key, value } of node.pairs) warnOfOldWords(value, [...path, key], sink);
  else if (node.kind === "list") {
    for (const [index, item] of node.items.entries()) warnOfOldWords(item, [...path, index], sink);
  } else if (node.oldWord !== undefined) {
    const quoted = JSON.stringify(node.oldWord);
    sink.warning(
      path,
      `read as ${describeNode(node)}, as Kubernetes reads YAML; write ${quoted} in quotes if a text is meant`,
    );
  }
}

function readCel(written: Written<MapNode>): CelEntry | undefined {
  const { id, path, context } = written;
  const fields = readFields("cel", written);
  if (fields === undefined) return undefined;
  const { cel, policyMode = "protect", ...others } = fields;
  const origin = new Origin(context.document, path);
  return Object.freeze({ kind: "cel", id, origin, cel: cel!, policyMode, allowedToMutate: false, ...others });
}

function readGroup(written: Written<MapNode>): GroupEntry | undefined {
  const { node, id, path, level, context } = written;
  const depth = level.member ? level.depth : 0;
  if (depth > MAX_GROUP_DEPTH) {
    context.sink.error(
      path,
      `groups nested deeper than ${MAX_GROUP_DEPTH} levels: name inner groups and refer to them`,
    );
    return undefined;
  }
  const fields = readFields("expression", written);
  const policies = pairOf(node, "policies");
  const members = policies && readMembers(policies.value, id, [...path, "policies"], depth + 1, context);
  if (fields === undefined || members === undefined) return undefined;
  return groupEntry({ id, origin: new Origin(context.document, path), members, ...(fields as GroupFields) });
}
