/** Data that is kept for all policies under a name (spec kyverno.md 4.5, `globalContext`). */
import type { Eventual } from "../eventual.js";
import type { Lookup } from "../resources/resource-source.js";

/** A source of entries. */
export interface EntrySource {
  /**
   * The data of an entry; `undefined` when there is no entry of that name.
   * @param projection the name of a projection of the data, or `""` for all of it
   */
  get(name: string, projection: string): Eventual<Lookup<unknown>>;
}
