/** Detects duplicate resources: the first one counts (spec kyverno.md 8.2). */
import { hash, randomBytes } from "node:crypto";
import { sameValue } from "../../data/same-value.js";
import { parseApiVersion } from "../../kubernetes/names.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { ReportedResource } from "../reports/finding.js";
import { KnownKinds } from "./known-kinds.js";
import { judged, readResources } from "./resource.js";
import type { Batch } from "./split/batch.js";

/** First number of places for fingerprints; a power of two. */
const FIRST_PLACES = 1 << 12;
/** Most resources that are remembered: 4 million take 64 MiB. Further ones are not checked for duplicates, and all of them are evaluated. */
const MAX_REMEMBERED = 1 << 22;

type Named = Pick<ReportedResource, "apiVersion" | "kind" | "namespace" | "name">;

/** The identity of a resource: the same in every version of its API group. */
export const identityOf = ({ apiVersion, kind, namespace, name }: Named): string =>
  JSON.stringify([parseApiVersion(apiVersion)?.group ?? apiVersion, kind, namespace, name]);

/**
 * Says which of the resources that came again have another content than before: only their first one was judged. The files are read once more for it.
 * @param repeated their identities
 */
export async function otherContents(
  batches: AsyncIterable<Batch>,
  repeated: ReadonlySet<string>,
  definitions: readonly JsonObject[],
): Promise<readonly string[]> {
  const firsts = new Map<string, { readonly object: unknown; readonly file: string }>();
  const differing = new Map<string, string>();
  if (repeated.size === 0) return [];
  const kinds = new KnownKinds(definitions);
  for await (const batch of batches) {
    for (const { object, ...resource } of judged(readResources(batch, kinds))) {
      const identity = identityOf(resource);
      const first = firsts.get(identity);
      if (!repeated.has(identity)) continue;
      if (first === undefined) firsts.set(identity, { object, file: batch.file });
      else if (!differing.has(identity) && !sameValue(first.object, object)) {
        const where = first.file === batch.file ? `in ${batch.file}` : `in ${first.file} and ${batch.file}`;
        const whom = [resource.namespace, resource.name].filter((part) => part !== "").join("/");
        differing.set(
          identity,
          `${resource.kind} ${whom} stands twice with other contents ${where}: only the first is judged`,
        );
      }
    }
  }
  return [...differing.values()];
}

/**
 * Remembers resources by fingerprints of 64 bits, made with a secret salt: two resources with one fingerprint can't be made on purpose, and are
 * unlikely (one in a million runs over a million resources would have some).
 */
export class Duplicates {
  readonly #salt = randomBytes(16).toString("hex");
  #places = new Uint32Array(2 * FIRST_PLACES);
  #count = 0;

  /** Whether the resource was seen before; notes it. Resources without an identity are never duplicates. */
  seen({ apiVersion, kind, namespace, name }: ReportedResource): boolean {
    if (name === "" || this.#count >= MAX_REMEMBERED) return false;
    const digest = hash("sha256", this.#salt + identityOf({ apiVersion, kind, namespace, name }), "buffer");
    const [high, low] = [digest.readUInt32LE(0) | 1, digest.readUInt32LE(4)];
    if (!this.#add(this.#places, high >>> 0, low)) return true;
    if (++this.#count * 4 > this.#places.length) this.#grow();
    return false;
  }

  /** Adds a fingerprint; false when it is present already. The first half is never 0, which marks places that are free. */
  #add(places: Uint32Array, high: number, low: number): boolean {
    const mask = places.length / 2 - 1;
    for (let at = low & mask; ; at = (at + 1) & mask) {
      if (places[2 * at] === 0) {
        places[2 * at] = high;
        places[2 * at + 1] = low;
        return true;
      }
      if (places[2 * at] === high && places[2 * at + 1] === low) return false;
    }
  }

  #grow(): void {
    const larger = new Uint32Array(2 * this.#places.length);
    for (let at = 0; at < this.#places.length; at += 2) {
      const high = this.#places[at] ?? 0;
      if (high !== 0) this.#add(larger, high, this.#places[at + 1] ?? 0);
    }
    this.#places = larger;
  }
}
