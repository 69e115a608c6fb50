import { asStructStrictly, structOfObject } from "../../kubernetes/go-types/as-struct.js";
import { apiVersionOf, type GroupVersionKind } from "../../kubernetes/names.js";
import { isObject, type JsonObject, text } from "../../kubernetes/object.js";
import { PatchMemory } from "../../kubernetes/patch-memory.js";
import type { RequestWorld } from "../../world/request-world.js";
import type { LookupFailure } from "../../world/resources/resource-source.js";
import { connectOptions } from "../admission-policy/request-inputs.js";

/**
 * Converts objects from one kind to another, and keeps the results as long as the request lasts (disposable): repeated attempts see
 * one object.
 */
export class Conversions {
  /** The patched parts of the objects. */
  readonly memory = new PatchMemory();
  readonly #world: RequestWorld;
  readonly #known = new WeakMap<object, Map<string, unknown>>();

  #made = 0;

  constructor(world: RequestWorld) {
    this.#world = world;
  }

  /** Number of conversions made, by all attempts together. */
  get made(): number {
    return this.#made;
  }

  /** An object of one kind as another. */
  to(object: JsonObject, from: GroupVersionKind, to: GroupVersionKind): JsonObject | LookupFailure {
    const labelled = this.#labelled(object, from);
    return this.#once(labelled, `to ${nameOf(to)}`, () => this.#world.convert(labelled, to));
  }

  /** The options of a connect request, in the form of Go's type. */
  connected(object: JsonObject, operation: string): JsonObject | LookupFailure {
    return this.#once(object, `for ${operation}`, () => connectOptions(object, operation));
  }

  /**
   * The object as the struct of its kind keeps it.
   * @returns undefined where no struct is known, or the object does not fit it: members that the struct does not have must not get lost
   */
  shaped(object: unknown): JsonObject | undefined {
    if (!isObject(object)) return undefined;
    return this.#once(object, "as struct", () => {
      const type = structOfObject(object);
      const shaped = type && asStructStrictly(object, type, this.memory);
      return shaped?.ok === true ? shaped.object : undefined;
    });
  }

  /** The object with the name of a kind: after a policy's change it is still of the requested kind, even if it names another one. */
  #labelled(object: JsonObject, kind: GroupVersionKind): JsonObject {
    const apiVersion = apiVersionOf(kind);
    if (text(object, "apiVersion") === apiVersion && text(object, "kind") === kind.kind) return object;
    return this.#once(object, `as ${nameOf(kind)}`, () => ({ ...object, apiVersion, kind: kind.kind }));
  }

  #once<T>(object: object, what: string, make: () => T): T {
    const known = this.#known.get(object) ?? new Map<string, unknown>();
    this.#known.set(object, known);
    if (!known.has(what)) {
      known.set(what, make());
      this.#made++;
    }
    return known.get(what) as T;
  }
}

const nameOf = (kind: GroupVersionKind): string => `${apiVersionOf(kind)} ${kind.kind}`;
