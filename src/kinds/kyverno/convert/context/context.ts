/** `context`: its entries become variables. */
import type { FieldPath } from "../../../../kubernetes/field-error.js";
import { isObject, type JsonObject, member, text } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { joined, partsOf, template } from "../jmespath/template.js";
import { known, lenient, MAPS, shared, type Value } from "../jmespath/value.js";
import { NotConverted, placed } from "../not-converted.js";
import { type Scope, withNames } from "../scope.js";
import type { Term } from "../term.js";
import { apiCall } from "./api-call.js";
import { getObject, present, queried } from "./looked-up.js";

/** The scope with the names of context entries; each is written as a variable where it is first used, and knows the entries before it. */
export function withContext(entries: unknown, scope: Scope): Scope {
  if (entries === undefined || entries === null) return scope;
  if (!Array.isArray(entries)) throw new NotConverted(["context"], "context is a list");
  let inner = scope;
  for (const [i, entry] of entries.entries()) {
    const outer = inner;
    const name = text(entry, "name");
    let term: Term | undefined;
    const write = (): Term => {
      term ??= ofEntry(["context", i], outer, () => written(name, entryOf(entry, outer), ["context", i], outer));
      return term;
    };
    inner = withNames(inner, [[name, write]]);
  }
  return inner;
}

/** Converts an entry where it is first used: its reasons are about its own place, which is known outside of loops. */
function ofEntry(path: FieldPath, scope: Scope, convert: () => Term): Term {
  try {
    return placed(path, convert);
  } catch (error) {
    throw error instanceof NotConverted ? new NotConverted(error.path, error.message, scope.depth === 0) : error;
  }
}

function entryOf(entry: unknown, scope: Scope): Value {
  const kinds = ["variable", "configMap", "apiCall", "globalReference", "imageRegistry"];
  const kind = kinds.find((key) => isObject(member(entry, key)));
  const body = kind === undefined ? undefined : member(entry, kind);
  if (kind === undefined || !isObject(body))
    throw new NotConverted([], "an entry of variable, configMap, apiCall or globalReference is converted");
  return placed([kind], () => {
    if (kind === "variable") return variable(body, scope);
    if (kind === "configMap") return configMap(body, scope);
    if (kind === "globalReference") return globalReference(body, scope);
    if (kind === "apiCall") return apiCall(text(entry, "name"), body, scope);
    throw new NotConverted([], "data of images is not converted: write image.GetMetadata(…) in a ValidatingPolicy");
  });
}

/** Words that can't be names in CEL. */
const RESERVED = new Set(
  "as break const continue else false for function if import in let loop namespace null package return true var void while".split(
    " ",
  ),
);

/** The variable that an entry is written as. */
function written(name: string, value: Value, path: FieldPath, scope: Scope): Term {
  const { type, nullable, fails, items, constant, again } = value;
  const text = again === undefined ? value.cel : (value.sure ?? value.cel);
  const isLocal = [...scope.names].some(
    ([key, term]) => /^element/.test(key) && typeof term !== "function" && namesAny(text, term.cel),
  );
  // Texts about a value of any type don't compile for a map of one type.
  const whole = constant !== undefined && type === "map" ? cel.call("dyn", text) : text;
  // Short constants stand where they are used.
  const isShort = constant !== undefined && text.text.length <= 40;
  if (scope.inline || isLocal || isShort) return again === undefined ? { ...value, cel: whole } : value;
  const isName = /^[A-Za-z]\w*$/.test(name) && !RESERVED.has(name);
  const ref = scope.draft.variable(isName ? name : "context", whole, path);
  return known(again === undefined || !fails ? ref : present(ref), type, {
    ...(again !== undefined && fails && { sure: ref }),
    nullable,
    fails,
    ...(items !== undefined && { items }),
    ...(constant !== undefined && { constant }),
    ...(again !== undefined && { member: again(ref), again }),
  });
}

const namesAny = (text: Cel, name: Cel): boolean =>
  /^[A-Za-z]\w*$/.test(name.text) && new RegExp(`\\b${name.text}\\b`).test(text.text);

function variable(body: JsonObject, scope: Scope): Value {
  const value = body.value ?? undefined;
  const current = value === undefined ? undefined : placed(["value"], () => template(value, scope));
  const made = queried(body, current, scope);
  const otherwise = body.default ?? undefined;
  if (otherwise !== undefined && text(body, "jmesPath") === "")
    throw new NotConverted(["default"], "Kyverno refuses a default without jmesPath");
  if (made.constant !== undefined && made.constant.value !== null) return made;
  if (otherwise === undefined) return required(made);
  const instead = placed(["default"], () => template(otherwise, scope));
  return withDefault(made, instead, scope);
}

/** A variable that is null is an error where it is used. */
function required(value: Value): Value {
  if (!value.nullable) return value;
  const { checked, sure = checked, type, items } = value;
  const rest = { fails: true, ...(items !== undefined && { items }) };
  const isOwn = /^(?:\(?request\.operation|o|variables\.(?:p|oldP|resource))/.test(value.cel.text);
  if (sure !== undefined && (type !== "dyn" || !isOwn || MAPS.test(value.cel.text)))
    return known(checked ?? sure, type, rest);
  const isThere = cel.relation("!=", cel.primary("v"), cel.NULL);
  const there = cel.loop(cel.list([cel.call("dyn", sure ?? value.cel)]), "filter", "v", isThere);
  return known(cel.item(there, 0), type, rest);
}

/** The default stands for null, and for a missing key. */
function withDefault(made: Value, { cel: otherwise, type, constant }: Term, scope: Scope): Value {
  const value = lenient(made);
  const { optional, orEmpty, sure, items } = value;
  if (!value.nullable) return value;
  const isSame = value.type === type;
  if (value.type === "string" && optional !== undefined)
    return known(cel.orValue(optional, otherwise), isSame ? "string" : "dyn");
  if (orEmpty !== undefined && Array.isArray(constant?.value) && constant.value.length === 0)
    return known(orEmpty, "list", items === undefined ? {} : { items });
  const typed = (each: Cel): Cel => (isSame || value.type === "dyn" ? each : cel.call("dyn", each));
  const isNull = (each: Cel): Cel => (value.there === undefined ? cel.equal(each, cel.NULL) : cel.not(value.there));
  const whole = (each: Cel): Cel => cel.conditional(isNull(each), otherwise, typed(sure ?? each));
  return known(sure === undefined ? shared(value.cel, scope, whole) : whole(value.cel), isSame ? type : "dyn");
}

function configMap(body: JsonObject, scope: Scope): Value {
  const part = (key: string, otherwise = ""): Term =>
    placed([key], () => joined(partsOf(text(body, key) || otherwise, scope)));
  const namespace = part("namespace", scope.namespace ?? "default");
  const resource = cel.literal("configmaps");
  return getObject({ version: "v1", resource, namespace, name: part("name").cel }, scope);
}

function globalReference(body: JsonObject, scope: Scope): Value {
  if (scope.namespace !== undefined)
    throw new NotConverted([], "Kyverno allows global references in ClusterPolicies only");
  const [name = "", projection] = text(body, "name").split(".");
  const names = [name, ...(projection === undefined ? [] : [projection])].map((each) => cel.literal(each));
  const entry = cel.call("globalContext.Get", ...names);
  const whole = text(body, "jmesPath") === "" ? present(entry) : entry;
  return queried(body, known(whole, "dyn", { fails: true, trusted: true }), scope);
}
