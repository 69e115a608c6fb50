/** The names that queries begin with: `request`, `images`, `element`, context variables, ... */

import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { NotConverted } from "../not-converted.js";
import { podShape } from "../pattern/shape.js";
import type { Scope } from "../scope.js";
import { imagesOf } from "./images.js";
import { constant, known, memberOf, type Value } from "./value.js";

/** The whole context as a value: its members are the names. @param isWhole whether `request.object` is never the Pod in it */
export function rootOf(scope: Scope, isWhole = false): Value {
  const whole = (): Scope => ({ ...scope, roots: { object: scope.roots.object, oldObject: scope.roots.oldObject } });
  return named(cel.primary("request"), (name) => root(name, isWhole ? whole() : scope));
}

/** A map of which the names of the members must be known. */
const named = (whole: Cel, member: (name: string) => Value): Value =>
  known(whole, "map", {
    member,
    memberBy: () => {
      throw new NotConverted([], "a variable that is the name of a variable is not converted: write its name");
    },
  });

const text = (source: string): Value => known(cel.primary(source), "string");

function root(name: string, scope: Scope): Value {
  const own = scope.names.get(name);
  if (own !== undefined) return typeof own === "function" ? own() : own;
  switch (name) {
    case "request":
      return named(cel.primary("request"), (key) => requestMember(key, scope));
    case "images":
      return imagesOf(scope);
    case "":
    case "false":
    case "null":
    case "true":
      return constant(null);
    case "serviceAccountName":
      return text("parseServiceAccount(request.userInfo.username).Name");
    case "serviceAccountNamespace":
      return text("parseServiceAccount(request.userInfo.username).Namespace");
    case "target":
      throw new NotConverted([], "target, an object that exists already, is not converted");
    default:
      throw new NotConverted([], `${JSON.stringify(name)} is neither a name of Kyverno's nor of the context`);
  }
}

const TYPES = ["kind", "requestKind", "resource", "requestResource"];

function requestMember(key: string, scope: Scope): Value {
  const whole = cel.primary(`request.${key}`);
  switch (key) {
    case "object":
      return objectValue(scope.roots.object, scope.roots.pod?.object, scope);
    case "oldObject":
      return objectValue(scope.roots.oldObject, scope.roots.pod?.oldObject, scope, true);
    case "operation":
    case "name":
    case "namespace":
    case "subResource":
    case "requestSubResource":
      return known(whole, "string", key === "operation" ? { truth: cel.TRUE } : {});
    case "dryRun":
      return known(whole, "bool");
    case "options":
      return known(whole);
    case "userInfo":
      return named(whole, (name) => userMember(name, whole, scope));
    case "roles":
    case "clusterRoles":
      throw new NotConverted(
        [],
        `request.${key} is not converted, as CEL doesn't know a user's roles: compare request.userInfo.groups or username`,
      );
    default:
      if (!TYPES.includes(key)) throw new NotConverted([], `request.${key} has no counterpart in CEL`);
      return named(whole, (name) => {
        const isKnown = ["group", "version", /kind/i.test(key) ? "kind" : "resource"].includes(name);
        return isKnown ? known(cel.member(whole, name), "string") : constant(null);
      });
  }
}

function userMember(name: string, user: Cel, scope: Scope): Value {
  if (name === "username" || name === "uid") return known(cel.member(user, name), "string");
  if (name === "groups")
    return known(cel.member(user, name), "list", { items: { type: "string", nullable: false, fails: false } });
  return memberOf(known(user, "dyn"), name, scope);
}

const NAMES = new Set(["name", "namespace", "generateName", "uid", "resourceVersion", "creationTimestamp"]);

/** An object of the request. @param isOld whether it is the old one, which is not always there */
function objectValue(object: Cel, pod: Cel | undefined, scope: Scope, isOld = false): Value {
  const of = (key: string): Value => {
    const isPod = pod !== undefined && (key === "spec" || key === "metadata");
    const owner = isPod ? pod : object;
    const shape = isPod ? podShape() : scope.shape;
    const made = memberOf(known(owner, "dyn", shape && { shape }), key, scope);
    const isText = !isPod && (key === "kind" || key === "apiVersion");
    // Objects of built-in kinds have a spec, where their kind has one.
    const isSpec = key === "spec" && (isPod || made.shape !== undefined);
    const isThere = !isOld && (isText || isSpec || (!isPod && key === "metadata"));
    const more = made.shape && { shape: made.shape };
    if (key === "rules" && made.shape?.type === "list") return withoutNull(made);
    const whole = isThere ? known(cel.member(owner, key), isText ? "string" : "map", more) : made;
    return key === "metadata" ? { ...whole, member: (name) => metadataMember(whole, name, scope) } : whole;
  };
  return known(object, "map", { nullable: isOld, member: of });
}

/** A list that the API server writes as null where it is empty, as the rules of roles. */
function withoutNull({ present: _, ...list }: Value): Value {
  if (list.optional === undefined) return list;
  const optional = cel.call("optional.ofNonZeroValue", cel.orValue(list.optional, cel.NULL));
  return { ...list, optional, orEmpty: cel.orValue(optional, cel.list([])) };
}

/** A member of an object's metadata: names, labels and annotations are texts. */
export function metadataMember(metadata: Value, name: string, scope: Scope): Value {
  const made = memberOf(metadata, name, scope);
  if (NAMES.has(name)) return { ...made, type: "string" };
  if (name !== "labels" && name !== "annotations") return made;
  return { ...made, member: (key) => ({ ...memberOf(made, key, scope), type: "string" }) };
}
