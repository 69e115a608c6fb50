import { didYouMean, nearest } from "../data/suggest.js";
import { celSpec } from "./cel-fields.js";
import { Origin } from "./documents/origin.js";
import type { Path } from "./documents/problem.js";
import {
  deepestNode,
  describeNode,
  isNothing,
  type MapNode,
  pairOf,
  type SourceNode,
} from "./documents/source-node.js";
import type { CelEntry, GroupEntry, ModuleEntry, PolicyEntry } from "./entry.js";
import { ENTRY_FIELDS, KIND_KEYS, type KindKey, REFERENCE_FIELDS } from "./entry-fields.js";
import { groupEntry, type Level, mistakesReachGuest, moduleEntry, readFields, type Written } from "./entry-parts.js";
import { readMembers } from "./member-reader.js";
import type { ProblemSink } from "./problem-sink.js";
import { readResource } from "./resource-reader.js";
import { mismatch } from "./shape.js";
import { entryHint } from "./value-hints.js";

/** Deepest nesting of inline groups; by-reference groups may be chained on. */
export const MAX_GROUP_DEPTH = 16;
/** Most policies and members of one configuration, including those of resources. */
export const MAX_POLICIES = 10_000;

/** Reads one entry of policies.yaml, or one member of a group; undefined after at least one error. */
export function readPolicy(written: Written): PolicyEntry | undefined {
  const { node, path, level, context } = written;
  const { sink } = context;
  if (node.kind !== "map")
    return mismatch(
      node,
      path,
      sink,
      `a map with ${kindsInWords(level)}`,
      indentHint(written) ?? entryHint(node, level),
    );
  if (++context.budget.policies > MAX_POLICIES) {
    sink.error(path, `more than ${MAX_POLICIES} policies and members in one configuration`, { code: "CONFIG_LIMIT" });
    return undefined;
  }
  const map = { ...written, node };
  const kind = kindOf(map);
  if (kind !== undefined) return readKind(kind, map);
  const mended =
    sink.salvages && !KIND_KEYS.some((key) => pairOf(node, key) !== undefined) ? withKindMended(map) : undefined;
  const meant = mended && KIND_KEYS.find((key) => pairOf(mended.node, key) !== undefined);
  return meant && mended && readKind(meant, mended);
}

function readKind(kind: KindKey, map: Written<MapNode>): PolicyEntry | undefined {
  switch (kind) {
    case "module":
      return readModule(map);
    case "resource":
      return readResource(map);
    case "cel":
      return readCel(map);
    case "expression":
      return readGroup(map);
  }
}

/** The kind that the keys decide. */
function kindOf({ node, path, level, context }: Written<MapNode>): KindKey | undefined {
  const { sink } = context;
  const found = [...KIND_KEYS, "url", "policies"].filter((key) => pairOf(node, key) !== undefined);
  const kinds = new Set(
    found.map((key) => (key === "url" ? "module" : key === "policies" ? "expression" : (key as KindKey))),
  );
  const [kind] = kinds;
  if (kind !== undefined && kinds.size === 1) {
    if (!found.includes("url") || !found.includes("module")) return kind;
    sink.keyError([...path, "url"], '"url" is another name for "module": write only one of them', {
      code: "CONFIG_DUPLICATE_KEY",
    });
    return undefined;
  }
  if (kind !== undefined) {
    sink.error(path, `has ${found.join(" and ")}, but a policy is exactly one of ${KIND_KEYS.join(", ")}`, {
      code: "CONFIG_KIND",
    });
    return undefined;
  }
  const possible = [...KIND_KEYS, "policies", ...(level.member ? ["policy"] : [])];
  const slip = node.pairs.map(({ key }) => didYouMean(key, possible)).find((text) => text !== "");
  const hint = indentHint({ node, path, level, context }) ?? kindHint(node);
  sink.error(path, `does not say what it is: expected ${kindsInWords(level)}${slip ?? ""}`, {
    code: "CONFIG_KIND",
    ...(hint !== undefined && { hint }),
  });
  return undefined;
}

/** Keys of policies that are not likely to be names of policies. */
const KEYS: ReadonlySet<string> = new Set([
  ...[...Object.values(ENTRY_FIELDS), REFERENCE_FIELDS, celSpec.fields].flatMap((fields) => Object.keys(fields)),
  "url",
]);

/** The hint for a name without a policy, with the policy's keys at its own indentation, and for such a key. */
function indentHint({
  node,
  path,
  level,
  context,
}: Pick<Written, "node" | "path" | "level" | "context">): string | undefined {
  const { node: around } = deepestNode(context.document.root, path.slice(0, -1));
  if (around.kind !== "map") return undefined;
  const at = around.pairs.findIndex(({ key }) => key === path.at(-1));
  const next = around.pairs[at + 1];
  if (isNothing(node) && next !== undefined && KEYS.has(next.key)) return `indent ${next.key} below ${path.at(-1)}`;
  const key = String(path.at(-1));
  if (!level.member && node.kind === "map" && node.pairs.length > 0 && node.pairs.every(({ value }) => hasKind(value)))
    return `these are policies: leave ${key}: out, and begin their names in the first column`;
  if (!KEYS.has(key)) return undefined;
  const name = around.pairs.slice(0, at).findLast((pair) => !KEYS.has(pair.key))?.key;
  if (level.member && Object.hasOwn(ENTRY_FIELDS.expression, key) && !isNothing(node) && node.kind === "scalar")
    return `${key} is a key of the group: indent it as policies`;
  return `${key} is a key of a ${level.member ? "member" : "policy"}: indent it below ${name ?? "its name"}`;
}

const hasKind = (node: SourceNode): boolean =>
  node.kind === "map" && KIND_KEYS.some((key) => pairOf(node, key) !== undefined);

/** The hint for a policy in another form, recognised by its own keys. */
function kindHint(node: MapNode): string | undefined {
  if (pairOf(node, "apiVersion") !== undefined)
    return "put this resource into a file of its own, and name that by `resource:`";
  if (pairOf(node, "policy") !== undefined) return "`policy:` is for members of a group: it names another entry";
  if (pairOf(node, "rego") !== undefined)
    return "compile Rego with `opa build -t wasm`, and name the module by `module:`";
  const keys = node.pairs.map(({ key }) => key).filter((key) => Object.hasOwn(celSpec.fields, key));
  if (keys.length > 0) return `write ${keys.join(" and ")} below \`cel:\``;
  const own = ["settings", ...OWN_KEYS].find((key) => pairOf(node, key) !== undefined);
  return own && `${own} is a key of a policy: write beside it what the policy is, such as \`module:\``;
}

/** The same entry with the misspelt key corrected, so that its contents are read too. */
function withKindMended({ node, ...written }: Written<MapNode>): Written<MapNode> | undefined {
  for (const { key } of node.pairs) {
    const meant = nearest(key, KIND_KEYS);
    if (meant === undefined) continue;
    const pairs = node.pairs.map((pair) => (pair.key === key ? { ...pair, key: meant } : pair));
    return { ...written, node: { ...node, pairs } };
  }
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
  // Other programs read a resource by Kubernetes' rules, too.
  if (settings !== undefined && context.chain.length === 0) {
    warnOfOldWords(settings.value, [...path, "settings"], context.sink);
    warnOfOwnKeys(settings.value, [...path, "settings"], context.sink);
  }
  const { url, namespacedName: _, ...parts } = fields;
  const module = parts.module ?? url;
  if (module === undefined) return undefined;
  const origin = new Origin(context.document, path);
  const isSuspect = mistakesReachGuest(written);
  return moduleEntry({ id, origin, ...parts, module, ...(isSuspect && { neverRun: true }) }, context);
}

/** Warns of words in settings that are texts for Kubewarden's policy server. */
function warnOfOldWords(node: SourceNode, path: Path, sink: ProblemSink): void {
  if (node.kind === "map") for (const { key, value } of node.pairs) warnOfOldWords(value, [...path, key], sink);
  else if (node.kind === "list") {
    for (const [index, item] of node.items.entries()) warnOfOldWords(item, [...path, index], sink);
  } else if (node.oldWord !== undefined) {
    const quoted = JSON.stringify(node.oldWord);
    sink.warning(
      path,
      `read as ${describeNode(node)}, as Kubernetes reads YAML; write ${quoted} in quotes if a text is meant`,
      { code: "YAML_OLD_WORD" },
    );
  }
}

/** Keys of an entry that are hardly settings of a module. */
const OWN_KEYS = Object.keys(ENTRY_FIELDS.module).filter((key) => /[a-z][A-Z]/.test(key));

/** Warns of keys of the entry among the settings, which the module would get. */
function warnOfOwnKeys(node: SourceNode, path: Path, sink: ProblemSink): void {
  for (const key of OWN_KEYS) {
    if (node.kind !== "map" || pairOf(node, key) === undefined) continue;
    const message = "has no meaning for the server among the settings: indent it as settings";
    sink.keyWarning([...path, key], message, { code: "CONFIG_MEANINGLESS_KEY" });
  }
}

function readCel(written: Written<MapNode>): CelEntry | undefined {
  const { id, path, context } = written;
  const fields = readFields("cel", written);
  if (fields?.cel === undefined) return undefined;
  const { cel, policyMode = "protect", ...others } = fields;
  const origin = new Origin(context.document, path);
  return Object.freeze({ kind: "cel", id, origin, cel, policyMode, allowedToMutate: false, ...others });
}

function readGroup(written: Written<MapNode>): GroupEntry | undefined {
  const { node, id, path, level, context } = written;
  const depth = level.member ? level.depth : 0;
  if (depth > MAX_GROUP_DEPTH) {
    context.sink.error(
      path,
      `groups nested deeper than ${MAX_GROUP_DEPTH} levels: name inner groups and refer to them`,
      { code: "CONFIG_LIMIT" },
    );
    return undefined;
  }
  const fields = readFields("expression", written);
  const policies = pairOf(node, "policies")?.value;
  if (policies === undefined) return undefined;
  const members = readMembers(policies, id, [...path, "policies"], depth + 1, context);
  if (fields === undefined || members === undefined) return undefined;
  // Absent only in a salvaged entry; without all names the expression cannot be checked.
  const { expression: source = "", message = "" } = fields;
  const expression = policies.kind === "list" && members.length < policies.items.length ? "" : source;
  return groupEntry({ id, origin: new Origin(context.document, path), members, ...fields, expression, message });
}
