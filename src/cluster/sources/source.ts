/** One kind of the cluster's resources, or some objects of it, as it is now. */
import type { Clock } from "../../data/clock.js";
import { ApiError, publicReasonOf, reasonOf } from "../../kubernetes/client/errors.js";
import { followUntil } from "../../kubernetes/client/follow.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import { collectionPath } from "../../kubernetes/client/paths.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { Logger } from "../../telemetry/logger.js";
import type { Contact } from "../contact.js";
import { keyOf } from "./document.js";
import { Items, type ServedKind, type WatchedItem } from "./items.js";
import { MAX_KIND_BYTES, REFUSED_MS } from "./limits.js";

/** How far a source is: `refused` and `failed` have never been read; of one that is `refused` (no right to it, or too large) nothing is to be expected soon. */
export type SourceState = "waiting" | "read" | "refused" | "failed";

/** What a source needs. */
export interface SourceOptions {
  readonly cluster: Pick<Cluster, "follow">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly contact: Contact;
  readonly kind: ServedKind & { readonly plural: string };
  /** `""`: all namespaces, or none. */
  readonly namespace: string;
  readonly fieldSelector?: string;
  readonly wanted: (object: JsonObject) => boolean;
  /** What was known of the kind when it was read in another version. */
  readonly before?: ReadonlyMap<string, WatchedItem>;
  /** Told what has changed: documents by key, and of which only the status is another. */
  readonly changed: (documents: readonly string[], statuses: readonly string[]) => void;
  /** Told that the state is another. */
  readonly moved: () => void;
  /** Told that the API server doesn't know the kind. */
  readonly unknown: () => void;
}

/** Follows a kind until it is stopped. What was read stays when the API server is away, or takes back the right to read it. */
export class Source {
  readonly #options: SourceOptions;
  readonly #stopping = new AbortController();
  readonly #items: Map<string, WatchedItem>;
  #state: SourceState = "waiting";
  #reason = "";
  #publicReason = "";

  constructor(options: SourceOptions) {
    this.#options = options;
    const { cluster, clock, kind, namespace, fieldSelector, wanted, before = new Map() } = options;
    this.#items = new Map(before);
    followUntil<Items>(this.#stopping.signal, {
      clock,
      refusedMs: REFUSED_MS,
      begin: () => {
        let current: Items | undefined;
        return cluster.follow({
          path: collectionPath(kind, namespace),
          query: { ...(fieldSelector && { fieldSelector }) },
          maxBytes: MAX_KIND_BYTES,
          target: () => new Items(kind, wanted, this.#items),
          listed: (items) => {
            current = items;
            this.#listed(items);
          },
          changed: (object) => {
            if (current !== undefined) this.#take([keyOf(kind.group, kind.kind, object)], current.all);
          },
        });
      },
      failed: (error, refused) => this.#failed(error, refused),
    });
  }

  /** By key. */
  get items(): ReadonlyMap<string, WatchedItem> {
    return this.#items;
  }

  get state(): SourceState {
    return this.#state;
  }

  /** Why it can't be read at the moment, for probes, which anybody may ask; empty when it can. */
  get publicReason(): string {
    return this.#publicReason;
  }

  /** Ends; what was read stays where it is. */
  stop(): void {
    this.#stopping.abort();
  }

  #listed(items: Items): void {
    if (this.#stopping.signal.aborted) return;
    const { contact, log, moved } = this.#options;
    contact.made();
    if (this.#reason !== "") log.info("policies can be read again", { resource: this.#name });
    this.#reason = "";
    this.#publicReason = "";
    this.#take(new Set([...this.#items.keys(), ...items.all.keys()]), items.all);
    if (this.#state === "read") return;
    this.#state = "read";
    moved();
  }

  /** Takes over what these keys have come to. */
  #take(keys: Iterable<string>, items: ReadonlyMap<string, WatchedItem>): void {
    if (this.#stopping.signal.aborted) return;
    this.#options.contact.made();
    const documents: string[] = [];
    const statuses: string[] = [];
    for (const key of keys) {
      const [old, now] = [this.#items.get(key), items.get(key)];
      if (now === undefined) this.#items.delete(key);
      else this.#items.set(key, now);
      if (old?.document !== now?.document) documents.push(key);
      else if (old !== now) statuses.push(key);
    }
    if (documents.length > 0 || statuses.length > 0) this.#options.changed(documents, statuses);
  }

  get #name(): string {
    const { kind, namespace, fieldSelector } = this.#options;
    const where = namespace === "" ? "" : ` in ${namespace}`;
    return `${kind.plural}${kind.group === "" ? "" : `.${kind.group}`}${where}${fieldSelector ? ` (${fieldSelector})` : ""}`;
  }

  #failed(error: unknown, refused: boolean): void {
    const { log, contact, moved, unknown } = this.#options;
    contact.saw(error);
    const reason = reasonOf(error);
    if (error instanceof ApiError && error.status === 404) unknown();
    else if ((refused || error instanceof ApiError) && reason !== this.#reason) {
      const known = this.#state === "read" ? "what was read before goes on being served" : "none of them is served";
      const may = refused && error instanceof ApiError ? "may not" : "cannot";
      log.error(`policies ${may} be read: ${known}`, { resource: this.#name, reason });
    }
    this.#reason = reason;
    this.#publicReason = publicReasonOf(error);
    if (this.#state === "read") return;
    const state: SourceState = refused ? "refused" : "failed";
    if (this.#state === state) return;
    this.#state = state;
    moved();
  }
}
