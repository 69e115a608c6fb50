/** The server's decoding errors for the object that a patch leaves. */

import { numberText } from "./json-text.js";
import { isObject } from "./node.js";

// JSON as Go writes it: members in the order of their names, characters of HTML escaped.

const HTML = /[<>&\u2028\u2029]/g;

/** The text of a value; only for errors of an object, which are rare. */
function goJson(value: unknown): string {
  if (typeof value === "string") return text(value);
  if (Array.isArray(value)) return `[${value.map(goJson).join(",")}]`;
  if (!isObject(value)) return value === null || typeof value === "boolean" ? String(value) : numberText(value);
  const keys = Object.keys(value).sort(compareUtf8);
  return `{${keys.map((key) => `${text(key)}:${goJson(value[key])}`).join(",")}}`;
}

/** The order of the bytes of UTF-8. */
const compareUtf8 = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const text = (value: string): string =>
  JSON.stringify(value).replace(HTML, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

const TARGET =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** The error of a result that is not an object of Kubernetes. */
export interface OutcomeError {
  readonly message: string;
  /** Whether only its kind is missing. */
  readonly withoutKind: boolean;
}

/** The error of a result; `undefined` for an object of Kubernetes. */
export function outcomeError(value: unknown): OutcomeError | undefined {
  if (value === null) return missingKind(value);
  if (!isObject(value)) return unread(`cannot unmarshal array into Go value of type ${TARGET}`);
  const apiVersion = memberOf(value, "apiVersion");
  const kind = memberOf(value, "kind");
  for (const [name, member] of [["apiVersion", apiVersion] as const, ["kind", kind] as const]) {
    if (member !== undefined && member !== null && typeof member !== "string") {
      return unread(`cannot unmarshal ${goKind(member)} into Go struct field .${name} of type string`);
    }
  }
  if (typeof apiVersion === "string" && apiVersion.split("/").length > 2) {
    return { message: `unexpected GroupVersion string: ${apiVersion}`, withoutKind: false };
  }
  return typeof kind === "string" && kind !== "" ? undefined : missingKind(value);
}

const unread = (problem: string): OutcomeError => ({
  message: `couldn't get version/kind; json parse error: json: ${problem}`,
  withoutKind: false,
});

const missingKind = (value: unknown): OutcomeError => ({
  message: `Object 'Kind' is missing in '${goJson(value)}'`,
  withoutKind: true,
});

const memberOf = (object: { readonly [key: string]: unknown }, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;

function goKind(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (isObject(value)) return "object";
  return typeof value === "boolean" ? "bool" : "number";
}
