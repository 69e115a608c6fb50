// The way in and out of a policy: reading the payload, writing the answer. The payloads are Kubewarden's, so a policy written with this
// file answers as a Kubewarden policy would.
import { Host } from "@extism/as-pdk";
import { JSON } from "json-as";
import { member } from "./json";

/** What is said beside the next answer. An instance answers once. */
const warnings: string[] = [];
const annotations = new Map<string, string>();

/** What `validate` is asked: `{"request": …, "settings": {…}}`; what `validate_settings` is asked: the settings. */
export function payload(): JSON.Value {
  return JSON.parse<JSON.Value>(Host.inputString());
}

/** The admission request in the payload of `validate`, or any JSON where the policy is asked by `/validate_raw`. */
export function requestOf(asked: JSON.Value): JSON.Value | null {
  return member(asked, "request");
}

/** The object that is to be stored; null where there is none, as when something is deleted. */
export function objectOf(asked: JSON.Value): JSON.Value | null {
  return member(requestOf(asked), "object");
}

/** The settings in the payload of `validate`. */
export function settingsOf(asked: JSON.Value): JSON.Value | null {
  return member(asked, "settings");
}

/** The members of an object as JSON text each, nothing interpreted: what is not touched is passed on letter by letter. */
export function members(text: string): Map<string, JSON.Raw> {
  return JSON.parse<Map<string, JSON.Raw>>(text);
}

/** Adds a warning, which the user sees whatever the answer is. */
export function warn(message: string): void {
  warnings.push(message);
}

/** Adds an annotation to the cluster's audit log. */
export function annotate(key: string, value: string): void {
  annotations.set(key, value);
}

/** Lets the request pass. */
export function accept(): i32 {
  return answer(`{"accepted":true${notes()}}`);
}

/** Says no, with a message for the user and a code such as 403. */
export function reject(message: string, code: i32): i32 {
  return answer(`{"accepted":false,"message":${JSON.stringify(message)},"code":${code}${notes()}}`);
}

/** Lets the request pass with another object, given as JSON text. */
export function mutate(object: string): i32 {
  return answer(`{"accepted":true,"mutated_object":${object}${notes()}}`);
}

/** The settings are as they should be. */
export function settingsValid(): i32 {
  return answer('{"valid":true}');
}

/** The settings can't be used, and why. */
export function settingsInvalid(message: string): i32 {
  return answer(`{"valid":false,"message":${JSON.stringify(message)}}`);
}

function notes(): string {
  let text = warnings.length == 0 ? "" : `,"warnings":${JSON.stringify(warnings)}`;
  if (annotations.size > 0) text += `,"audit_annotations":${JSON.stringify(annotations)}`;
  return text;
}

/** Bytes, not the PDK's outputString: that one counts UTF-16 units and cuts a text that is not plain ASCII. */
function answer(text: string): i32 {
  Host.output(Uint8Array.wrap(String.UTF8.encode(text)));
  return 0;
}
