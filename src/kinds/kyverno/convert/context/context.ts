/** `context`: its entries become variables. */
import { isObject, type JsonObject, member, text } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { query } from "../jmespath/query.js";
import { joined, partsOf, template } from "../jmespath/template.js";
import { known, lenient, shared, type Value } from "../jmespath/value.js";
import { NotConverted, placed } from "../not-converted.js";
import { type Scope, withNames } from "../scope.js";
import type { Term } from "../term.js";
import { apiCall } from "./api-call.js";
import { getObject } from "./looked-up.js";

/** The scope with the names of context entries; each is written as a variable where it is first used, and knows the entries before it. */
export function withContext(entries: unknown, scope: Scope): Scope {
  if (entries === undefined || entries === null) return scope;
  if (!Array.isArray(entries)) throw new NotConverted(["context"], "context is a list");
  let inner = scope;
  for (const [i, entry] of entries.entries()) {
    const outer = inner;
    const name = text(entry, "name");
    let term: Term | undefined;
    inner = withNames(inner, [
      [
        name,
        () => {
          term ??= placed(["context", i], () => written(name, entryOf(entry, outer), outer));
          return term;
        },
      ],
    ]);
  }
  return inner;
}

function entryOf(entry: unknown, scope: Scope): Value {
  const [kind] = ["variable", "configMap", "apiCall", "globalReference", "imageRegistry"].filter(
    (key) => member(entry, key) !== undefined,
  );
  const body = kind === undefined ? undefined : member(entry, kind);
  if (kind === "imageRegistry")
    throw new NotConverted([kind], "data of images is not converted: write image.GetMetadata(…) in a ValidatingPolicy");
  if (kind === undefined || !isObject(body))
    throw new NotConverted([], "an entry of variable, configMap, apiCall or globalReference is converted");
  return placed([kind], () => {
    if (kind === "variable") return variable(body, scope);
    if (kind === "configMap") return configMap(body, scope);
    return kind === "apiCall" ? apiCall(text(entry, "name"), body, scope) : globalReference(body, scope);
  });
}

/** The variable that an entry is written as. */
function written(name: string, value: Value, scope: Scope): Term {
  const { cel: text, type, nullable, fails, items, constant, member: members } = value;
  if (constant !== undefined && typeof constant.value !== "object") return value;
  const isName = /^[A-Za-z][A-Za-z0-9_]*$/.test(name);
  const isLocal = [...scope.names].some(
    ([key, term]) => /^element/.test(key) && typeof term !== "function" && namesAny(text, term.cel),
  );
  if (scope.inline || isLocal) return value;
  // Texts about a value of any type don't compile for a map of one type.
  const whole = constant !== undefined && type === "map" ? cel.call("dyn", text) : text;
  const ref = scope.draft.variable(isName ? name : "context", whole, ["context"]);
  return known(ref, type, {
    nullable,
    fails,
    ...(items !== undefined && { items }),
    ...(constant !== undefined && { constant }),
    ...(members !== undefined && value.again !== undefined && { member: value.again(ref) }),
  });
}

const namesAny = (text: Cel, name: Cel): boolean =>
  /^[A-Za-z]\w*$/.test(name.text) && new RegExp(`\\b${name.text}\\b`).test(text.text);

/** The result of a query over a value. */
export function queried(body: JsonObject, value: Value, scope: Scope): Value {
  const source = text(body, "jmesPath");
  if (source === "") return value;
  return placed(["jmesPath"], () => {
    const { text: words, variables } = partsOf(source, scope);
    return query(words, scope, { nested: variables, current: value });
  });
}

function variable(body: JsonObject, scope: Scope): Value {
  const [value, otherwise] = [body["value"], body["default"]];
  let made: Value;
  if (value !== undefined && value !== null) {
    const current = placed(["value"], () => template(value, scope));
    made = queried(body, current, scope);
  } else {
    const source = text(body, "jmesPath");
    if (source === "") throw new NotConverted([], "a variable needs a value or a jmesPath");
    made = placed(["jmesPath"], () => {
      const { text: words, variables } = partsOf(source, scope);
      return query(words, scope, { nested: variables });
    });
  }
  if (made.constant !== undefined && made.constant.value !== null) return made;
  return otherwise === undefined || otherwise === null
    ? required(made)
    : withDefault(
        made,
        placed(["default"], () => template(otherwise, scope)),
        scope,
      );
}

/** A variable that is null is an error where it is used. */
function required(value: Value): Value {
  if (!value.nullable) return value;
  const { sure, member: members, again } = value;
  const rest = { fails: true, ...(value.items !== undefined && { items: value.items }) };
  if (sure !== undefined || value.fails)
    return known(sure ?? value.cel, value.type, {
      ...rest,
      nullable: value.type === "dyn" && sure !== undefined && value.optional !== undefined,
      ...(members !== undefined && again !== undefined && { member: members, again }),
    });
  const [v] = [cel.primary("v")];
  const there = cel.loop(cel.list([cel.call("dyn", value.cel)]), "filter", "v", cel.relation("!=", v, cel.NULL));
  return known(cel.item(there, 0), value.type, rest);
}

/** The default stands for null, and for a missing key. */
function withDefault(made: Value, otherwise: Term, scope: Scope): Value {
  const value = lenient(made);
  if (!value.nullable) return value;
  const isSame = value.type === otherwise.type;
  if (value.type === "string" && value.optional !== undefined)
    return known(cel.orValue(value.optional, otherwise.cel), isSame ? "string" : "dyn");
  if (Array.isArray(otherwise.constant?.value) && otherwise.constant.value.length === 0 && value.orEmpty !== undefined)
    return known(value.orEmpty, "list", value.items === undefined ? {} : { items: value.items });
  const { sure, there } = value;
  if (sure !== undefined && there !== undefined)
    return known(cel.conditional(there, cel.call("dyn", sure), otherwise.cel), isSame ? value.type : "dyn");
  const text =
    sure === undefined
      ? shared(value.cel, scope, (each) => cel.conditional(cel.equal(each, cel.NULL), otherwise.cel, each))
      : cel.conditional(cel.equal(value.cel, cel.NULL), otherwise.cel, isSame ? sure : cel.call("dyn", sure));
  return known(text, isSame ? value.type : "dyn");
}

function configMap(body: JsonObject, scope: Scope): Value {
  const part = (key: string): Term => placed([key], () => joined(partsOf(text(body, key), scope)));
  const own = scope.namespace ?? "default";
  const namespace =
    text(body, "namespace") === ""
      ? known(cel.literal(own), "string", { constant: { value: own } })
      : part("namespace");
  const map = getObject(
    { version: "v1", resource: cel.literal("configmaps"), namespace, name: part("name").cel },
    scope,
  );
  return map;
}

function globalReference(body: JsonObject, scope: Scope): Value {
  if (scope.namespace !== undefined)
    throw new NotConverted([], "Kyverno allows global references in ClusterPolicies only");
  const [name = "", projection] = text(body, "name").split(".");
  const names = [name, ...(projection === undefined ? [] : [projection])].map((each) => cel.literal(each));
  const value = known(cel.call("globalContext.Get", ...names), "dyn", { fails: true, trusted: true });
  return queried(body, value, scope);
}
