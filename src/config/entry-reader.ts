/** Reads one entry of policies.yaml, or one member of a group. */

import { didYouMean } from "../data/suggest.js";
import type { ConfigFiles } from "./config-files.js";
import type {
  CelEntry,
  ContextAwareResource,
  ExecutionMode,
  GroupEntry,
  ModuleEntry,
  PolicyEntry,
  ResourceEntry,
} from "./entry.js";
import { ENTRY_FIELDS, KIND_KEYS, type KindKey, MEMBER_FIELDS } from "./entry-fields.js";
import { MAX_GROUP_DEPTH, MAX_POLICIES } from "./limits.js";
import { readMembers } from "./member-reader.js";
import { parseModuleAddress } from "./module-address.js";
import { Origin } from "./origin.js";
import type { Path } from "./problem.js";
import type { ProblemSink } from "./problem-sink.js";
import { type Fields, type Hints, type RecordValue, record } from "./record-shape.js";
import type { Reference } from "./references.js";
import { readResource } from "./resource-reader.js";
import { mismatch } from "./shape.js";
import type { SourceDocument } from "./source-document.js";
import { type MapNode, pairOf, type SourceNode } from "./source-node.js";

/** Circumstances that a reader passes on to what it reads below. */
export interface ReadContext {
  readonly document: SourceDocument;
  readonly sink: ProblemSink;
  readonly files: ConfigFiles;
  /** What an absent `hostCapabilities` stands for. */
  readonly defaultHostCapabilities: readonly string[];
  /** Resource files being read, outermost first: one that names itself never ends. */
  readonly chain: readonly string[];
  /** Gets every reference to another entry. */
  readonly references: Reference[];
  /** Counts policies and members of the whole configuration. */
  readonly budget: { policies: number };
}

/** Where a policy stands: a top-level entry, or a member `depth` groups deep. */
export type Level = { readonly member: false } | { readonly member: true; readonly depth: number };

const HINTS: Hints = {
  mode: 'write "policyMode"',
  mutating: 'write "allowedToMutate"',
  timeoutSeconds: 'write "timeoutEvalSeconds"; the webhook has the other one',
  timeout: 'write "timeoutEvalSeconds"',
  "<<": "merge keys are not applied here; an alias for the whole value is",
};

const MEMBER_HINTS: Hints = {
  ...HINTS,
  policyMode: "a member has no mode of its own, its group has",
  allowedToMutate: "members of a group never mutate",
  message: "a member's own words are shown; the group has the message",
};

const GROUP_HINTS: Hints = {
  ...HINTS,
  settings: "a group has no settings, its members have",
  allowedToMutate: "members of a group never mutate",
  contextAwareResources: "it belongs to the members of a group",
  hostCapabilities: "it belongs to the members of a group",
};

/** The policy, or undefined after at least one error. */
export function readPolicy(
  node: SourceNode,
  id: string,
  path: Path,
  level: Level,
  context: ReadContext,
): PolicyEntry | undefined {
  const { sink } = context;
  if (node.kind !== "map") return mismatch(node, path, sink, `a map with ${kindsInWords(level)}`);
  if (++context.budget.policies > MAX_POLICIES) {
    sink.error(path, `more than ${MAX_POLICIES} policies and members in one configuration`);
    return undefined;
  }
  switch (kindOf(node, path, level, sink)) {
    case "module":
      return readModule(node, id, path, level, context);
    case "resource":
      return readResource(node, id, path, level, context);
    case "cel":
      return readCel(node, id, path, level, context);
    case "expression":
      return readGroup(node, id, path, level, context);
    case undefined:
      return undefined;
  }
}

/** The one kind that the keys tell. */
function kindOf(node: MapNode, path: Path, level: Level, sink: ProblemSink): KindKey | undefined {
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
  sink.error(path, `says not what it is: expected ${kindsInWords(level)}${slip ?? ""}`);
  return undefined;
}

function kindsInWords(level: Level): string {
  return `exactly one of ${level.member ? "policy, " : ""}${KIND_KEYS.join(", ")}`;
}

/** The checked keys of a policy of that kind. */
export function readFields<K extends KindKey>(
  kind: K,
  node: MapNode,
  path: Path,
  level: Level,
  sink: ProblemSink,
): Partial<RecordValue<(typeof ENTRY_FIELDS)[K]>> | undefined {
  const fields: Fields = level.member ? MEMBER_FIELDS[kind] : ENTRY_FIELDS[kind];
  const hints = kind === "expression" ? GROUP_HINTS : level.member ? MEMBER_HINTS : HINTS;
  const shape = record(kind === "module" ? withAlias(fields, node) : fields, hints);
  return shape.read(node, path, sink) as Partial<RecordValue<(typeof ENTRY_FIELDS)[K]>> | undefined;
}

/** `url` in the place of `module` when only that is written. */
function withAlias({ module, ...others }: Fields, node: MapNode): Fields {
  return pairOf(node, "url") === undefined ? { module: module!, ...others } : { url: module!, ...others };
}

function readModule(
  node: MapNode,
  id: string,
  path: Path,
  level: Level,
  context: ReadContext,
): ModuleEntry | undefined {
  const fields: (Partial<RecordValue<(typeof ENTRY_FIELDS)["module"]>> & { url?: string }) | undefined = readFields(
    "module",
    node,
    path,
    level,
    context.sink,
  );
  if (fields === undefined) return undefined;
  const origin = new Origin(context.document, path);
  return moduleEntry({ id, origin, ...fields, module: fields.module ?? fields.url! }, context);
}

/** The parts of a module entry before defaults. */
export interface ModuleParts {
  readonly id: string;
  readonly origin: Origin;
  readonly module: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly policyMode?: "protect" | "monitor";
  readonly allowedToMutate?: boolean;
  readonly message?: string;
  readonly timeoutEvalSeconds?: number;
  readonly contextAwareResources?: readonly ContextAwareResource[];
  readonly hostCapabilities?: readonly string[];
  readonly executionMode?: ExecutionMode | "kubewarden";
  readonly native?: boolean;
  readonly memoryLimitMiB?: number;
}

/** A module entry with defaults filled in; undefined after an error about its address. */
export function moduleEntry(parts: ModuleParts, context: ReadContext): ModuleEntry | undefined {
  const module = parseModuleAddress(parts.module, context.document.file);
  if ("mistake" in module) {
    const { path } = parts.origin;
    const written = context.document.hasKey([...path, "module"]) ? "module" : "url";
    context.sink.error([...path, written], module.mistake);
    return undefined;
  }
  return Object.freeze({
    kind: "module",
    id: parts.id,
    origin: parts.origin,
    module: Object.freeze(module),
    settings: parts.settings ?? Object.freeze({}),
    policyMode: parts.policyMode ?? "protect",
    allowedToMutate: parts.allowedToMutate ?? false,
    contextAwareResources: parts.contextAwareResources ?? Object.freeze([]),
    hostCapabilities: parts.hostCapabilities ?? context.defaultHostCapabilities,
    native: parts.native ?? true,
    ...(parts.message !== undefined && { message: parts.message }),
    ...(parts.timeoutEvalSeconds !== undefined && { timeoutEvalSeconds: parts.timeoutEvalSeconds }),
    ...(parts.memoryLimitMiB !== undefined && { memoryLimitMiB: parts.memoryLimitMiB }),
    ...(parts.executionMode !== undefined && {
      executionMode: parts.executionMode === "kubewarden" ? "kubewarden-wapc" : parts.executionMode,
    }),
  });
}

function readCel(node: MapNode, id: string, path: Path, level: Level, context: ReadContext): CelEntry | undefined {
  const fields = readFields("cel", node, path, level, context.sink);
  if (fields === undefined) return undefined;
  const { cel, policyMode = "protect", ...others } = fields;
  const origin = new Origin(context.document, path);
  return Object.freeze({ kind: "cel", id, origin, cel: cel!, policyMode, allowedToMutate: false, ...others });
}

function readGroup(node: MapNode, id: string, path: Path, level: Level, context: ReadContext): GroupEntry | undefined {
  const depth = level.member ? level.depth : 0;
  if (depth > MAX_GROUP_DEPTH) {
    context.sink.error(
      path,
      `groups nested deeper than ${MAX_GROUP_DEPTH} levels: name inner groups and refer to them`,
    );
    return undefined;
  }
  const fields = readFields("expression", node, path, level, context.sink);
  const policies = pairOf(node, "policies");
  const members = policies && readMembers(policies.value, id, [...path, "policies"], depth + 1, context);
  if (fields === undefined || members === undefined) return undefined;
  return groupEntry({ id, origin: new Origin(context.document, path), members, ...(fields as GroupFields) });
}

type GroupFields = Pick<GroupEntry, "expression" | "message"> &
  Partial<Pick<GroupEntry, "groupWarnings" | "policyMode" | "timeoutEvalSeconds">>;

/** A group entry with defaults filled in. */
export function groupEntry(parts: GroupFields & Pick<GroupEntry, "id" | "origin" | "members">): GroupEntry {
  return Object.freeze({
    kind: "group",
    id: parts.id,
    origin: parts.origin,
    expression: parts.expression,
    message: parts.message,
    members: parts.members,
    groupWarnings: parts.groupWarnings ?? "rejected",
    policyMode: parts.policyMode ?? "protect",
    allowedToMutate: false,
    ...(parts.timeoutEvalSeconds !== undefined && { timeoutEvalSeconds: parts.timeoutEvalSeconds }),
  });
}

/** Everything a resource entry says beside the documents. */
export type ResourceFields = Partial<RecordValue<(typeof ENTRY_FIELDS)["resource"]>>;

/** A resource entry with defaults filled in. */
export function resourceEntry(
  parts: Pick<ResourceEntry, "id" | "origin" | "documents">,
  { policyMode = "protect", allowedToMutate = false, message, timeoutEvalSeconds, validationActions }: ResourceFields,
): ResourceEntry {
  return Object.freeze({
    kind: "resource",
    ...parts,
    policyMode,
    allowedToMutate,
    ...(message !== undefined && { message }),
    ...(timeoutEvalSeconds !== undefined && { timeoutEvalSeconds }),
    ...(validationActions !== undefined && { validationActions }),
  });
}
