/** `validate.cel`: its expressions stay word for word, but for what the new kind calls by another name. */
import { builtinKinds, builtinNamespaced, pluralOf } from "../../../kubernetes/builtin-kinds.js";
import { type FieldPath, formatPath } from "../../../kubernetes/field-error.js";
import { parseApiVersion } from "../../../kubernetes/names.js";
import { isObject, type JsonObject, member, text } from "../../../kubernetes/object.js";
import { preparePolicies } from "../prepare-policies.js";
import { describeFailure, readResource } from "../read.js";
import { literal } from "./cel-text.js";
import type { ConvertedDocument } from "./conversion.js";
import type { Matched } from "./match/match.js";
import { NotConverted, placed } from "./not-converted.js";
import type { OldRule } from "./old-policy.js";
import type { RuleDraft } from "./rule-draft.js";

/** Text literals of CEL, which are not looked into. */
const LITERAL =
  /(?:\b[bBrR]{1,2})?(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|\/\/[^\n]*/g;

/** Replaces in an expression, but not in its literals and comments. */
function outsideLiterals(source: string, replace: (code: string) => string): string {
  const kept: string[] = [];
  const code = source.replace(LITERAL, (found) => `\u0000${kept.push(found) - 1}\u0000`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no expression has it
  return replace(code).replace(/\u0000(\d+)\u0000/g, (_, index: string) => kept[Number(index)] ?? "");
}

const mentions = (source: string, name: string): boolean => {
  let isFound = false;
  outsideLiterals(source, (code) => {
    isFound = new RegExp(`(?<![\\w.])${name}(?!\\w)`).test(code);
    return code;
  });
  return isFound;
};

/** A name by itself: an absent object is null in the old language, and an empty map in the new one. */
const nullable = (source: string, name: string): string =>
  outsideLiterals(source, (code) =>
    code
      .replace(new RegExp(`(?<![\\w.])(${name}\\s*[!=]=\\s*)null\\b`, "g"), "$1{}")
      .replace(new RegExp(`(?<![\\w.])null(\\s*[!=]=\\s*${name})\\b(?!\\s*[.\\[])`, "g"), "{}$1")
      .replace(
        new RegExp(`(?<![\\w.])${name}\\b(?!\\s*(?:[.\\[]|[!=]=\\s*\\{\\}))(?<!\\{\\}\\s*[!=]=\\s*${name})`, "g"),
        `(${name} == {} ? null : ${name})`,
      ),
  );

const listOf = (value: unknown, key: string): readonly JsonObject[] => {
  const found = member(value, key);
  return Array.isArray(found) ? found.filter(isObject) : [];
};

/** Writes the validations, variables, annotations and conditions of `validate.cel` into the draft. */
export function celRule(cel: unknown, validate: JsonObject, draft: RuleDraft, matched: Matched, old: OldRule): void {
  const { rule, circumstances } = old;
  const operations = new Set((matched.matchConstraints.resourceRules ?? []).flatMap((each) => each.operations ?? []));
  const isAdmissionPolicy = circumstances.toAdmissionPolicy === true;
  const params = isAdmissionPolicy ? undefined : placed(["validate", "cel"], () => parameters(cel, old));
  const written = (source: unknown, from: FieldPath, inCondition = false): string => {
    let expression = typeof source === "string" ? source : "";
    if (isAdmissionPolicy) return expression;
    if (mentions(expression, "authorizer"))
      throw new NotConverted(
        from,
        "a ValidatingPolicy can't ask the authorizer: convert it with --to vap, or judge the user by name and groups",
      );
    if (inCondition && mentions(expression, "variables"))
      throw new NotConverted(from, "match conditions have no variables: write out what this one stands for");
    // Whatever may be absent: the object of a deletion, the old object of all else than updates and deletions.
    if (operations.has("DELETE")) expression = nullable(expression, "object");
    if (operations.has("CREATE") || operations.has("CONNECT")) expression = nullable(expression, "oldObject");
    if (params === undefined) return expression;
    const name = inCondition ? params : "variables.params";
    return outsideLiterals(expression, (code) => code.replace(/(?<![\w.])params\b/g, () => name));
  };
  for (const [index, each] of listOf(rule, "celPreconditions").entries()) {
    const from = ["celPreconditions", index, "expression"];
    draft.conditions.push({ name: text(each, "name"), expression: written(each.expression, from, true), from });
  }
  if (params !== undefined) {
    draft.variables.push({ name: "params", expression: params, from: ["validate", "cel", "paramRef"] });
    const action = text(member(cel, "paramRef"), "parameterNotFoundAction");
    if (action === "Allow")
      draft.conditions.push({
        name: "has-parameters",
        expression: `${params} != null`,
        from: ["validate", "cel", "paramRef"],
      });
  }
  for (const [index, each] of listOf(cel, "variables").entries()) {
    const from = ["validate", "cel", "variables", index, "expression"];
    draft.variables.push({ name: text(each, "name"), expression: written(each.expression, from), from });
  }
  for (const [index, each] of listOf(cel, "expressions").entries()) {
    const from = ["validate", "cel", "expressions", index];
    const expression = written(each.expression, [...from, "expression"]);
    const messageExpression = written(each.messageExpression, [...from, "messageExpression"]);
    const said = (text(each, "message") || text(validate, "message")).trim();
    const message =
      said === "" && messageExpression === "" ? `failed expression: ${text(each, "expression").trim()}` : said;
    draft.validations.push({
      expression,
      ...(messageExpression !== "" && { messageExpression }),
      ...(message !== "" && { message }),
      ...(text(each, "reason") !== "" && { reason: text(each, "reason") }),
      from,
    });
  }
  for (const [index, each] of listOf(cel, "auditAnnotations").entries()) {
    const from = ["validate", "cel", "auditAnnotations", index, "valueExpression"];
    draft.auditAnnotations.push({ key: text(each, "key"), valueExpression: written(each.valueExpression, from), from });
  }
}

/** Throws where an expression does not compile: Kyverno fails all objects then. */
export function checkCompiles(documents: readonly ConvertedDocument[], { index }: OldRule): void {
  for (const { value, places } of documents) {
    const [first] = documentErrors(value);
    const place = first && places.get(formatPath(first.path.slice(0, 3)));
    if (first !== undefined)
      throw new NotConverted(place?.slice(["spec", "rules", index].length) ?? [], `it does not compile: ${first.text}`);
  }
}

/** The reasons why Kyverno would refuse a document that was written, with their places in it. */
export function documentErrors(value: JsonObject): readonly { readonly path: FieldPath; readonly text: string }[] {
  const read = readResource(value);
  if (read.kind === "unreadable")
    return read.failures.map((each) => ({ path: each.path, text: describeFailure(each) }));
  if (read.kind !== "policy") return [];
  const { failures } = preparePolicies([read.resource], []);
  const errors = failures.flatMap((failure) => failure.errors);
  return errors.map(({ path, mistakes, text: message }) => ({ path, text: mistakes?.[0]?.message ?? message }));
}

/** The parameters of a rule as a look-up; undefined: it has none. */
function parameters(cel: unknown, { policy, circumstances }: OldRule): string | undefined {
  const [paramKind, ref] = [member(cel, "paramKind"), member(cel, "paramRef")];
  if (!isObject(paramKind)) return undefined;
  const instead = "convert it with --to vap, which has parameters";
  if (policy.kind === "Policy")
    throw new NotConverted(["paramKind"], `a NamespacedValidatingPolicy has no parameters: ${instead}`);
  const name = text(ref, "name");
  if (name === "")
    throw new NotConverted(["paramRef"], `a ValidatingPolicy looks up one object by its name: ${instead}`);
  const [apiVersion, kind] = [text(paramKind, "apiVersion"), text(paramKind, "kind")];
  const group = parseApiVersion(apiVersion);
  const defined = circumstances.definitions?.find((each) => each.group === group?.group && each.kind === kind);
  const isBuiltin = [...builtinKinds()].some((each) => each.apiVersion === apiVersion && each.kind === kind);
  if (group === undefined || (defined === undefined && !isBuiltin))
    throw new NotConverted(
      ["paramKind", "kind"],
      `the resource of ${kind} is not known: give its CustomResourceDefinition, too, or ${instead}`,
    );
  const namespaced = defined?.namespaced ?? builtinNamespaced({ ...group, kind }) === true;
  const given = text(ref, "namespace");
  const namespace = !namespaced ? '""' : given === "" ? 'request.?namespace.orValue("")' : literal(given).text;
  const words = [
    literal(apiVersion).text,
    literal(defined?.plural ?? pluralOf(kind)).text,
    namespace,
    literal(name).text,
  ];
  return `dyn(resource.Get(${words.join(", ")}))`;
}
