/** One reading of a registry for questions that come together: several attestors of an image read the same. */
import { LRUCache } from "lru-cache";
import { FetchError } from "./fetch-error.js";
import type { ImageReference } from "./image-reference.js";
import type { Descriptor, Manifest, Registry } from "./registry.js";
import { MAX_REFERRER_LISTS } from "./signatures/bundle.js";

/** How long a reading is shared, in milliseconds. */
const SHARED_MS = 2_000;
/** Most readings that are shared, and bytes of them, about. */
const MAX_SHARED = 500;
const MAX_SHARED_BYTES = 4 * 1024 * 1024;
/** Memory of a parsed manifest, in bytes for each of its text. */
const PARSED_BYTES = 4;
/** Memory of a listed artifact, in bytes, about. */
const LISTED_BYTES = 1_000;

/** A registry whose readings are shared for a moment. Failures are not, except that something is not there. */
export class SharedReads implements Registry {
  readonly #registry: Registry;
  readonly #reads = new LRUCache<string, Promise<unknown>>({
    max: MAX_SHARED,
    maxSize: MAX_SHARED_BYTES,
    ttl: SHARED_MS,
    ttlAutopurge: true,
  });

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  manifest(image: ImageReference, signal: AbortSignal, maxBytes?: number): Promise<Manifest> {
    return this.#shared(
      `manifest ${image.host}/${image.repository} ${image.digest ?? image.tag} ${maxBytes}`,
      () => this.#registry.manifest(image, signal, maxBytes),
      ({ bytes }) => PARSED_BYTES * bytes.length,
    );
  }

  blob(...[image, descriptor, most, signal, into]: Parameters<Registry["blob"]>): Promise<Buffer> {
    const read = () => this.#registry.blob(image, descriptor, most, signal, into);
    if (into !== undefined) return read();
    const { digest, size } = descriptor;
    return this.#shared(
      `blob ${image.host}/${image.repository} ${digest} ${size} ${most}`,
      read,
      (bytes) => bytes.length,
    );
  }

  async *referrers(image: ImageReference, digest: string, signal: AbortSignal): AsyncGenerator<readonly Descriptor[]> {
    // All lists are one reading: if one of them could be forgotten, the next reader would miss it.
    yield* await this.#shared(
      `referrers ${image.host}/${image.repository} ${digest}`,
      async () => {
        const lists: (readonly Descriptor[])[] = [];
        // One more than readers accept: it may be a registry that never ends.
        for await (const list of this.#registry.referrers(image, digest, signal))
          if (lists.push(list) > MAX_REFERRER_LISTS) break;
        return lists;
      },
      (lists) => LISTED_BYTES * lists.flat().length,
    );
  }

  #shared<T>(key: string, read: () => Promise<T>, sizeOf: (found: T) => number): Promise<T> {
    const known = this.#reads.get(key) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const reading = read();
    this.#reads.set(key, reading, { size: 1 });
    const isKept = () => this.#reads.peek(key) === reading;
    reading.then(
      (found) => {
        if (isKept()) this.#reads.set(key, reading, { size: 1 + sizeOf(found), noUpdateTTL: true });
      },
      (error: unknown) => {
        if (isKept() && !(error instanceof FetchError && error.status === 404)) this.#reads.delete(key);
      },
    );
    return reading;
  }
}
