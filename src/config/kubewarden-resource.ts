/** Kubewarden's custom resources (spec kubewarden.md 11) as entries: AdmissionPolicy, AdmissionPolicyGroup and their cluster-wide forms. */
import { resolve } from "node:path";
import { didYouMean } from "../data/suggest.js";
import { identityOf } from "./documents/documents.js";
import { Origin } from "./documents/origin.js";
import type { SourceDocument } from "./documents/source-document.js";
import { type MapNode, pairOf } from "./documents/source-node.js";
import type { PolicyEntry } from "./entry.js";
import { ENTRY_FIELDS } from "./entry-fields.js";
import { groupEntry, type Level, moduleEntry, type ReadContext, type ResourceFields } from "./entry-parts.js";
import { readMembers } from "./member-reader.js";
import { ProblemSink } from "./problem-sink.js";
import { type Fields, optional, record, required } from "./record-shape.js";
import { anyValue, flag, jsonObject, type Shape, text } from "./shape.js";

const GROUP = "policies.kubewarden.io";
const KINDS = ["AdmissionPolicy", "ClusterAdmissionPolicy", "AdmissionPolicyGroup", "ClusterAdmissionPolicyGroup"];

const { module } = ENTRY_FIELDS;
/** Keys for the API server, the webhook, the audit scanner and the controller: a policy server never sees them. */
const UNSEEN = new Set([
  "policyServer",
  "rules",
  "timeoutSeconds",
  "failurePolicy",
  "matchPolicy",
  "sideEffects",
  "objectSelector",
  "namespaceSelector",
  "matchConditions",
  "backgroundAudit",
  "allowInsideAdmissionControllerNamespace",
  "priorityClassName",
]);

const policySpec = record({
  module: module.module,
  settings: module.settings,
  mode: module.policyMode,
  mutating: optional(flag, "Whether the policy may change the object."),
  message: module.message,
  timeoutEvalSeconds: module.timeoutEvalSeconds,
  contextAwareResources: module.contextAwareResources,
});
const groupSpec = record({
  expression: ENTRY_FIELDS.expression.expression,
  policies: ENTRY_FIELDS.expression.policies,
  message: ENTRY_FIELDS.expression.message,
  mode: module.policyMode,
});
const envelope = record({
  apiVersion: required(text("an API version"), "policies.kubewarden.io/v1"),
  kind: required(text("a kind"), "The kind."),
  metadata: optional(jsonObject, "Name and labels."),
  spec: required(jsonObject, "What the policy does."),
  status: optional(anyValue, "Written by the controller."),
});

/** Whether a document is of Kubewarden's API group, whatever its kind. */
export const isKubewardenResource = (document: SourceDocument): boolean => identityOf(document).group === GROUP;

/** Whether a document of Kubewarden's API group is a group of policies. */
export const isKubewardenGroup = (document: SourceDocument): boolean => identityOf(document).kind.endsWith("Group");

/**
 * The entry that a Kubewarden resource describes; undefined after at least one error.
 * Members may be of every kind that members of a group in policies.yaml may be. As in the controller, an absent `hostCapabilities` allows all.
 * @param id the id under which it is served
 * @param overrides keys of the entry that names the resource; they take precedence
 */
export function entryFromKubewardenResource(
  document: SourceDocument,
  id: string,
  level: Level,
  overrides: ResourceFields,
  outer: ReadContext,
): PolicyEntry | undefined {
  const sink = new ProblemSink(document, outer.sink.policy, outer.sink.salvages);
  const context: ReadContext = {
    ...outer,
    document,
    sink,
    defaultHostCapabilities: overrides.hostCapabilities ?? Object.freeze(["*"]),
    chain: [...outer.chain, resolve(document.file)],
  };
  const entry = read(document, id, level, overrides, context);
  for (const problem of sink.problems) {
    if (problem.severity === "error") outer.sink.addError(problem);
    else outer.sink.add(problem);
  }
  return entry;
}

function read(
  document: SourceDocument,
  id: string,
  level: Level,
  overrides: ResourceFields,
  context: ReadContext,
): PolicyEntry | undefined {
  const { root } = document;
  const { sink } = context;
  const head = envelope.read(root, [], sink);
  if (head?.apiVersion === undefined || head.kind === undefined || root.kind !== "map") return undefined;
  if (head.apiVersion !== `${GROUP}/v1`) {
    sink.error(["apiVersion"], `invalid apiVersion ${JSON.stringify(head.apiVersion)}: expected ${GROUP}/v1`, {
      code: "POLICY_KIND",
    });
    return undefined;
  }
  if (!KINDS.includes(head.kind)) {
    const hint = didYouMean(head.kind, KINDS);
    sink.error(["kind"], `unknown kind ${JSON.stringify(head.kind)}, not a Kubewarden policy${hint}`, {
      code: "POLICY_KIND",
    });
    return undefined;
  }
  const spec = pairOf(root, "spec")?.value;
  // The envelope has an error for it already.
  if (spec?.kind !== "map") return undefined;
  const origin = new Origin(document, ["spec"]);
  const { timeoutEvalSeconds } = overrides;
  const common = timeoutEvalSeconds === undefined ? {} : { timeoutEvalSeconds };
  if (isKubewardenGroup(document)) {
    const fields = readKnown(groupSpec, spec, context);
    const depth = level.member ? level.depth : 0;
    const policies = pairOf(spec, "policies");
    const members = policies && readMembers(policies.value, id, ["spec", "policies"], depth + 1, context);
    if (fields === undefined || members === undefined) return undefined;
    const { groupWarnings } = overrides;
    return groupEntry({
      id,
      origin,
      members,
      expression: fields.expression ?? "",
      message: overrides.message ?? fields.message ?? "",
      policyMode: overrides.policyMode ?? fields.mode ?? "protect",
      ...common,
      ...(groupWarnings !== undefined && { groupWarnings }),
    });
  }
  const fields = readKnown(policySpec, spec, context);
  if (fields?.module === undefined) return undefined;
  const neverRun = sink.errorCount > 0;
  const { mode, mutating, message: ownMessage, ...others } = fields;
  const message = overrides.message ?? ownMessage;
  const policy = {
    id,
    origin,
    ...others,
    ...common,
    policyMode: overrides.policyMode ?? mode ?? "protect",
    allowedToMutate: overrides.allowedToMutate ?? mutating ?? false,
    ...(message !== undefined && { message }),
    ...(neverRun && { neverRun }),
  } as const;
  if (!level.member) return moduleEntry(policy, context);
  const { message: _, ...plain } = policy;
  return moduleEntry({ ...plain, policyMode: "protect", allowedToMutate: false }, context);
}

/** Reads a spec; keys that later versions of the resource may have added are only warned of. */
function readKnown<T>(
  shape: Shape<T> & { readonly fields: Fields },
  spec: MapNode,
  { sink }: ReadContext,
): T | undefined {
  const known = spec.pairs.filter(({ key }) => {
    if (Object.hasOwn(shape.fields, key)) return true;
    if (!UNSEEN.has(key)) {
      sink.keyWarning(["spec", key], `unknown key, ignored${didYouMean(key, Object.keys(shape.fields))}`, {
        code: "CONFIG_UNKNOWN_KEY",
      });
    }
    return false;
  });
  return shape.read({ ...spec, pairs: known }, ["spec"], sink);
}
