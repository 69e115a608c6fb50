/**
 * Chooses the namespaces that are omitted where there is more of a kind than fits: those that have most. One author must not affect all others.
 */
import { ResourceError } from "../../kubernetes/client/errors.js";
import { MAX_DOCUMENTS, MAX_KIND_BYTES, MAX_NAMESPACE_BYTES, MAX_NAMESPACE_DOCUMENTS } from "./limits.js";

/** The size of objects. */
export interface Size {
  readonly count: number;
  /** Bytes in memory. */
  readonly bytes: number;
}

/** The limit for which a namespace is omitted: its own, or that of the kind. */
export type Limit = "namespace" | "kind";

/** The omitted namespaces, each with its limit. */
export type LeftOut = ReadonlyMap<string, Limit>;

const NOTHING: Size = { count: 0, bytes: 0 };
const sum = (one: Size, other: Size): Size => ({
  count: one.count + other.count,
  bytes: one.bytes + other.bytes,
});

/** Counts the objects of a kind by namespaces. Those without one are cluster administrators', and are never omitted. */
export class HeldSizes {
  readonly #kind: string;
  readonly #sizes = new Map<string, Size>();
  readonly #out: Map<string, Limit>;
  /** The size of all that is kept. */
  #held = NOTHING;

  /** @param out omitted from the beginning */
  constructor(kind: string, out: LeftOut = new Map()) {
    this.#kind = kind;
    this.#out = new Map(out);
  }

  /** The omitted namespaces. */
  get out(): LeftOut {
    return this.#out;
  }

  /** The namespaces that would be omitted if all sizes had been known beforehand. */
  get due(): LeftOut {
    const room = new HeldSizes(this.#kind);
    for (const [namespace, size] of this.#sizes) room.#sizes.set(namespace, size);
    for (const size of this.#sizes.values()) room.#held = sum(room.#held, size);
    for (const namespace of this.#sizes.keys()) room.#limit(namespace);
    room.#limitAll();
    return room.#out;
  }

  /**
   * Counts more, or less, in a namespace.
   * @returns namespaces that are omitted because of it
   * @throws ResourceError where only objects without a namespace are left, and these are too many
   */
  add(namespace: string, size: Size): readonly string[] {
    const before = this.#out.size;
    this.#sizes.set(namespace, sum(this.#sizes.get(namespace) ?? NOTHING, size));
    if (this.#out.has(namespace)) return [];
    this.#held = sum(this.#held, size);
    this.#limit(namespace);
    this.#limitAll();
    return this.#out.size === before ? [] : [...this.#out.keys()].slice(before);
  }

  /** Applies a namespace's own limit. */
  #limit(namespace: string): void {
    const { count, bytes } = this.#sizes.get(namespace) ?? NOTHING;
    const isBeyond = count > MAX_NAMESPACE_DOCUMENTS || bytes > MAX_NAMESPACE_BYTES;
    if (isBeyond && namespace !== "") this.#leaveOut(namespace, "namespace");
  }

  /** Applies the kind's limit. */
  #limitAll(): void {
    for (;;) {
      const by = this.#held.bytes > MAX_KIND_BYTES ? "bytes" : this.#held.count > MAX_DOCUMENTS ? "count" : undefined;
      if (by === undefined) return;
      const largest = this.#largest(by);
      if (largest === undefined)
        throw new ResourceError(
          `there are more than ${MAX_DOCUMENTS} objects, or ${MAX_KIND_BYTES} bytes, of the kind ${this.#kind}`,
        );
      this.#leaveOut(largest, "kind");
    }
  }

  #largest(by: keyof Size): string | undefined {
    let found: readonly [string, number] | undefined;
    for (const [namespace, { [by]: has }] of this.#sizes) {
      if (namespace === "" || this.#out.has(namespace)) continue;
      if (found === undefined || has > found[1] || (has === found[1] && namespace < found[0])) found = [namespace, has];
    }
    return found?.[0];
  }

  #leaveOut(namespace: string, limit: Limit): void {
    const { count, bytes } = this.#sizes.get(namespace) ?? NOTHING;
    this.#held = sum(this.#held, { count: -count, bytes: -bytes });
    this.#out.set(namespace, limit);
  }
}
