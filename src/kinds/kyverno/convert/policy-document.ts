/** A draft as documents: names, annotations, actions. */
import { type FieldPath, formatPath } from "../../../kubernetes/field-error.js";
import { isObject, type JsonObject, member, nameOf, namespaceOf, text } from "../../../kubernetes/object.js";
import { GROUP, NAMESPACED_POLICY_KIND, POLICY_KIND } from "../resource.js";
import { actionsOf } from "./actions.js";
import type { ConvertedDocument, Reason } from "./conversion.js";
import { AUTOGEN_ANNOTATION, judgesControllers } from "./match/autogen.js";
import type { Matched } from "./match/match.js";
import type { OldRule } from "./old-policy.js";
import type { Placed, RuleDraft } from "./rule-draft.js";

/** The annotations by which a converted policy tells where it comes from: `ClusterPolicy/NAME` or `Policy/NAMESPACE/NAME`, and the rule. */
export const CONVERTED_FROM = "policy-server/converted-from";
export const CONVERTED_RULE = "policy-server/converted-rule";
/** The annotation of a policy whose expressions are those of the rule's `validate.cel`. */
export const CONVERTED_CEL = "policy-server/converted-cel";
/** The annotation of a policy whose rule is about Pods, and judges their controllers, too: its results there are those of rule `autogen-NAME`. */
export const CONVERTED_AUTOGEN = "policy-server/converted-autogen";

/** The controllers that the new kind's autogen knows. */
const AUTOGEN: ReadonlyMap<string, string> = new Map(
  ["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet", "Job", "CronJob"].map((kind) => [
    kind,
    `${kind.toLowerCase()}s`,
  ]),
);

/** Metadata of a document made of an old policy. */
export function metadataOf(
  { policy, rule, name: ruleName }: Pick<OldRule, "name" | "policy"> & Partial<Pick<OldRule, "rule">>,
  name: string,
): JsonObject {
  const isCel = member(member(rule, "validate"), "cel") !== undefined;
  const isAutogen = rule !== undefined && judgesControllers({ policy, rule, name: ruleName });
  const metadata = member(policy, "metadata");
  const own = isObject(member(metadata, "annotations")) ? (member(metadata, "annotations") as JsonObject) : {};
  const annotations = Object.entries(own).filter(
    ([key]) => key !== AUTOGEN_ANNOTATION && !key.startsWith("kubectl.kubernetes.io/"),
  );
  const labels = member(metadata, "labels");
  const namespace = policy.kind === "Policy" ? namespaceOf(policy) : "";
  const from = [policy.kind, ...(namespace === "" ? [] : [namespace]), nameOf(policy)].join("/");
  return {
    name,
    ...(namespace !== "" && { namespace }),
    ...(isObject(labels) && Object.keys(labels).length > 0 && { labels }),
    annotations: {
      ...Object.fromEntries(annotations),
      [CONVERTED_FROM]: from,
      [CONVERTED_RULE]: ruleName,
      ...(isCel && { [CONVERTED_CEL]: "true" }),
      ...(isAutogen && { [CONVERTED_AUTOGEN]: "true" }),
    },
  };
}

/** Members of `spec` that the policy, not the rule, says. */
export function settingsOf(policy: JsonObject): JsonObject {
  const spec = member(policy, "spec");
  const webhook = member(spec, "webhookConfiguration");
  const failurePolicy = text(webhook, "failurePolicy") || text(spec, "failurePolicy");
  const timeoutSeconds = member(webhook, "timeoutSeconds") ?? member(spec, "webhookTimeoutSeconds");
  const [admission, background] = [member(spec, "admission") === false, member(spec, "background") === false];
  return {
    ...(failurePolicy === "Ignore" && { failurePolicy }),
    ...(typeof timeoutSeconds === "number" && { webhookConfiguration: { timeoutSeconds } }),
    ...((admission || background) && {
      evaluation: {
        ...(admission && { admission: { enabled: false } }),
        ...(background && { background: { enabled: false } }),
      },
    }),
  };
}

/** The conditions under which Kyverno's webhook is asked. */
function webhookConditions(policy: JsonObject): readonly Placed<object>[] {
  const found = member(member(member(policy, "spec"), "webhookConfiguration"), "matchConditions");
  const path = ["spec", "webhookConfiguration", "matchConditions"];
  return Array.isArray(found) ? found.filter(isObject).map((each, index) => ({ ...each, from: [...path, index] })) : [];
}

/** The documents of a rule that validates: several where its action differs by namespace, or where it judges what the new kind's autogen does not know. */
export function documentsOf(
  old: OldRule,
  name: string,
  matched: Matched,
  draft: RuleDraft,
): { readonly documents: readonly ConvertedDocument[]; readonly notes: readonly Reason[] } {
  const { policy, rule } = old;
  reportProperties(old, draft);
  const isCel = member(member(rule, "validate"), "cel") !== undefined;
  const shapes = isCel && matched.controllers.length > 0 ? celShapes(matched, draft) : [{ suffix: "", matched, draft }];
  const actions = actionsOf(old, matched);
  const documents = shapes.flatMap((shape) =>
    actions.map((action): ConvertedDocument => {
      const places = new Map<string, FieldPath>();
      const listed = (key: string, list: readonly Placed<object>[]): JsonObject =>
        list.length === 0
          ? {}
          : {
              [key]: list.map(({ from, ...rest }, index) => {
                places.set(
                  formatPath(["spec", key, index]),
                  from[0] === "spec" ? from : ["spec", "rules", old.index, ...from],
                );
                return rest;
              }),
            };
      const value = {
        apiVersion: `${GROUP}/v1`,
        kind: policy.kind === "Policy" ? NAMESPACED_POLICY_KIND : POLICY_KIND,
        metadata: metadataOf(old, `${name}${shape.suffix}${action.suffix}`),
        spec: {
          ...settingsOf(policy),
          validationActions: action.actions,
          ...shape.autogen,
          matchConstraints: shape.matched.matchConstraints,
          ...listed("matchConditions", [...webhookConditions(policy), ...shape.draft.conditions, ...action.conditions]),
          ...listed("variables", usedVariables(shape.draft)),
          ...listed("validations", shape.draft.validations),
          ...listed("auditAnnotations", shape.draft.auditAnnotations),
        },
      };
      places.set("spec.matchConstraints", ["spec", "rules", old.index, "match"]);
      return { value, places };
    }),
  );
  const isEnforced = actions.some((each) => each.actions.includes("Deny"));
  if (isEnforced && allowsExisting(old, matched))
    draft.note(
      ["validate", "allowExistingViolations"],
      "an update of an object that broke the rule before is denied, too: Kyverno lets it pass",
    );
  return { documents, notes: draft.notes };
}

/** Whether Kyverno would let an update pass that only keeps what was wrong before. */
function allowsExisting({ rule }: OldRule, { matchConstraints }: Matched): boolean {
  const validate = member(rule, "validate");
  const updates = matchConstraints.resourceRules?.some(({ operations }) => operations?.includes("UPDATE"));
  return (
    updates === true && member(validate, "allowExistingViolations") !== false && member(validate, "cel") === undefined
  );
}

/** Fixed properties of reports become annotations of the result, which are what the new kind reports. */
function reportProperties({ rule }: OldRule, draft: RuleDraft): void {
  const properties = member(rule, "reportProperties");
  if (!isObject(properties)) return;
  for (const [key, value] of Object.entries(properties)) {
    const from = ["reportProperties", key];
    if (typeof value !== "string") continue;
    if (value.includes("{{")) draft.note(from, "left out of the results: only fixed properties are kept");
    else draft.auditAnnotations.push({ key, valueExpression: JSON.stringify(value), from });
  }
}

/** The variables that something names, so that none is written in vain. */
export function usedVariables(draft: {
  readonly variables: RuleDraft["variables"];
  readonly validations: readonly object[];
  readonly auditAnnotations: readonly object[];
}): readonly Placed<{ readonly name?: string; readonly expression?: string }>[] {
  const { variables, validations, auditAnnotations } = draft;
  const texts = [...validations, ...auditAnnotations].flatMap((each) =>
    Object.values(each).filter((value) => typeof value === "string"),
  );
  const used = new Set<object>();
  for (let pending = texts; pending.length > 0; ) {
    const names = new Set(
      pending.flatMap((each) => [...each.matchAll(/\bvariables\s*\.\s*(\w+)/g)].map(([, found]) => found)),
    );
    const found = variables.filter((each) => !used.has(each) && names.has(each.name));
    for (const each of found) used.add(each);
    pending = found.map(({ expression = "" }) => expression);
  }
  // Variables that a person wrote stay.
  return variables.filter((each) => used.has(each) || each.from[1] === "cel");
}

/** One of several documents of the same rule. */
interface Shape {
  readonly suffix: string;
  readonly matched: Pick<Matched, "matchConstraints">;
  readonly draft: RuleDraft;
  readonly autogen?: JsonObject;
}

/**
 * The documents of a rule in CEL about Pods: one for the new kind's autogen, whose expressions stay; and one for what that does not know, ReplicationControllers
 * and ephemeral containers, with the Pod in a variable.
 */
function celShapes({ matchConstraints, controllers }: Matched, draft: RuleDraft): readonly Shape[] {
  const rules = matchConstraints.resourceRules ?? [];
  const known = controllers.flatMap((kind) => AUTOGEN.get(kind) ?? []);
  const pods = {
    suffix: "",
    matched: {
      matchConstraints: {
        ...matchConstraints,
        resourceRules: rules.map((each) => ({ ...each, apiVersions: ["v1"], resources: ["pods"] })),
      },
    },
    draft,
  };
  const isAll = known.length === AUTOGEN.size;
  const autogen = isAll ? {} : { autogen: { podControllers: { controllers: known } } };
  const resources = [
    "pods/ephemeralcontainers",
    ...(controllers.includes("ReplicationController") ? ["replicationcontrollers"] : []),
  ];
  const others = {
    ...matchConstraints,
    resourceRules: rules.map((each) => ({ ...each, apiVersions: ["v1"], resources })),
  };
  return [
    { ...pods, autogen },
    {
      suffix: "-beside-autogen",
      matched: { matchConstraints: others },
      draft: resources.length > 1 ? draft.withPods() : draft,
    },
  ];
}
