/**
 * Mistakes for which Kyverno 1.19.1 refuses or drops a policy when it is stored: such a policy has judged nothing. Those that no stored policy has, and after
 * which the rules would judge all that they say, are left to it.
 */
import { didYouMean } from "../../../data/suggest.js";
import { complete } from "../../../kubernetes/custom-resource/complete.js";
import type { ObjectSchema } from "../../../kubernetes/custom-resource/schema.js";
import { siblings, unknownMembers } from "../../../kubernetes/custom-resource/unknown-members.js";
import { validate as validateBySchema } from "../../../kubernetes/custom-resource/validate.js";
import type { FieldPath } from "../../../kubernetes/field-error.js";
import { isObject, type JsonObject, member, nameOf, text } from "../../../kubernetes/object.js";
import { type LabelSelector, prepareSelector } from "../../shared/match/label-selector.js";
import type { Reason } from "./conversion.js";
import { AUTOGEN_ANNOTATION, type Block, blocksOf } from "./match/autogen.js";
import { plainKind } from "./match/kinds.js";
import { hasWildcard } from "./match/wildcard.js";
import { OLD_POLICY_SCHEMA } from "./old-schema.js";

const CHECKS = ["pattern", "anyPattern", "deny", "foreach", "podSecurity", "cel", "manifests", "assert"];
const ACTIONS = ["mutate", "validate", "generate", "verifyImages"];
const NO_BACKGROUND = "background scans have no user: Kyverno refuses the policy unless it has background: false";
const OF_USERS =
  /(?:^|[^.\w])(?:serviceAccountName|serviceAccountNamespace|request\.(?:userInfo|roles|clusterRoles))\b/;

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
  const seen = new Set<string>();
  for (const [index, rule] of rules.entries()) {
    const path: FieldPath = ["spec", "rules", index];
    const name = text(rule, "name");
    if (seen.has(name)) refuse([...path, "name"], "another rule has this name");
    seen.add(name);
    ruleErrors(rule, path, member(spec, "background") !== false, refuse);
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

function ruleErrors(rule: JsonObject, path: FieldPath, isBackground: boolean, refuse: Refuse): void {
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
  const isCel = isSet(member(validate, "cel"));
  if (isSet(member(rule, "celPreconditions")) && !isCel) refuse([...path, "celPreconditions"], "only cel has them");
  if (isCel && listOf(member(rule, "context")).length > 0) refuse([...path, "context"], "cel has no context");
  for (const [index, each] of listOf(member(validate, "foreach")).entries())
    if (text(each, "list") === "") refuse([...path, "validate", "foreach", index], "the list is missing");
  const bodies = [member(validate, "pattern"), ...listOf(member(validate, "anyPattern"))];
  const isWide = bodies.filter(isObject).some((each) => Object.keys(each).some((key) => key !== "metadata"));
  for (const key of ["match", "exclude"] as const) {
    const whole = member(rule, key);
    const { blocks } = blocksOf(rule, key);
    if (isSet(member(whole, "any")) && isSet(member(whole, "all")))
      refuse([...path, key], "expected either any or all");
    for (const block of blocks) blockErrors(block, [...path, ...block.path], isBackground, refuse);
    if (JSON.stringify(whole ?? "").includes("{{")) refuse([...path, key], `${key} has no variables`);
    const unkind = key === "match" ? blocks.find(({ kinds }) => kinds.length === 0) : undefined;
    if (unkind !== undefined || (key === "match" && blocks.length === 0))
      refuse([...path, ...(unkind?.path ?? [key])], "each block of match needs kinds");
    const wild = blocks.find(({ kinds }) => kinds.includes("*"));
    if (wild && (isBackground || wild.kinds.length > 1 || isSet(member(validate, "foreach")) || isWide))
      refuse(
        [...path, ...wild.path, "resources", "kinds"],
        "* stands alone, without background and foreach, and its patterns are about metadata",
      );
  }
  for (const { at, source, isLooped } of variablesOf(rule, path)) {
    if (isBackground && OF_USERS.test(source)) refuse(at, NO_BACKGROUND);
    if (!isLooped && /^\s*element/.test(source)) refuse(at, `${source.trim()} is known in a foreach only`);
  }
  for (const body of [...bodies, member(member(rule, "mutate"), "patchStrategicMerge")])
    if (hasBadLabels(body))
      refuse(
        [...path, actions[0] ?? ""],
        "the values of labels and annotations in metadata must be texts: write them in quotes",
      );
}

function blockErrors({ value, resources }: Block, path: FieldPath, isBackground: boolean, refuse: Refuse): void {
  const at = [...path, "resources"];
  if (isSet(resources.name) && isSet(resources.names)) refuse([...at, "names"], "expected either name or names");
  const selector = resources.selector as LabelSelector | undefined;
  const labels = Object.entries(selector?.matchLabels ?? {}).flat();
  if (selector && labels.length + (selector.matchExpressions ?? []).length === 0)
    refuse([...at, "selector"], "an empty selector is refused");
  const { error } = labels.some(hasWildcard) ? {} : prepareSelector(selector ?? {});
  if (error !== undefined) refuse([...at, "selector"], error);
  const users = [value.roles, value.clusterRoles, value.subjects].flatMap(listOf);
  if (isBackground && users.length > 0) refuse(path, NO_BACKGROUND);
  for (const [index, subject] of listOf(value.subjects).entries())
    if (!["User", "Group", text(subject, "namespace") && "ServiceAccount"].includes(text(subject, "kind")))
      refuse([...path, "subjects", index, "kind"], "expected User, Group, or ServiceAccount with its namespace");
  for (const [index, role] of listOf(value.roles).entries())
    if (String(role).split(":").length !== 2) refuse([...path, "roles", index], "expected NAMESPACE:NAME");
}

/** Whether Kyverno sees labels or annotations that are not texts. It looks at the object's metadata or at its template's, whichever it meets first. */
function hasBadLabels(body: unknown): boolean {
  const { metadata, spec } = isObject(body) ? body : {};
  const seen = [
    ...(isObject(metadata) ? [metadata] : []),
    ...(isSet(spec) ? [member(member(spec, "template"), "metadata")] : []),
  ];
  const isBad = (each: unknown): boolean =>
    ["labels", "annotations"].some((key) => {
      const entries = member(each, key);
      return isObject(entries) && Object.values(entries).some((value) => typeof value !== "string");
    });
  return seen.length > 0 && seen.every(isBad);
}

/** A variable in a text of a rule, and whether a loop is around it. */
interface Variable {
  readonly at: FieldPath;
  readonly source: string;
  readonly isLooped: boolean;
}

function* variablesOf(value: unknown, at: FieldPath, isLooped = false): Generator<Variable> {
  if (typeof value === "string")
    for (const [, source = ""] of value.matchAll(/(?<!\\)\{\{((?:[^{}]|\{[^{}]*\})*)\}\}/g))
      yield { at, source, isLooped };
  else if (Array.isArray(value))
    for (const [index, each] of value.entries()) yield* variablesOf(each, [...at, index], isLooped);
  else if (isObject(value))
    for (const [key, each] of Object.entries(value))
      yield* variablesOf(each, [...at, key], isLooped || key === "foreach");
}
