/** One reading of a registry for questions that come together: several attestors of an image read the same. */
import { LRUCache } from "lru-cache";
import { FetchError } from "./fetch-error.js";
import type { ImageReference } from "./image-reference.js";
import type { Descriptor, Manifest, Registry } from "./registry.js";

/** How long a reading is shared, in milliseconds. */
const SHARED_MS = 2_000;
/** Most readings that are shared, and bytes of them, about. */
const MAX_SHARED = 500;
const MAX_SHARED_BYTES = 4 * 1024 * 1024;
/** Memory of a parsed manifest, in bytes for each of its text. */
const PARSED_BYTES = 4;
/** Memory of a listed artifact, in bytes, about. */
const LISTED_BYTES = 1_000;

/** The lists of what refers to an artifact, as far as they were read. */
interface Lists {
  readonly rest: AsyncIterator<readonly Descriptor[]>;
  readonly read: Promise<IteratorResult<readonly Descriptor[], undefined>>[];
}

/** A registry whose readings are shared for a moment. Failures are not, except that something is not there. */
export class SharedReads implements Registry {
  readonly #registry: Registry;
  readonly #reads = new LRUCache<string, object>({
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
    const key = `referrers ${image.host}/${image.repository} ${digest}`;
    let all = this.#reads.get(key) as Lists | undefined;
    if (all === undefined) {
      all = { rest: this.#registry.referrers(image, digest, signal)[Symbol.asyncIterator](), read: [] };
      this.#reads.set(key, all, { size: 1 });
    }
    // All lists are one entry: if one of them could be forgotten, the next reader would miss it.
    for (let index = 0; ; index++) {
      all.read[index] ??= this.#kept(key, all, all.rest.next(), ({ value }) => LISTED_BYTES * (value?.length ?? 0));
      const list = await all.read[index]!;
      if (list.done === true) return;
      yield list.value;
    }
  }

  #shared<T>(key: string, read: () => Promise<T>, sizeOf: (found: T) => number): Promise<T> {
    const known = this.#reads.get(key) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const reading = read();
    this.#reads.set(key, reading, { size: 1 });
    return this.#kept(key, reading, reading, sizeOf);
  }

  /** Counts what arrives for an entry, and forgets the entry of a failure. */
  #kept<T>(key: string, entry: object, reading: Promise<T>, sizeOf: (found: T) => number): Promise<T> {
    const isEntry = () => this.#reads.peek(key) === entry;
    reading.then(
      (found) => {
        const size = (this.#reads.info(key)?.size ?? 0) + sizeOf(found);
        if (isEntry()) this.#reads.set(key, entry, { size, noUpdateTTL: true });
      },
      (error: unknown) => {
        if (isEntry() && !(error instanceof FetchError && error.status === 404)) this.#reads.delete(key);
      },
    );
    return reading;
  }
}
