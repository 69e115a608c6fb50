import { compareNames, type GroupVersionResource } from "../../kubernetes/names.js";
import { type JsonObject, member, nameOf, namespaceOf } from "../../kubernetes/object.js";
import { andThen, type Eventual } from "../eventual.js";
import { type Lookup, LookupFailure } from "../resources/resource-source.js";
import type { MemoryObjects } from "./memory-objects.js";
import type { EqualLabels, ObjectPlace, ObjectSource } from "./object-source.js";

/**
 * Documents in front of a cluster: they take precedence over the cluster's objects, and are added to them. Others are looked up in the cluster: without
 * one they are not known, so that they do not count as absent there (spec kyverno.md 4.5).
 */
export class LayeredObjects implements ObjectSource {
  readonly #front: MemoryObjects;
  readonly #back: ObjectSource;

  constructor(front: MemoryObjects, back: ObjectSource) {
    this.#front = front;
    this.#back = back;
  }

  get(place: ObjectPlace, name: string): Eventual<Lookup<JsonObject>> {
    const brought = this.#front.get(place, name);
    return brought === undefined ? this.#back.get(place, name) : brought;
  }

  /** A list. Only the source behind knows whether documents are all objects of a resource. */
  list(place: ObjectPlace, labels: EqualLabels): Eventual<JsonObject | LookupFailure> {
    if (!this.#front.has(place)) return this.#back.list(place, labels);
    const front = this.#front.list(place, labels);
    if (front instanceof LookupFailure) return front;
    const all = this.#front.list({ ...place, namespace: "" }, {});
    return andThen(this.#back.list(place, labels), (back) =>
      back instanceof LookupFailure || all instanceof LookupFailure ? back : both(front, all, back),
    );
  }

  /** Creates an object in the cluster. */
  create(place: ObjectPlace, object: JsonObject): Eventual<JsonObject | LookupFailure> {
    return this.#back.create(place, object);
  }

  resourceOf(apiVersion: string, kind: string): Eventual<GroupVersionResource | LookupFailure> {
    const known = this.#front.resourceOf(apiVersion, kind);
    return known instanceof LookupFailure ? this.#back.resourceOf(apiVersion, kind) : known;
  }
}

/** Both lists. Documents replace objects of the same name, even if their own labels are not the wanted ones. */
function both(front: JsonObject, brought: JsonObject, back: JsonObject): JsonObject {
  const names = new Set(itemsOf(brought).map(keyOf));
  const items = [...itemsOf(front), ...itemsOf(back).filter((object) => !names.has(keyOf(object)))];
  return { ...back, items: items.sort((a, b) => compareNames(keyOf(a), keyOf(b))) };
}

const itemsOf = (list: JsonObject): readonly JsonObject[] => {
  const items = member(list, "items");
  return Array.isArray(items) ? items : [];
};

const keyOf = (object: JsonObject): string => `${namespaceOf(object)}/${nameOf(object)}`;
