/** Objects and lists that the API server is asked for. */
import { type JsonObject, text } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { query } from "../jmespath/query.js";
import { metadataMember } from "../jmespath/roots.js";
import { partsOf } from "../jmespath/template.js";
import { known, memberOf, type Value } from "../jmespath/value.js";
import { NotConverted, placed } from "../not-converted.js";
import type { Scope } from "../scope.js";
import type { Term } from "../term.js";

/** The question to the API server. */
export interface LookUp {
  /** `v1`, `apps/v1` */
  readonly version: string;
  /** The plural, and a subresource: an expression. */
  readonly resource: Cel;
  /** Absent: in all namespaces, or without one. */
  readonly namespace?: Term;
  /** Absent: a list. */
  readonly name?: Cel;
  /** Of a list: labels by which it is filtered. */
  readonly labels?: Cel;
}

/** An object, or a list of objects under `items`. */
export function getObject(what: LookUp, scope: Scope): Value {
  const { version, resource, namespace, name, labels } = what;
  const where: Cel[] = [];
  if (scope.namespace === undefined) where.push(namespace?.cel ?? cel.literal(""));
  else if (namespace === undefined || !isOwn(namespace, scope.namespace))
    throw new NotConverted([], "a Policy looks objects up in its own namespace only: write a ClusterPolicy");
  where.push(...[name, labels].filter((each) => each !== undefined));
  const call = name === undefined ? "resource.List" : "resource.Get";
  return objectOf(cel.call(call, cel.literal(version), resource, ...where), name === undefined);
}

const isOwn = ({ cel: text, constant }: Term, namespace: string): boolean =>
  constant?.value === namespace || /^(?:request|\w+(?:\.\w+)?\.metadata)\.namespace$/.test(text.text);

/** A looked-up object as a whole: an error where it is missing. */
export const present = (object: Cel): Cel =>
  cel.item(
    cel.loop(cel.list([cel.call("dyn", object)]), "filter", "o", cel.relation("!=", cel.primary("o"), cel.NULL)),
    0,
  );

/** A looked-up object: where it is missing, its members are errors, as looking it up is one in Kyverno. */
export function objectOf(call: Cel, isList = false): Value {
  const again = (object: Cel) => (key: string) => {
    if (isList && key === "items")
      return known(cel.orValue(cel.member(object, key), cel.list([])), "list", { each: itemOfList });
    const whole = cel.member(object, key);
    if (key === "metadata") return known(whole, "map", { fails: true, member: (name) => metadata(whole, name) });
    if (key === "data" && /"(?:configmaps|secrets)"/.test(call.text)) return textsOf(whole);
    const isMap = key === "spec" || key === "status" || key === "data";
    return known(isMap ? whole : cel.call("dyn", whole), "dyn", { fails: true, trusted: true });
  };
  return known(isList ? call : present(call), "map", { fails: !isList, sure: call, member: again(call), again });
}

/** A map of texts, such as a ConfigMap's data. */
function textsOf(map: Cel): Value {
  const of = (key: Cel | string): Value => ({
    ...memberOf(known(map, "dyn", { fails: true }), key, NO_SCOPE),
    type: "string",
    nullable: false,
  });
  return known(map, "map", { fails: true, member: of, memberBy: of });
}

/** An object of a list. */
const itemOfList = (object: Cel): Value =>
  known(object, "dyn", {
    member: (key) => {
      const whole = cel.member(object, key);
      if (key !== "metadata") return memberOf(known(object), key, NO_SCOPE);
      return known(whole, "map", { member: (name) => metadata(whole, name) });
    },
  });

/** Members of looked-up objects need nothing of the place. */
const NO_SCOPE = {} as Scope;

/** A member of metadata: names are there. */
const metadata = (whole: Cel, name: string): Value =>
  name === "name" || name === "namespace" || name === "uid"
    ? known(cel.member(whole, name), "string")
    : metadataMember(known(whole), name, NO_SCOPE);

/** The result of a `jmesPath` over a value, default the context of the policy. */
export function queried(body: JsonObject, current: Value | undefined, scope: Scope): Value {
  const source = text(body, "jmesPath");
  const isSoft = (body.default ?? undefined) !== undefined;
  if (source === "" && current !== undefined) return current;
  return placed(["jmesPath"], () => {
    const { text: words, variables: nested } = partsOf(source, scope);
    return query(words, scope, { nested, isSoft, ...(current !== undefined && { current }) });
  });
}
