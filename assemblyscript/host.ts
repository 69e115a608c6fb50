// What a policy may ask of the server. It gets what its entry in policies.yaml grants: `hostCapabilities` (paths such as `kubernetes/get_resource`) and
// `contextAwareResources` (the kinds that it may read). A log line needs no grant.
import { Host, LogLevel, Memory } from "@extism/as-pdk";
import { JSON } from "json-as";
import { isPresent } from "./json";

// @ts-ignore: a decorator of the language of this file
@external("extism:host/user", "host_call")
declare function host_call(namespace: u64, operation: u64, payload: u64): u64;
// @ts-ignore: a decorator of the language of this file
@external("extism:host/env", "length")
declare function block_length(address: u64): u64;

/** What the server said: an answer, or why there is none. */
export class HostAnswer {
  constructor(
    /** Whether `text` is an answer. */
    readonly ok: bool,
    /** The answer as JSON text, or the reason. */
    readonly text: string,
  ) {}

  /** The answer; null where there is none. */
  get value(): JSON.Value | null {
    return this.ok ? JSON.parse<JSON.Value>(this.text) : null;
  }
}

/** Asks the server by path (`namespace/operation`) with a payload in JSON; docs/guests.md lists the paths. */
export function ask(namespace: string, operation: string, payload: string): HostAnswer {
  const address = host_call(
    Memory.allocateString(namespace).offset,
    Memory.allocateString(operation).offset,
    Memory.allocateString(payload).offset,
  );
  const bytes = new Memory(address, block_length(address)).toUint8Array();
  return new HostAnswer(bytes[0] == 1, String.UTF8.decode(bytes.slice(1).buffer));
}

/** An object of the cluster; `namespace` is empty for kinds that are in none. An object that is not there is an error. */
export function getResource(apiVersion: string, kind: string, namespace: string, name: string): HostAnswer {
  const place = namespace.length == 0 ? "null" : JSON.stringify(namespace);
  return ask(
    "kubernetes",
    "get_resource",
    `{"api_version":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},"namespace":${place},"name":${JSON.stringify(name)},"disable_cache":false}`,
  );
}

/** All objects of a kind, or those in a namespace when that is not empty; `labelSelector` may be empty. */
export function listResources(apiVersion: string, kind: string, namespace: string, labelSelector: string): HostAnswer {
  const selector = labelSelector.length == 0 ? "null" : JSON.stringify(labelSelector);
  const asked = `"api_version":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},"label_selector":${selector},"field_selector":null`;
  if (namespace.length == 0) return ask("kubernetes", "list_resources_all", `{${asked}}`);
  return ask("kubernetes", "list_resources_by_namespace", `{${asked},"namespace":${JSON.stringify(namespace)}}`);
}

/** Writes a line into the server's log, which also says the policy and the request. */
export function log(message: string): void {
  Host.log(LogLevel.Info, message);
}

/** Whether an answer holds anything. */
export function found(answer: HostAnswer): bool {
  return answer.ok && isPresent(answer.value);
}
