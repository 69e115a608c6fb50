/** Mistakes for which Kyverno 1.19.1 refuses or drops a policy when it is stored: such a policy has judged nothing. */
import { sameValue } from "../../../data/same-value.js";
import { didYouMean } from "../../../data/suggest.js";
import { builtinScope } from "../../../kubernetes/builtin-kinds.js";
import { complete } from "../../../kubernetes/custom-resource/complete.js";
import type { ObjectSchema } from "../../../kubernetes/custom-resource/schema.js";
import { siblings, unknownMembers } from "../../../kubernetes/custom-resource/unknown-members.js";
import { validate as validateBySchema } from "../../../kubernetes/custom-resource/validate.js";
import type { FieldPath } from "../../../kubernetes/field-error.js";
import { labelValueErrors, qualifiedNameErrors } from "../../../kubernetes/name-formats.js";
import { isObject, type JsonObject, member, nameOf, text } from "../../../kubernetes/object.js";
import type { Reason } from "./conversion.js";
import { AUTOGEN_ANNOTATION, type Block, blocksOf } from "./match/autogen.js";
import { parseKind, plainKind } from "./match/kinds.js";
import { hasWildcard, matchesWildcard } from "./match/wildcard.js";
import { OLD_POLICY_SCHEMA, OPERATORS } from "./old-schema.js";

const CHECKS = ["pattern", "anyPattern", "deny", "foreach", "podSecurity", "cel", "manifests", "assert"];
const ACTIONS = ["mutate", "validate", "generate", "verifyImages"];
const NO_BACKGROUND = "background scans have no user: Kyverno refuses the policy unless it has background: false";

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const isSet = (value: unknown): boolean => value !== undefined && value !== null;

/** The reasons, with their places in the policy; none where Kyverno takes it. */
export function loadErrors(policy: JsonObject): readonly Reason[] {
  const version = text(policy, "apiVersion");
  if (!/\/(?:v1|v2beta1)$/.test(version)) return [{ path: ["apiVersion"], message: "expected kyverno.io/v1" }];
  const bySchema = schemaErrors(policy, OLD_POLICY_SCHEMA);
  if (bySchema.length > 0) return bySchema;
  const errors: Reason[] = [];
  const refuse = (path: FieldPath, message: string): void => {
    errors.push({ path, message });
  };
  const spec = member(policy, "spec");
  const rules = listOf(member(spec, "rules")).filter(isObject);
  if (rules.length === 0) refuse(["spec", "rules"], "a policy needs rules: this one judges nothing");
  if (Buffer.byteLength(nameOf(policy)) > 63) refuse(["metadata", "name"], "the name of a policy has at most 63 bytes");
  if (text(member(member(policy, "metadata"), "annotations"), AUTOGEN_ANNOTATION) === "all")
    refuse(["metadata", "annotations", AUTOGEN_ANNOTATION], "expected kinds of controllers, or none");
  const webhook = member(spec, "webhookConfiguration");
  for (const [key, other] of [
    ["webhookTimeoutSeconds", "timeoutSeconds"],
    ["failurePolicy", "failurePolicy"],
  ] as const)
    if (isSet(member(spec, key)) && isSet(member(webhook, other)))
      refuse(["spec", key], `expected either this or spec.webhookConfiguration.${other}`);
  const seconds = member(webhook, "timeoutSeconds") ?? member(spec, "webhookTimeoutSeconds");
  if (typeof seconds === "number" && (seconds < 1 || seconds > 30))
    refuse(["spec"], "the time limit of a webhook is 1 to 30 seconds");
  const isBackground = member(spec, "background") !== false;
  if (member(spec, "admission") === false && !isBackground)
    refuse(["spec", "admission"], "without admission and background a policy judges nothing");
  if (isSet(member(spec, "generateExistingOnPolicyUpdate")))
    refuse(["spec", "generateExistingOnPolicyUpdate"], "Kyverno refuses this member");
  const isPolicy = policy.kind === "Policy";
  if (isPolicy && listOf(member(spec, "validationFailureActionOverrides")).length > 0)
    refuse(["spec", "validationFailureActionOverrides"], "a Policy has one namespace only");
  overrideErrors(
    member(spec, "validationFailureActionOverrides"),
    ["spec", "validationFailureActionOverrides"],
    refuse,
  );
  const seen = new Set<string>();
  for (const [index, rule] of rules.entries()) {
    const path: FieldPath = ["spec", "rules", index];
    const name = text(rule, "name");
    if (seen.has(name)) refuse([...path, "name"], "another rule has this name");
    seen.add(name);
    ruleErrors(rule, path, { isBackground, isPolicy }, refuse);
  }
  if (member(spec, "applyRules") === "One" && !areDisjoint(rules))
    refuse(
      ["spec", "applyRules"],
      "with One a rule judges only what no earlier rule applied to, which policies of their own can't know: write rules whose matches exclude each other, and applyRules: All",
    );
  return errors;
}

/** The mistakes of the schema: members that it does not know, and values of wrong types. */
export function schemaErrors(document: JsonObject, schema: ObjectSchema): readonly Reason[] {
  const { metadata: _, ...rest } = document;
  const unknown = unknownMembers(rest, schema, []).map((path) => ({
    path,
    message: `unknown member${didYouMean(String(path.at(-1)), siblings(path, schema))}`,
  }));
  const wrong = validateBySchema(complete(rest, schema), schema, []).map(({ path, text: message }) => ({
    path,
    message: `Kyverno drops it: ${inShort(message)}`,
  }));
  return [...unknown, ...wrong];
}

const inShort = (message: string): string =>
  message === "Required value"
    ? "it is missing"
    : message.replace(/^.* must be of type (\w+): "(\w+)"$/s, "expected the type $1, found $2");

/** Whether rules are about kinds of which none has two rules. */
function areDisjoint(rules: readonly JsonObject[]): boolean {
  const kinds = rules.map(
    (rule) => new Set(blocksOf(rule, "match").blocks.flatMap((block) => block.kinds.map(plainKind))),
  );
  const all = kinds.flatMap((set) => [...set]);
  return (
    all.length === new Set(all).size && (rules.length === 1 || !all.some((kind) => hasWildcard(kind) || kind === "Pod"))
  );
}

type Refuse = (path: FieldPath, message: string) => void;

function ruleErrors(
  rule: JsonObject,
  path: FieldPath,
  { isBackground, isPolicy }: { readonly isBackground: boolean; readonly isPolicy: boolean },
  refuse: Refuse,
): void {
  const actions = ACTIONS.filter((key) => isSet(member(rule, key)));
  if (actions.length !== 1)
    refuse(
      path,
      `a rule has one of ${ACTIONS.join(", ")}${actions.length === 0 ? "" : `, this has ${actions.join(" and ")}`}`,
    );
  const validate = member(rule, "validate");
  const checks = CHECKS.filter((key) => isSet(member(validate, key)));
  if (isObject(validate) && checks.length !== 1)
    refuse([...path, "validate"], `expected one of ${CHECKS.slice(0, 6).join(", ")}`);
  const cel = member(validate, "cel");
  if (isSet(member(rule, "celPreconditions")) && !isSet(cel))
    refuse([...path, "celPreconditions"], "only cel has them");
  if (isSet(cel) && listOf(member(rule, "context")).length > 0) refuse([...path, "context"], "cel has no context");
  for (const [index, each] of listOf(member(validate, "foreach")).entries())
    if (text(each, "list") === "") refuse([...path, "validate", "foreach", index], "the list is missing");
  for (const key of ["match", "exclude"] as const) {
    const whole = member(rule, key);
    const { blocks } = blocksOf(rule, key);
    if (isSet(member(whole, "any")) && isSet(member(whole, "all")))
      refuse([...path, key], "expected either any or all");
    for (const block of blocks) blockErrors(block, [...path, ...block.path], isPolicy, refuse);
    const userPath = blocks.find(({ value }) =>
      ["roles", "clusterRoles", "subjects"].some((each) => listOf(value[each]).length > 0),
    );
    if (isBackground && userPath !== undefined) refuse([...path, ...userPath.path], NO_BACKGROUND);
    if (JSON.stringify(whole ?? "").includes("{{")) refuse([...path, key], `${key} has no variables`);
    const unkind = key === "match" ? blocks.find(({ kinds }) => kinds.length === 0) : undefined;
    if (unkind !== undefined || (key === "match" && blocks.length === 0))
      refuse([...path, ...(unkind?.path ?? [key])], "each block of match needs kinds");
  }
  const patterns = [member(validate, "pattern"), ...listOf(member(validate, "anyPattern"))].filter(isObject);
  for (const { kinds, path: at } of [...blocksOf(rule, "match").blocks, ...blocksOf(rule, "exclude").blocks]) {
    if (!kinds.includes("*")) continue;
    const isWide = patterns.some((each) => Object.keys(each).some((key) => key !== "metadata"));
    if (isBackground || kinds.length > 1 || isSet(member(validate, "foreach")) || isWide)
      refuse(
        [...path, ...at, "resources", "kinds"],
        "* stands alone, without background and foreach, and its patterns are about metadata",
      );
  }
  if (excludesAll(rule)) refuse([...path, "exclude"], "Kyverno takes it for excluding all that the rule matches");
  overrideErrors(member(validate, "failureActionOverrides"), [...path, "validate", "failureActionOverrides"], refuse);
  for (const [at, conditions] of conditionsOf(rule)) conditionErrors(conditions, [...path, ...at], refuse);
  for (const { at, source } of variablesOf(rule, path, false)) {
    if (
      isBackground &&
      /(?:^|[^.\w])(?:serviceAccountName|serviceAccountNamespace|request\.(?:userInfo|roles|clusterRoles))\b/.test(
        source,
      )
    )
      refuse(at, NO_BACKGROUND);
  }
  for (const key of ["pattern", "anyPattern"])
    for (const at of noLists(member(validate, key), [...path, "validate", key])) refuse(at, "^(…) needs a list");
  for (const { at, source } of variablesOf(rule, path, true))
    if (/^\s*element/.test(source)) refuse(at, `${source.trim()} is known in a foreach only`);
  for (const pattern of [
    member(validate, "pattern"),
    ...listOf(member(validate, "anyPattern")),
    member(member(rule, "mutate"), "patchStrategicMerge"),
  ]) {
    const metadata = member(pattern, "metadata") ?? member(member(member(pattern, "spec"), "template"), "metadata");
    for (const key of ["labels", "annotations"])
      for (const [name, value] of Object.entries(
        isObject(member(metadata, key)) ? (member(metadata, key) as JsonObject) : {},
      ))
        if (typeof value !== "string")
          refuse([...path, actions[0] ?? ""], `the value of ${key}.${name} must be a text: write it in quotes`);
  }
}

function blockErrors({ value, resources, kinds }: Block, path: FieldPath, isPolicy: boolean, refuse: Refuse): void {
  const at = [...path, "resources"];
  if (isSet(resources.name) && isSet(resources.names)) refuse([...at, "names"], "expected either name or names");
  const { selector } = resources;
  const labels = isObject(selector) ? Object.entries(isObject(selector.matchLabels) ? selector.matchLabels : {}) : [];
  const expressions = listOf(member(selector, "matchExpressions"));
  if (isObject(selector) && labels.length + expressions.length === 0)
    refuse([...at, "selector"], "an empty selector is refused");
  if (!labels.flat().some((each) => hasWildcard(String(each)))) {
    for (const [key, label] of labels)
      for (const message of [...qualifiedNameErrors(key), ...labelValueErrors(String(label))])
        refuse([...at, "selector"], message);
    for (const each of expressions) {
      for (const message of qualifiedNameErrors(text(each, "key"))) refuse([...at, "selector"], message);
      const [operator, values] = [text(each, "operator"), listOf(member(each, "values"))];
      if (!["In", "NotIn", "Exists", "DoesNotExist"].includes(operator) || /In$/.test(operator) !== values.length > 0)
        refuse([...at, "selector"], "expected In or NotIn with values, Exists or DoesNotExist without");
    }
  }
  if (isPolicy && listOf(resources.namespaces).length > 0)
    refuse([...at, "namespaces"], "a Policy has one namespace only");
  for (const kind of isPolicy ? kinds : []) {
    const { group = "", kind: name = "" } = parseKind(kind) ?? {};
    if (builtinScope({ group: group === "*" ? "" : group, kind: name }) === false)
      refuse([...at, "kinds"], `a Policy can't judge ${kind}: it is in no namespace`);
  }
  for (const [index, subject] of listOf(value.subjects).entries()) {
    const kind = text(subject, "kind");
    if (!["User", "Group", "ServiceAccount"].includes(kind))
      refuse([...path, "subjects", index, "kind"], "expected User, Group or ServiceAccount");
    if (kind === "ServiceAccount" && text(subject, "namespace") === "")
      refuse([...path, "subjects", index], "the namespace is missing");
  }
  for (const [index, role] of listOf(value.roles).entries())
    if (String(role).split(":").length !== 2) refuse([...path, "roles", index], "expected NAMESPACE:NAME");
}

/** Namespaces must not have two actions. */
function overrideErrors(overrides: unknown, path: FieldPath, refuse: Refuse): void {
  const found = listOf(overrides).flatMap((each) =>
    listOf(member(each, "namespaces")).map((name) => [text(each, "action").toLowerCase(), String(name)] as const),
  );
  const both = found.find(([action, name]) =>
    found.some(([other, pattern]) => action !== other && matchesWildcard(pattern, name)),
  );
  if (both !== undefined) refuse(path, `the namespaces ${both[1]} have two actions`);
}

/** Whether Kyverno's comparison of both finds nothing in `exclude` that `match` does not have, too. */
function excludesAll(rule: JsonObject): boolean {
  const [match, exclude] = [member(rule, "match"), member(rule, "exclude")];
  if (!isObject(exclude) || [match, exclude].some((each) => listOf(member(each, "all")).length > 0)) return false;
  const [ofMatch, ofExclude] = [match, exclude].map((each) => listOf(member(each, "any")));
  if (ofMatch?.length !== 0 && ofExclude?.length !== 0)
    return ofMatch?.some((each) => ofExclude?.some((other) => sameValue(each, other))) === true;
  if (Object.keys(exclude).length === 0) return false;
  const [mine, theirs] = [member(match, "resources"), member(exclude, "resources")];
  const covers = (key: string, m: unknown, e: unknown): boolean => {
    const [some, all] = [listOf(member(m, key)), listOf(member(e, key))];
    return all.length === 0 || (some.length > 0 && some.every((each) => all.some((other) => sameValue(each, other))));
  };
  const names = listOf(member(theirs, "names")).map(String);
  const name = text(theirs, "name");
  if (!["roles", "clusterRoles", "subjects"].every((key) => covers(key, match, exclude))) return false;
  if (name !== "" && !matchesWildcard(name, text(mine, "name"))) return false;
  if (names.length > 0)
    return listOf(member(mine, "names")).some((each) => names.some((other) => matchesWildcard(other, String(each))));
  if (!["namespaces", "kinds"].every((key) => covers(key, mine, theirs))) return false;
  return ["selector", "namespaceSelector", "annotations"].every((key) => {
    const [m, e] = [member(mine, key), member(theirs, key)];
    if (!isSet(m) || !isSet(e)) return isSet(m) === isSet(e);
    const [some, all] = [member(m, "matchLabels"), member(e, "matchLabels")];
    const labels = !isObject(all) || (isObject(some) && Object.keys(some).every((each) => some[each] === all[each]));
    return key === "annotations" ? sameValue(m, e) : covers("matchExpressions", m, e) && labels;
  });
}

/** The conditions of a rule with their places. */
function conditionsOf(rule: JsonObject): readonly (readonly [FieldPath, unknown])[] {
  const deny = member(member(member(rule, "validate"), "deny"), "conditions");
  const wholes = [
    [["preconditions"], member(rule, "preconditions")],
    [["validate", "deny", "conditions"], deny],
  ] as const;
  return wholes.flatMap(([path, whole]): readonly (readonly [FieldPath, unknown])[] =>
    Array.isArray(whole) ? [[path, whole]] : ["any", "all"].map((key) => [[...path, key], member(whole, key)] as const),
  );
}

function conditionErrors(conditions: unknown, path: FieldPath, refuse: Refuse): void {
  for (const [index, each] of listOf(conditions).entries()) {
    const operator = text(each, "operator");
    const at = [...path, index];
    if (!isSet(member(each, "key")) || !isSet(member(each, "value")) || operator === "")
      refuse(at, "a condition needs a key, an operator and a value that is not null");
    else if (!OPERATORS.includes(operator) && !/^(?:Not)?Equal$/.test(operator))
      refuse([...at, "operator"], `there is no operator ${operator}${didYouMean(operator, OPERATORS)}`);
  }
}

/** The variables in the texts of a rule, with their places; perhaps only those outside of loops. */
function* variablesOf(
  value: unknown,
  path: FieldPath,
  outside: boolean,
): Generator<{ readonly at: FieldPath; readonly source: string }> {
  if (typeof value === "string")
    for (const [, source = ""] of value.matchAll(/(?<!\\)\{\{((?:[^{}]|\{[^{}]*\})*)\}\}/g)) yield { at: path, source };
  else if (Array.isArray(value))
    for (const [index, each] of value.entries()) yield* variablesOf(each, [...path, index], outside);
  else if (isObject(value))
    for (const [key, each] of Object.entries(value))
      if (!(outside && key === "foreach")) yield* variablesOf(each, [...path, key], outside);
}

/** The places of existence anchors whose value is not a list. */
function* noLists(value: unknown, path: FieldPath): Generator<FieldPath> {
  if (Array.isArray(value)) for (const [index, each] of value.entries()) yield* noLists(each, [...path, index]);
  else if (isObject(value))
    for (const [key, each] of Object.entries(value)) {
      if (/^\^\(.*\)$/.test(key) && !Array.isArray(each)) yield [...path, key];
      yield* noLists(each, [...path, key]);
    }
}
