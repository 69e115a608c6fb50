/** The keys below `cel`: the spec of a ValidatingAdmissionPolicy (spec validating-admission-policy.md). */
import { nearest } from "../data/suggest.js";
import { pairOf } from "./documents/source-node.js";
import { optional, record, required } from "./record-shape.js";
import { jsonObject, listOf, mapOf, oneOf, text } from "./shape.js";

/** Replacements for expressions that are missing or not texts: valid in their place, and without effect. */
const STANDS_IN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  validations: { expression: "true" },
  matchConditions: { name: "unnamed", expression: "true" },
  variables: { name: "unnamed", expression: "dyn(null)" },
  auditAnnotations: { key: "unnamed", valueExpression: "'none'" },
};
/** A possible value of `params`, where its kind is not known. */
const SOME_KIND = { apiVersion: "v1", kind: "ConfigMap" };
/** The key of rules that are incomplete, or in a list that could not be read: a policy with such mistakes is checked as one for everything. */
const NOT_SALVAGED = "matchConstraints";

/**
 * The spec with replacements for missing parts. Items keep their places in their lists.
 * @param mayHaveRules whether the mistakes may concern its rules
 * @param spec of a record that was salvaged: known keys with values of the right types
 */
function salvagedSpec(
  spec: Readonly<Record<string, unknown>>,
  mayHaveRules: boolean,
): Readonly<Record<string, unknown>> {
  const whole: Record<string, unknown> = {};
  if (mayHaveRules && spec.validations === undefined) whole.validations = [STANDS_IN.validations];
  for (const [key, value] of Object.entries(spec)) {
    const standIn = STANDS_IN[key];
    if (key === NOT_SALVAGED) continue;
    if (key === "paramKind") whole[key] = { ...SOME_KIND, ...(value as object) };
    else if (standIn !== undefined && Array.isArray(value))
      whole[key] = value.map((item, at) => filled(item, standIn, at));
    else whole[key] = value;
  }
  return Object.freeze(whole);
}

/** An item with replacements; replaced names differ, since names must be unique. */
function filled(item: object, standIn: Readonly<Record<string, string>>, at: number): object {
  const texts = Object.entries(standIn).map(([key, text]) => [key, text === "unnamed" ? `${text}${at}` : text]);
  return { ...Object.fromEntries(texts), ...item };
}

const expression = text("a CEL expression");
const words = listOf(text("a string", { mayBeEmpty: true }));

const labelSelector = record({
  matchLabels: optional(
    mapOf(text("a label value", { mayBeEmpty: true })),
    "Labels that must have exactly these values.",
  ),
  matchExpressions: optional(
    listOf(
      record({
        key: required(text("a label key"), "The label."),
        operator: required(oneOf("In", "NotIn", "Exists", "DoesNotExist"), "How the label is compared."),
        values: optional(words, "Values for In and NotIn."),
      }),
    ),
    "Requirements that must all hold.",
  ),
});

const resourceRules = listOf(
  record({
    apiGroups: optional(words, "API groups; `*` is all, an empty string the core group."),
    apiVersions: optional(words, "API versions; `*` is all."),
    resources: optional(
      words,
      "Plural resource names; `pods/*` are sub-resources, `*` all resources, `*/*` all of both.",
    ),
    operations: optional(listOf(oneOf("CREATE", "UPDATE", "DELETE", "CONNECT", "*")), "Operations; `*` is all."),
    scope: optional(oneOf("Cluster", "Namespaced", "*"), "Scope of the resource.", "`*`"),
    resourceNames: optional(words, "Names of objects; none is all."),
  }),
);

const named = (what: string) =>
  listOf(
    record({
      name: required(text("a name"), `Name of the ${what}.`),
      expression: required(expression, "CEL expression."),
    }),
  );

const matchConstraints = record({
  matchPolicy: optional(
    oneOf("Exact", "Equivalent"),
    "Whether other versions of a resource match too.",
    "`Equivalent`",
  ),
  namespaceSelector: optional(labelSelector, "Selects namespaces by label."),
  objectSelector: optional(labelSelector, "Selects objects by label."),
  resourceRules: optional(resourceRules, "What the policy applies to."),
  excludeResourceRules: optional(resourceRules, "What it doesn't apply to, although a rule matches."),
});

/** An inline CEL policy. */
export const celSpec = record({
  failurePolicy: optional(oneOf("Fail", "Ignore"), "What an evaluation error means.", "`Fail`"),
  paramKind: optional(
    record({
      apiVersion: required(text("an API version"), "API version of the parameter resources."),
      kind: required(text("a kind"), "Kind of the parameter resources."),
    }),
    "Kind of the policy's parameters.",
  ),
  matchConstraints: optional(matchConstraints, "Which requests the policy looks at.", "all requests"),
  matchConditions: optional(named("condition"), "CEL conditions that must all hold for the policy to apply."),
  variables: optional(named("variable"), "Values that later expressions use as `variables.<name>`."),
  validations: optional(
    listOf(
      record({
        expression: required(expression, "CEL expression that must be true."),
        message: optional(text("a message"), "What a client sees when it is false."),
        messageExpression: optional(expression, "CEL expression that makes the message; wins over `message`."),
        reason: optional(
          oneOf("Unauthorized", "Forbidden", "Invalid", "RequestEntityTooLarge"),
          "Reason in the status of a denial.",
          "`Invalid`",
        ),
      }),
    ),
    "Rules that must all hold.",
  ),
  auditAnnotations: optional(
    listOf(
      record({
        key: required(text("an annotation key"), "Last part of the annotation's key."),
        valueExpression: required(expression, "CEL expression that makes the value; null writes none."),
      }),
    ),
    "Annotations for the audit log.",
  ),
});

/** The keys of which one is required. */
const RULES = ["validations", "auditAnnotations"];

/** Reads `cel` by {@link celSpec} and passes on the JSON value itself, which the CEL kinds read. */
export const celPolicy = {
  ...celSpec,
  label: "spec of a ValidatingAdmissionPolicy",
  read(...args: Parameters<typeof celSpec.read>) {
    const [, , sink] = args;
    const before = sink.errorCount;
    const spec = celSpec.read(...args);
    if (spec === undefined) return undefined;
    const around = sink.outer.at(-1)?.node;
    // At the indentation of `cel`, where it is reported.
    const areOutside = RULES.some((key) => around !== undefined && pairOf(around, key) !== undefined);
    if (areOutside) return salvagedSpec(spec, true);
    if (sink.errorCount === before) return jsonObject.read(...args);
    const [node] = args;
    // A list that could not be read, or a key that is misspelt.
    const mayHaveRules = node.kind === "map" && node.pairs.some(({ key }) => nearest(key, RULES) !== undefined);
    return salvagedSpec(spec, mayHaveRules);
  },
};
