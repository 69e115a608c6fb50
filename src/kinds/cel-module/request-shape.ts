/**
 * What a request must look like for the module, which reads it into types of Go before any rule sees it. Of raw reviews nobody else has
 * looked at that. Messages are those of Go's JSON reader.
 */
import type { Value } from "../../cel/index.js";

/** A type: of Go's own, a list of texts, or named fields with the name of their type. */
type GoType =
  | "string"
  | "bool"
  | "[]string"
  | { readonly type: string; readonly fields: Readonly<Record<string, GoType>> };

const named = (type: string): GoType => ({ type, fields: { group: "string", version: "string", kind: "string" } });
/** Fields that are not here may be anything. Names are in lower case. */
const REQUEST: GoType = {
  type: "KubernetesAdmissionRequest",
  fields: {
    uid: "string",
    kind: named("GroupVersionKind"),
    resource: named("GroupVersionResource"),
    subresource: "string",
    requestkind: named("GroupVersionKind"),
    requestresource: named("GroupVersionKind"),
    requestsubresource: "string",
    name: "string",
    namespace: "string",
    operation: "string",
    userinfo: { type: "UserInfo", fields: { username: "string", groups: "[]string" } },
    dryrun: "bool",
  },
};
/** How Go's types write the fields whose names are not all in lower case. */
const SPELLINGS: ReadonlyMap<string, string> = new Map(
  ["subResource", "requestKind", "requestResource", "requestSubResource", "userInfo", "dryRun"].map((name) => [
    name.toLowerCase(),
    name,
  ]),
);

/**
 * The first value of a request that does not fit, as `<kind> into Go <place> of type <type>`.
 * @returns undefined when all fit
 */
export function requestMistake(request: unknown): string | undefined {
  return mistakeIn(request, REQUEST, "value", "");
}

/** The fields of a request that rules are given; Go takes names in any letter case, and of several the last. */
export function fieldsInAnyCase(request: Value): { readonly object?: Value; readonly oldObject?: Value } {
  const found: { object?: Value; oldObject?: Value } = {};
  for (const [key, value] of Object.entries<Value>(isMap(request) ? (request as Record<string, Value>) : {})) {
    if (key.toLowerCase() === "object") found.object = value;
    if (key.toLowerCase() === "oldobject") found.oldObject = value;
  }
  return found;
}

/** Whether a JSON value is an object. */
export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Number);
}

/** The word of Go's JSON reader for a kind of value. */
export function goKind(value: unknown): string {
  if (isMap(value)) return "object";
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value === "string" ? "string" : "number";
}

/** Null fits everything. */
function mistakeIn(value: unknown, type: GoType, place: string, path: string): string | undefined {
  if (value === null) return undefined;
  if (typeof type === "string") {
    if (type === "[]string" && Array.isArray(value))
      return first(value, (item) => mistakeIn(item, "string", place, path));
    return goKind(value) === type ? undefined : `${goKind(value)} into Go ${place} of type ${type}`;
  }
  if (!isMap(value)) return `${goKind(value)} into Go ${place} of type protocol.${type.type}`;
  return first(Object.entries(value), ([key, member]) => {
    const name = key.toLowerCase();
    const field = Object.hasOwn(type.fields, name) ? type.fields[name] : undefined;
    const inner = `${path}${SPELLINGS.get(name) ?? name}`;
    return field && mistakeIn(member, field, `struct field ${type.type}.${inner}`, `${inner}.`);
  });
}

function first<T>(items: readonly T[], mistake: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = mistake(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
