/**
 * The types of a request that the module requires: it decodes the request into Go types before it runs rules. Raw reviews have not been
 * checked before. Messages are those of Go's JSON reader.
 */
import type { Value } from "../../cel/index.js";

/** Named fields, with the name of their type. */
interface Named {
  readonly type: string;
  readonly fields: Readonly<Record<string, GoType>>;
}

/** A type: of Go's own, a list of texts, or named fields. */
type GoType = "string" | "bool" | "[]string" | Named;

const named = (type: string): GoType => ({ type, fields: { group: "string", version: "string", kind: "string" } });
/** The known fields, by names in lower case; other fields may have any type. */
const REQUEST: Named = {
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
/** Names that are in none of Go's types, but are passed to rules. */
const ANY = ["object", "oldobject"];
/** Letters of the longest name of a field. */
const LONGEST_NAME = "requestSubResource".length;
/** Go's spelling of field names that are not all in lower case. */
const SPELLINGS: ReadonlyMap<string, string> = new Map(
  ["subResource", "requestKind", "requestResource", "requestSubResource", "userInfo", "dryRun"].map((name) => [
    name.toLowerCase(),
    name,
  ]),
);

/** A member of a map that Go has a field for, and that field's name in lower case: Go takes names in any letter case. */
type Member = readonly [name: string, value: unknown];

/** The members of a request that Go has fields for, in its order. */
export function requestMembers(request: unknown): readonly Member[] {
  return isMap(request) ? membersOf(request, (name) => Object.hasOwn(REQUEST.fields, name) || ANY.includes(name)) : [];
}

/** The members with known names: there may be a hundred thousand others. */
function membersOf(map: Readonly<Record<string, unknown>>, isKnown: (name: string) => boolean): readonly Member[] {
  const members: Member[] = [];
  for (const key of Object.keys(map)) {
    if (key.length > LONGEST_NAME) continue;
    const name = key.toLowerCase();
    if (isKnown(name)) members.push([name, map[key]]);
  }
  return members;
}

/**
 * The first value of a request that does not fit, as `<kind> into Go <place> of type <type>`.
 * @param members of it
 * @returns undefined when all fit
 */
export function requestMistake(request: unknown, members: readonly Member[]): string | undefined {
  if (request === null) return undefined;
  return isMap(request) ? mistakeAmong(members, REQUEST, "") : notA(REQUEST, request, "value");
}

/** The values of a request that rules get; of several with the same name Go takes the last. */
export function ruleValues(members: readonly Member[]): { readonly object?: Value; readonly oldObject?: Value } {
  const found: { object?: Value; oldObject?: Value } = {};
  for (const [name, value] of members) {
    if (name === "object") found.object = value as Value;
    if (name === "oldobject") found.oldObject = value as Value;
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

/** The mistake in a value; null is valid for every type. */
function mistakeIn(value: unknown, type: GoType, place: string, path: string): string | undefined {
  if (value === null) return undefined;
  if (typeof type === "string") {
    if (type === "[]string" && Array.isArray(value))
      return first(value, (item) => mistakeIn(item, "string", place, path));
    return goKind(value) === type ? undefined : `${goKind(value)} into Go ${place} of type ${type}`;
  }
  if (!isMap(value)) return notA(type, value, place);
  return mistakeAmong(
    membersOf(value, (name) => Object.hasOwn(type.fields, name)),
    type,
    path,
  );
}

const notA = ({ type }: Named, value: unknown, place: string): string =>
  `${goKind(value)} into Go ${place} of type protocol.${type}`;

function mistakeAmong(members: readonly Member[], { type, fields }: Named, path: string): string | undefined {
  return first(members, ([name, value]) => {
    const field = fields[name];
    const inner = `${path}${SPELLINGS.get(name) ?? name}`;
    return field && mistakeIn(value, field, `struct field ${type}.${inner}`, `${inner}.`);
  });
}

function first<T>(items: readonly T[], mistake: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = mistake(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
