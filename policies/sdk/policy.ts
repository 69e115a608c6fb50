// What every example policy shares: reading the payload, writing the answer. The payloads are Kubewarden's, so a policy written with this
// file answers as a Kubewarden policy would.
import { Host } from "@extism/as-pdk";
import { JSON } from "json-as";

/** What `validate` is asked: `{"request": …, "settings": {…}}`. */
export function payload(): JSON.Value {
  return JSON.parse<JSON.Value>(Host.inputString());
}

/** The members of an object as JSON text each, nothing interpreted: what is not touched is passed on letter by letter. */
export function members(text: string): Map<string, JSON.Raw> {
  return JSON.parse<Map<string, JSON.Raw>>(text);
}

/** Lets the request pass. */
export function accept(): i32 {
  return answer('{"accepted":true}');
}

/** Says no, with a message for the user and a code such as 403. */
export function reject(message: string, code: i32): i32 {
  return answer(`{"accepted":false,"message":${JSON.stringify(message)},"code":${code}}`);
}

/** Lets the request pass with another object, given as JSON text. */
export function mutate(object: string): i32 {
  return answer(`{"accepted":true,"mutated_object":${object}}`);
}

/** The settings are as they should be. */
export function settingsValid(): i32 {
  return answer('{"valid":true}');
}

/** The settings can't be used, and why. */
export function settingsInvalid(message: string): i32 {
  return answer(`{"valid":false,"message":${JSON.stringify(message)}}`);
}

/** Bytes, not the PDK's outputString: that one counts UTF-16 units and cuts a text that is not plain ASCII. */
function answer(text: string): i32 {
  Host.output(Uint8Array.wrap(String.UTF8.encode(text)));
  return 0;
}
