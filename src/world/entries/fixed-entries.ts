import { quote } from "../../data/go/quote.js";
import { isObject, member } from "../../kubernetes/object.js";
import { type Lookup, LookupFailure } from "../resources/resource-source.js";
import type { EntrySource } from "./entry-source.js";

/** Entries that a test defines; without any, no name has an entry (spec kyverno.md 4.7 and 8.6). */
export class FixedEntries implements EntrySource {
  readonly #entries: ReadonlyMap<string, unknown>;

  /** @param entries by name; the data of one with projections are their results by name */
  constructor(entries: ReadonlyMap<string, unknown> = new Map()) {
    this.#entries = entries;
  }

  get(name: string, projection: string): Lookup<unknown> {
    const data = this.#entries.get(name);
    if (!this.#entries.has(name) || projection === "") return data;
    const found = member(data, projection);
    if (found !== undefined) return found;
    const failure = `projection ${quote(projection, false)} not found in global context entry ${quote(name, false)}`;
    return new LookupFailure(isObject(data) ? failure : `${failure}: stored value is not an object`);
  }
}
