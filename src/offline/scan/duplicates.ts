/** Resources that come twice: the first one counts (spec kyverno.md 8.2). */
import { hash, randomBytes } from "node:crypto";
import { parseApiVersion } from "../../kubernetes/names.js";
import type { ReportedResource } from "../reports/finding.js";

/** Places for fingerprints at the beginning; a power of two. */
const FIRST_PLACES = 1 << 12;
/**
 * Resources that are remembered: 4 million take 64 MiB. Of those beyond that nobody knows whether they came before, and all of them are looked at.
 */
const MAX_REMEMBERED = 1 << 22;

/**
 * Remembers resources by fingerprints of 64 bits, made with a salt that nobody knows: two resources with one fingerprint can't be made on purpose, and don't
 * happen (one in a million runs over a million resources would have some).
 */
export class Duplicates {
  readonly #salt = randomBytes(16).toString("hex");
  #places = new Uint32Array(2 * FIRST_PLACES);
  #count = 0;

  /** Whether the resource came before; from now on it did. Those that don't say who they are come once. */
  seen({ apiVersion, kind, namespace, name }: ReportedResource): boolean {
    if (name === "" || this.#count >= MAX_REMEMBERED) return false;
    const group = parseApiVersion(apiVersion)?.group ?? apiVersion;
    const digest = hash("sha256", JSON.stringify([this.#salt, group, kind, namespace, name]), "buffer");
    const [high, low] = [digest.readUInt32LE(0) | 1, digest.readUInt32LE(4)];
    if (!this.#add(this.#places, high >>> 0, low)) return true;
    if (++this.#count * 4 > this.#places.length) this.#grow();
    return false;
  }

  /** False when it is there already. The first half is never 0, which marks places that are free. */
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
