/** The common part of the readers of entries: their context, the checked keys, and entries with defaults. */

import { didYouMean } from "../data/suggest.js";
import { moduleKey } from "./address-hints.js";
import type { ConfigFiles } from "./config-files.js";
import type { Path } from "./documents/problem.js";
import type { SourceDocument } from "./documents/source-document.js";
import { type MapNode, pairOf, type SourceNode } from "./documents/source-node.js";
import type { ExecutionMode, GroupEntry, ModuleEntry, PolicyEntry, ResourceEntry } from "./entry.js";
import { ENTRY_FIELDS, KIND_KEYS, type KindKey, MEMBER_FIELDS } from "./entry-fields.js";
import { addressPath, parseModuleAddress } from "./module-address.js";
import type { ProblemSink } from "./problem-sink.js";
import { type Fields, type Hints, type RecordValue, record } from "./record-shape.js";
import type { Reference } from "./references.js";

/** The context that a reader passes on to nested readers. */
export interface ReadContext {
  readonly document: SourceDocument;
  readonly sink: ProblemSink;
  readonly files: ConfigFiles;
  /** The default of `hostCapabilities`. */
  readonly defaultHostCapabilities: readonly string[];
  /** Resource files being read, outermost first: one that names itself would never end. */
  readonly chain: readonly string[];
  /** Gets every reference to another entry. */
  readonly references: Reference[];
  /** Counts policies and members of the whole configuration. */
  readonly budget: { policies: number };
  /** Reads a nested policy, undefined after at least one error: groups contain policies, and resources may be groups. */
  readonly readPolicy: (written: Written) => PolicyEntry | undefined;
}

/** The level of a policy: a top-level entry, or a member `depth` groups deep. */
export type Level = { readonly member: false } | { readonly member: true; readonly depth: number };

/** A policy to be read, and its place. */
export interface Written<N extends SourceNode = SourceNode> {
  readonly node: N;
  readonly id: string;
  readonly path: Path;
  readonly level: Level;
  readonly context: ReadContext;
}

const HINTS: Hints = {
  mode: 'write "policyMode"',
  mutating: 'write "allowedToMutate"',
  timeoutSeconds: 'write "timeoutEvalSeconds"; the webhook has the other one',
  timeout: 'write "timeoutEvalSeconds"',
  digest: "write it behind the address: registry://example.com/policy@sha256:…",
  sha256: "write it behind the address: registry://example.com/policy@sha256:…",
};

const MEMBER_HINTS: Hints = {
  ...HINTS,
  mode: "a member has no mode of its own, its group has",
  mutating: "members of a group never mutate",
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

/** Hints for unknown keys that are members of a group, one level too far out or in. */
export function memberHints(node: MapNode, fields: Fields, advice: string): Hints {
  const isMember = (value: SourceNode): boolean =>
    value.kind === "map" && [...KIND_KEYS, "policy"].some((key) => pairOf(value, key) !== undefined);
  const found = node.pairs.filter(({ key, value }) => !Object.hasOwn(fields, key) && isMember(value));
  return Object.fromEntries(found.map(({ key }) => [key, `it looks like a member: ${advice}`]));
}

/** The checked keys of a policy of that kind. */
export function readFields<K extends KindKey>(
  kind: K,
  { node, path, level, context }: Written<MapNode>,
): Partial<RecordValue<(typeof ENTRY_FIELDS)[K]>> | undefined {
  const fields: Fields = level.member ? MEMBER_FIELDS[kind] : ENTRY_FIELDS[kind];
  const hints = kind === "expression" ? GROUP_HINTS : level.member ? MEMBER_HINTS : HINTS;
  const members = kind === "expression" ? memberHints(node, fields, "indent it below policies") : {};
  const shape = record(kind === "module" ? withAlias(fields, node) : fields, { ...hints, ...members });
  return shape.read(node, path, context.sink) as Partial<RecordValue<(typeof ENTRY_FIELDS)[K]>> | undefined;
}

/** Keys that do not concern the guest. Any other one may pass something to it, or withhold something from it. */
const KEPT_FROM_GUESTS = [
  "policyMode",
  "mode",
  "allowedToMutate",
  "mutating",
  "message",
  "namespacedName",
  "timeoutEvalSeconds",
  "timeout",
];

/** Whether a module entry has mistakes that concern its guest, so that it must not be run: an unknown key may be meant to restrict it. */
export function mistakesReachGuest({ path, context: { sink } }: Pick<Written, "path" | "context">): boolean {
  const errors = sink.problems.filter(({ severity }) => severity === "error");
  // Some were too many to be kept: they may be about anything.
  if (errors.length < sink.errorCount) return true;
  const own = errors.filter(
    (problem) => problem.path.length >= path.length && path.every((part, at) => problem.path[at] === part),
  );
  return own.some((problem) => {
    const key = String(problem.path[path.length] ?? "");
    return !KEPT_FROM_GUESTS.some((kept) => kept === key || didYouMean(key, [kept]) !== "");
  });
}

/** The entry with all guests, those of members included, marked as not to be run. */
export function neverRun(entry: PolicyEntry): PolicyEntry {
  if (entry.kind === "module") return Object.freeze({ ...entry, neverRun: true });
  if (entry.kind !== "group") return entry;
  const members = entry.members.map(({ name, policy }) =>
    Object.freeze({ name, policy: policy.kind === "reference" ? policy : neverRun(policy) }),
  );
  return Object.freeze({ ...entry, members: Object.freeze(members) });
}

/** The keys with `url` in place of `module` when only that is written. */
function withAlias({ module, ...others }: Fields, node: MapNode): Fields {
  return pairOf(node, "url") === undefined ? { module: module!, ...others } : { url: module!, ...others };
}

/** The parts of a module entry before defaults. */
export type ModuleParts = Pick<ModuleEntry, "id" | "origin"> &
  Partial<Omit<ModuleEntry, "kind" | "module" | "executionMode" | "neverRun">> & {
    readonly neverRun?: true;
    readonly module: string;
    readonly executionMode?: ExecutionMode | "kubewarden";
  };

/** A module entry with defaults filled in; undefined after an error about its address. */
export function moduleEntry(
  { module: text, executionMode, ...parts }: ModuleParts,
  context: ReadContext,
): ModuleEntry | undefined {
  const module = parseModuleAddress(text, context.document.file);
  if ("mistake" in module) {
    context.sink.error([...parts.origin.path, moduleKey(parts)], module.mistake, {
      code: "MODULE_ADDRESS",
      ...(/^(?:oci|docker):/.test(text) && {
        hint: "an artifact of a registry is written registry://…, or without a scheme",
      }),
    });
    return undefined;
  }
  // The modules of a manifest change together with it; modules themselves are not watched.
  if (module.kind === "file" && !module.location.endsWith(".wasm")) context.files.touched.add(addressPath(module));
  return Object.freeze({
    kind: "module",
    settings: Object.freeze({}),
    policyMode: "protect",
    allowedToMutate: false,
    contextAwareResources: Object.freeze([]),
    hostCapabilities: context.defaultHostCapabilities,
    native: true,
    warmStart: true,
    ...parts,
    module: Object.freeze(module),
    ...(executionMode !== undefined && {
      executionMode: executionMode === "kubewarden" ? "kubewarden-wapc" : executionMode,
    }),
  });
}

/** The keys of a group entry beside its members. */
export type GroupFields = Pick<GroupEntry, "expression" | "message"> &
  Partial<
    Pick<GroupEntry, "groupWarnings" | "policyMode" | "timeoutEvalSeconds" | "messageExpression" | "auditAnnotations">
  >;

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
    ...(parts.messageExpression !== undefined && { messageExpression: parts.messageExpression }),
    ...(parts.auditAnnotations !== undefined && { auditAnnotations: parts.auditAnnotations }),
    ...(parts.timeoutEvalSeconds !== undefined && { timeoutEvalSeconds: parts.timeoutEvalSeconds }),
  });
}

/** The keys of a resource entry beside the documents. */
export type ResourceFields = Partial<RecordValue<(typeof ENTRY_FIELDS)["resource"]>>;

/** A resource entry with defaults filled in. */
export function resourceEntry(
  parts: Pick<ResourceEntry, "id" | "origin" | "documents">,
  fields: ResourceFields,
): ResourceEntry {
  const { policyMode = "protect", allowedToMutate = false, ...others } = fields;
  const { message, timeoutEvalSeconds, validationActions, certificateRequests } = others;
  return Object.freeze({
    kind: "resource",
    ...parts,
    policyMode,
    allowedToMutate,
    ...(message !== undefined && { message }),
    ...(timeoutEvalSeconds !== undefined && { timeoutEvalSeconds }),
    ...(validationActions !== undefined && { validationActions }),
    ...(certificateRequests !== undefined && { certificateRequests }),
  });
}
