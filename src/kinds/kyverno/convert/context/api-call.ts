/** `apiCall` of a context: a look-up in the cluster, or a call of a service. */
import { isObject, type JsonObject, member, text } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { joined, partsOf, template } from "../jmespath/template.js";
import { known, type Value } from "../jmespath/value.js";
import { NotConverted, placed } from "../not-converted.js";
import type { Scope } from "../scope.js";
import type { Term } from "../term.js";
import { getObject, objectOf, present, queried } from "./looked-up.js";

/** The result of an `apiCall`. @param name of the context's entry */
export function apiCall(name: string, body: JsonObject, scope: Scope): Value {
  const service = body.service;
  const call = isObject(service)
    ? placed(["service"], () => serviceCall(service, body, scope))
    : placed(["urlPath"], () => clusterCall(text(body, "urlPath"), body, scope));
  const made = result(body, call, scope);
  // A call that is used twice is a variable of its own, so that it is made once.
  const { sure = call.cel } = call;
  if (scope.inline || scope.depth > 0 || made.cel.text.split(sure.text).length <= 2) return made;
  const ref = scope.draft.variable(`${name}Source`, sure, []);
  return result(
    body,
    {
      ...call,
      cel: call.cel === sure ? ref : present(ref),
      sure: ref,
      ...(call.again !== undefined && { member: call.again(ref) }),
    },
    scope,
  );
}

function result(body: JsonObject, call: Value, scope: Scope): Value {
  const made = queried(body, call, scope);
  const otherwise = body.default;
  if (otherwise === undefined || otherwise === null || call.again === undefined || !call.fails) return made;
  // An object that is not there is the error that the default is for.
  const isMissing = cel.equal(cel.call("dyn", call.sure ?? call.cel), cel.NULL);
  const instead = placed(["default"], () => template(otherwise, scope));
  const text = cel.conditional(isMissing, cel.call("dyn", instead.cel), cel.call("dyn", made.cel));
  return known(text, "dyn", { nullable: made.nullable, fails: made.fails });
}

const SELECTED = /^(?:labelSelector|fieldSelector)=(.*)$/;

function clusterCall(path: string, body: JsonObject, scope: Scope): Value {
  const { text: whole, variables } = partsOf(path, scope);
  const term = (part: string): Term => joined({ text: decoded(part), variables });
  const [address = "", search = ""] = whole.split("?", 2);
  const segments = address.split("/").filter((part) => part !== "");
  const [root = "", ...others] = segments;
  const version = root === "api" ? others[0] : others.slice(0, 2).join("/");
  const rest = others.slice(root === "api" ? 1 : 2);
  if (
    (root !== "api" && root !== "apis") ||
    version === undefined ||
    rest.length === 0 ||
    /_variable_\d+_/.test(version)
  )
    throw new NotConverted(
      [],
      `the path ${JSON.stringify(path)} is not that of objects: objects and lists of them are looked up`,
    );
  const isInNamespace = rest[0] === "namespaces" && rest.length > 2;
  const [resource = "", name, subresource] = isInNamespace ? rest.slice(2) : rest;
  const namespace = isInNamespace ? term(rest[1] ?? "") : undefined;
  const plural = term(subresource === undefined ? resource : `${resource}/${subresource}`).cel;
  const what = { version, resource: plural, ...(namespace !== undefined && { namespace }) };
  if (text(body, "method") === "POST") {
    const where = namespace?.cel ?? cel.literal("");
    return objectOf(cel.call("resource.Post", cel.literal(version), plural, where, postData(body, scope)));
  }
  if (name !== undefined) return getObject({ ...what, name: term(name).cel }, scope);
  return selected(getObject(what, scope), search, what, term, scope);
}

/** A list of the objects that a selector in a path asks for. */
function selected(
  all: Value,
  search: string,
  what: Parameters<typeof getObject>[0],
  term: (part: string) => Term,
  scope: Scope,
): Value {
  const asked = search.split("&").filter((part) => part !== "");
  const [only] = asked;
  if (only === undefined) return all;
  const selector = decoded(SELECTED.exec(only)?.[1] ?? "");
  const pairs = selector.split(",").map((pair) => /^([^=!]+)==?([^=]*)$/.exec(pair));
  const isOdd = asked.length > 1 || pairs.some((pair) => pair === null);
  const isName = only.startsWith("fieldSelector=") && pairs.length === 1 && pairs[0]?.[1] === "metadata.name";
  if (isOdd || (!isName && !only.startsWith("labelSelector=")))
    throw new NotConverted(
      [],
      `${JSON.stringify(search)} is not converted: labels that equal something, or metadata.name, select objects`,
    );
  if (isName) {
    const items = all.member?.("items").cel ?? all.cel;
    const isNamed = cel.equal(cel.primary("o.metadata.name"), term(pairs[0]?.[2] ?? "").cel);
    const found = known(cel.loop(items, "filter", "o", isNamed), "list");
    return known(cel.map([["items", found.cel]]), "map", {
      member: (key) => (key === "items" ? found : known(cel.NULL, "null", { nullable: true })),
    });
  }
  const labels = cel.map(pairs.map((pair) => [pair?.[1] ?? "", term(pair?.[2] ?? "").cel]));
  return getObject({ ...what, labels }, scope);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function postData(body: JsonObject, scope: Scope): Cel {
  const entries = Array.isArray(body.data) ? body.data : [];
  return cel.map(
    entries.map((entry: unknown, i) => [
      text(entry, "key"),
      cel.call("dyn", placed(["data", i], () => template(member(entry, "value"), scope)).cel),
    ]),
  );
}

/** A call of a service: a status that is not 200 to 299 is an error. */
function serviceCall(service: JsonObject, body: JsonObject, scope: Scope): Value {
  if (scope.namespace !== undefined)
    throw new NotConverted([], "calls of services are allowed in ClusterPolicies only");
  const url = placed(["url"], () => joined(partsOf(text(service, "url"), scope)).cel);
  const bundle = text(service, "caBundle");
  const client = bundle === "" ? cel.primary("http") : cel.call("http.Client", cel.literal(bundle));
  const given = Array.isArray(service.headers) ? service.headers : [];
  const headers = given.map(
    (header: unknown) => [text(header, "key"), joined(partsOf(text(header, "value"), scope)).cel] as const,
  );
  const isPost = text(body, "method") === "POST";
  const args = [url, ...(isPost ? [postData(body, scope)] : []), ...(headers.length === 0 ? [] : [cel.map(headers)])];
  const call = cel.method(client, isPost ? "Post" : "Get", ...args);
  const isFine = cel.relation("<", cel.primary("r.statusCode"), cel.literal(300));
  const answer = cel.item(cel.loop(cel.list([call]), "filter", "r", isFine), 0);
  // An answer that is not an object stands in `body`.
  const isObjectWanted = /^\s*["\w]/.test(text(body, "jmesPath")) || text(body, "jmesPath") === "";
  return known(isObjectWanted ? answer : cel.member(answer, "body"), "dyn", { fails: true, trusted: true });
}
