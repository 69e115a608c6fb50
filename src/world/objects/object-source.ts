/**
 * A source of objects by their resource, as expressions name them: reading, listing and creating, each time anew (spec kyverno.md 4.5). The objects of
 * matching (Namespaces, parameters) have a source of their own with caches, `resources/`.
 */
import type { GroupVersionResource } from "../../kubernetes/names.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { Eventual } from "../eventual.js";
import { type Lookup, LookupFailure } from "../resources/resource-source.js";

/** The place of objects. */
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

/** The failure of a question at which the reference crashes: its words are the whole message. */
export class Crash extends LookupFailure {}

/** A source of objects. */
export interface ObjectSource {
  /** One object; `undefined` when it does not exist. */
  get(place: ObjectPlace, name: string): Eventual<Lookup<JsonObject>>;
  /** A list: an object with `items`. */
  list(place: ObjectPlace, labels: EqualLabels): Eventual<JsonObject | LookupFailure>;
  /** Creates an object, and answers it. Never put twice for one question, and never repeated. */
  create(place: ObjectPlace, object: JsonObject): Eventual<JsonObject | LookupFailure>;
  /** The resource of a kind. */
  resourceOf(apiVersion: string, kind: string): Eventual<GroupVersionResource | LookupFailure>;
}
