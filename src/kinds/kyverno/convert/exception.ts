/** A PolicyException of the old language (kyverno.io) becomes one of the new (policies.kyverno.io). */
import { isObject, type JsonObject, member, nameOf, namespaceOf, text } from "../../../kubernetes/object.js";
import { EXCEPTION_KIND, GROUP, type NamedExpression } from "../resource.js";
import { and, type Cel, or, primary, TRUE } from "./cel-text.js";
import { conditionsHold } from "./conditions/conditions.js";
import type { ConvertedRule, PolicyConversion, Reason } from "./conversion.js";
import { schemaErrors } from "./load-errors.js";
import { type Block, blocksOf, controllersOf } from "./match/autogen.js";
import { blockTests } from "./match/block-tests.js";
import { anyKind, kindRule } from "./match/kinds.js";
import { matchesAny, matchesWildcard } from "./match/wildcard.js";
import { NotConverted, placed } from "./not-converted.js";
import type { Circumstances } from "./old-policy.js";
import { OLD_EXCEPTION_SCHEMA } from "./old-schema.js";
import { metadataOf } from "./policy-document.js";
import { RuleDraft } from "./rule-draft.js";

/** A policy and what it became. */
export interface KnownPolicy {
  readonly policy: JsonObject;
  readonly conversion: PolicyConversion;
}

/** The result for one exception: mostly one document, more where rules are exempted for different kinds. */
export interface ExceptionConversion {
  readonly documents: readonly JsonObject[];
  readonly reasons: readonly Reason[];
  readonly notes: readonly Reason[];
}

/** Whether a document is an exception of the old language. */
export const isOldException = (value: unknown): value is JsonObject =>
  isObject(value) && text(value, "kind") === EXCEPTION_KIND && text(value, "apiVersion").startsWith("kyverno.io/");

/** Converts an exception. Never throws. @param policies those that it may name */
export function convertException(
  exception: JsonObject,
  policies: readonly KnownPolicy[],
  circumstances: Circumstances = {},
): ExceptionConversion {
  const wrong = schemaErrors(exception, OLD_EXCEPTION_SCHEMA);
  if (wrong.length > 0) return { documents: [], reasons: wrong, notes: [] };
  try {
    return converted(exception, policies, circumstances);
  } catch (error) {
    if (!(error instanceof NotConverted)) throw error;
    return { documents: [], reasons: [{ path: error.path, message: error.message }], notes: [] };
  }
}

/** A rule that is exempted, and the requests for which it is: all, or of some kinds. */
interface Exempted {
  readonly rule: ConvertedRule;
  readonly test: Cel;
}

function converted(
  exception: JsonObject,
  policies: readonly KnownPolicy[],
  circumstances: Circumstances,
): ExceptionConversion {
  const spec = member(exception, "spec");
  const entries = (member(spec, "exceptions") as readonly JsonObject[] | undefined) ?? [];
  const missing: Reason[] = [];
  const exempted = entries.flatMap((entry, index) => {
    const known = policies.find(({ policy }) => referenceOf(policy) === text(entry, "policyName"));
    const path = ["spec", "exceptions", index, "policyName"];
    if (known === undefined) missing.push({ path, message: "no policy of this name is there: give its file, too" });
    return known === undefined
      ? []
      : exemptedBy(entry, known, isObject(spec) && member(spec, "podSecurity") !== undefined);
  });
  if (exempted.length === 0) {
    const path = ["spec", "exceptions"];
    const nothing = {
      path,
      message: "no rule of the policy has such a name, or none is converted: it exempts nothing",
    };
    return { documents: [], reasons: missing.length > 0 ? missing : [nothing], notes: [] };
  }
  const byTest = new Map<string, { readonly test: Cel; readonly rules: ConvertedRule[] }>();
  for (const { rule, test } of exempted) {
    const same = byTest.get(test.text) ?? { test, rules: [] };
    byTest.set(test.text, { ...same, rules: [...same.rules, rule] });
  }
  const documents = [...byTest.values()].map(({ test, rules }, index) => {
    const targets = rules.flatMap((rule) => rule.documents.map(({ value }) => value));
    const conditions = conditionsOf(exception, targets, circumstances);
    const kinds = { name: "autogen", expression: test.text };
    const matchConditions = [...(test.text === "true" ? [] : [kinds]), ...conditions];
    const { annotations: _, ...metadata } = metadataOf(
      { policy: { ...exception, kind: "Policy" }, name: "" },
      nameOf(exception),
    );
    const policyRefs = targets.map((value) => ({ name: nameOf(value), kind: text(value, "kind") }));
    return {
      apiVersion: `${GROUP}/v1`,
      kind: EXCEPTION_KIND,
      metadata: { ...metadata, name: index === 0 ? nameOf(exception) : `${nameOf(exception)}-${index + 1}` },
      spec: { policyRefs, ...(matchConditions.length > 0 && { matchConditions }) },
    };
  });
  return { documents, reasons: [], notes: missing };
}

/** The name by which exceptions know a policy. */
const referenceOf = (policy: JsonObject): string =>
  policy.kind === "Policy" ? `${namespaceOf(policy) || "default"}/${nameOf(policy)}` : nameOf(policy);

/** The rules that an entry names. Rules about controllers have names of their own: `autogen-NAME` and `autogen-cronjob-NAME`. */
function exemptedBy(entry: JsonObject, { policy, conversion }: KnownPolicy, hasControls: boolean): readonly Exempted[] {
  const names = (member(entry, "ruleNames") as readonly string[] | undefined) ?? [];
  const isNamed = (name: string): boolean => names.some((each) => matchesWildcard(each, name.slice(0, 63)));
  const rules = (member(member(policy, "spec"), "rules") as readonly JsonObject[] | undefined) ?? [];
  return conversion.rules.flatMap((converted) => {
    const { rule: name, index, documents } = converted;
    const rule = rules[index];
    if (rule === undefined || documents.length === 0) return [];
    const controllers = controllersOf({ policy, rule, name });
    const variants = [
      { kinds: ["Pod"], named: isNamed(name) },
      { kinds: controllers.filter((kind) => kind !== "CronJob"), named: isNamed(`autogen-${name}`) },
      { kinds: controllers.filter((kind) => kind === "CronJob"), named: isNamed(`autogen-cronjob-${name}`) },
    ].filter(({ kinds }, at) => at === 0 || kinds.length > 0);
    const exempt = variants.filter(({ named }) => named);
    if (exempt.length === 0) return [];
    if (hasControls && member(member(rule, "validate"), "podSecurity") !== undefined)
      throw new NotConverted(
        ["spec", "podSecurity"],
        `controls are not converted: exclude them in rule ${name}, or exempt from the whole rule`,
      );
    const kinds = exempt.flatMap((each) => each.kinds);
    const isAll = exempt.length === variants.length;
    return [{ rule: converted, test: isAll ? TRUE : matchesAny(primary("request.kind.kind"), kinds) }];
  });
}

/** `match` and `conditions` of an exception. */
function conditionsOf(
  exception: JsonObject,
  targets: readonly JsonObject[],
  circumstances: Circumstances,
): readonly NamedExpression[] {
  const spec = member(exception, "spec") as JsonObject;
  const isDeleted = JSON.stringify(targets).includes('"DELETE"');
  const object = primary(isDeleted ? '(request.operation == "DELETE" ? oldObject : object)' : "object");
  const { join, blocks } = blocksOf(spec, "match");
  if (blocks.length === 0) throw new NotConverted(["spec", "match"], "an exception needs any or all");
  const tests = blocks.map((block) =>
    placed(["spec"], () => blockTest(block, object, spec.background !== false, circumstances)),
  );
  const whole = join === "any" ? or(...tests) : and(...tests);
  const written = whole.text === "true" ? [] : [{ name: "match", expression: whole.text }];
  if (!isObject(spec.conditions)) return written;
  const roots = { object, oldObject: primary("oldObject") };
  const scope = { roots, names: new Map(), draft: new RuleDraft(), inline: true, rule: "", depth: 0 };
  const holds = placed(["spec", "conditions"], () => conditionsHold(spec.conditions, scope));
  return [...written, { name: "conditions", expression: holds.text }];
}

function blockTest(block: Block, object: Cel, isBackground: boolean, { definitions = [] }: Circumstances): Cel {
  const { kinds, resources, value, path } = block;
  const users = ["roles", "clusterRoles", "subjects"].filter((key) => Array.isArray(value[key]));
  if (users.length > 0 && isBackground)
    throw new NotConverted(
      [...path, users[0] ?? ""],
      "background scans have no user: Kyverno refuses it without background: false",
    );
  if (users.some((key) => key !== "subjects"))
    throw new NotConverted([...path, users[0] ?? ""], "exceptions can't look up roles: name subjects");
  const rules = kinds.flatMap((kind) => kindRule(kind, definitions) ?? []);
  const hasNamespaces = rules.length === 0 || rules.some((rule) => rule.namespaces);
  if (hasNamespaces && isObject(resources.namespaceSelector))
    throw new NotConverted([...path, "resources", "namespaceSelector"], "name the kinds, of which Namespace is none");
  const subjects = {
    object,
    namespaced: rules.length > 0 && rules.every((rule) => rule.namespaced),
    namespaces: hasNamespaces ? ("some" as const) : ("none" as const),
    confined: false,
  };
  const tests = blockTests(block, subjects, false).map(({ cel }) => cel);
  return and(kinds.length === 0 ? TRUE : anyKind(rules), ...tests);
}
