/**
 * Objects by their resource, as expressions name them: reading, listing and creating, each time anew (spec kyverno.md 4.5). What policies are matched by
 * (Namespaces, parameters) has a source of its own with caches, `resources/`.
 */
import type { GroupVersionResource } from "../../kubernetes/names.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { Eventual } from "../eventual.js";
import { type Lookup, LookupFailure } from "../resources/resource-source.js";

/** Where objects are. */
export interface ObjectPlace {
  /** `v1` or `group/version`. */
  readonly apiVersion: string;
  /** The plural, with a subresource behind a slash: `pods`, `pods/log`. */
  readonly resource: string;
  /** `""`: cluster-scoped, or all namespaces. */
  readonly namespace: string;
}

/** Labels that an object must have. */
export type EqualLabels = Readonly<Record<string, string>>;

/** The reference crashes on this question: its words are the whole message. */
export class Crash extends LookupFailure {}

/** Who may be asked for objects. */
export interface ObjectSource {
  /** One object; `undefined` when it does not exist. */
  get(place: ObjectPlace, name: string): Eventual<Lookup<JsonObject>>;
  /** A list: an object with `items`. */
  list(place: ObjectPlace, labels: EqualLabels): Eventual<JsonObject | LookupFailure>;
  /** The created object. Never put twice for one question, and never repeated. */
  create(place: ObjectPlace, object: JsonObject): Eventual<JsonObject | LookupFailure>;
  /** The resource of a kind. */
  resourceOf(apiVersion: string, kind: string): Eventual<GroupVersionResource | LookupFailure>;
}
