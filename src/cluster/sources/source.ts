/** The present objects of one kind in the cluster, or some of them. */
import type { Clock } from "../../data/clock.js";
import { ApiError, publicReasonOf, reasonOf } from "../../kubernetes/client/errors.js";
import { followUntil } from "../../kubernetes/client/follow.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import { STORE_PAGE_BYTES } from "../../kubernetes/client/limits.js";
import { collectionPath } from "../../kubernetes/client/paths.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { Logger } from "../../telemetry/logger.js";
import type { Contact } from "../contact.js";
import type { NamedKind } from "./document.js";
import type { LeftOut } from "./held-sizes.js";
import { Items, type WatchedItem } from "./items.js";
import { LEFT_OUT_AGAIN_MS } from "./limits.js";

/** The state of a source: `refused` and `failed` have never been read; one that is `refused` (not permitted, or too large) will not be read soon. */
export type SourceState = "waiting" | "read" | "refused" | "failed";

/** The options of a source. */
export interface SourceOptions {
  readonly cluster: Pick<Cluster, "follow">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly contact: Contact;
  readonly kind: NamedKind & { readonly plural: string };
  /** `""`: all namespaces, or none. */
  readonly namespace: string;
  readonly fieldSelector?: string;
  readonly wanted: (object: JsonObject) => boolean;
  /** Whether they are policies. */
  readonly arePolicies: boolean;
  /** The documents of the kind when it was read in another version. */
  readonly before?: ReadonlyMap<string, WatchedItem>;
  /** Called with the keys of changed documents, and of those of which only the status has changed. */
  readonly changed: (documents: readonly string[], statuses: readonly string[]) => void;
  /** Called when the state has changed. */
  readonly moved: () => void;
  /** Called with a complete list. */
  readonly listed?: (items: Items) => void;
  /** Called when the API server doesn't know the kind. */
  readonly unknown: () => void;
}

/** Most names of namespaces in a line of the log. */
const MOST_NAMES = 10;

/** Follows a kind until it is stopped. The documents stay when the API server does not answer, or withdraws the permission. */
export class Source {
  readonly #options: SourceOptions;
  readonly #stopping = new AbortController();
  readonly #items: Map<string, WatchedItem>;
  #state: SourceState = "waiting";
  #reason = "";
  #publicReason = "";
  /** The omitted namespaces of the last message. */
  #leftOut = "";
  /** Cancels the next list. */
  #cancel: (() => void) | undefined;

  constructor(options: SourceOptions) {
    this.#options = options;
    this.#items = new Map(options.before);
    this.#follow(new Map());
  }

  /**
   * Follows the kind, until it is to be listed anew.
   * @param out the namespaces omitted from the beginning
   */
  #follow(out: LeftOut): void {
    const { cluster, clock, kind, namespace, fieldSelector, wanted, arePolicies } = this.#options;
    const ending = new AbortController();
    const signal = AbortSignal.any([this.#stopping.signal, ending.signal]);
    let current: Items | undefined;
    const look = (): void => {
      if (current !== undefined) this.#say(current.out);
      if (current?.isStale !== true || this.#cancel !== undefined) return;
      this.#cancel = clock.after(LEFT_OUT_AGAIN_MS, () => {
        this.#cancel = undefined;
        ending.abort();
        this.#follow(current?.next ?? new Map());
      });
    };
    followUntil<Items>(signal, {
      clock,
      begin: () =>
        cluster.follow({
          path: collectionPath(kind, namespace),
          query: { ...(fieldSelector && { fieldSelector }) },
          // The kept documents have limits of their own; objects that are not selected do not count.
          maxBytes: Number.POSITIVE_INFINITY,
          pageBytes: STORE_PAGE_BYTES,
          target: () =>
            new Items({
              kind,
              wanted,
              arePolicies,
              before: this.#items,
              out: current === undefined ? out : current.next,
            }),
          listed: (items) => {
            if (signal.aborted) return;
            current = items;
            items.listed();
            this.#listed(items);
            look();
          },
          changed: () => {
            if (current === undefined || signal.aborted) return;
            this.#take(current.touched(), current.all);
            look();
          },
        }),
      failed: (error, refused) => this.#failed(error, refused),
    });
  }

  /** The documents by key. */
  get items(): ReadonlyMap<string, WatchedItem> {
    return this.#items;
  }

  get state(): SourceState {
    return this.#state;
  }

  /** Why it can't be read at the moment, for probes, which are public; empty when it can. */
  get publicReason(): string {
    return this.#publicReason;
  }

  /** Ends; the documents stay. */
  stop(): void {
    this.#stopping.abort();
    this.#cancel?.();
  }

  #listed(items: Items): void {
    if (this.#stopping.signal.aborted) return;
    const { contact, log, moved } = this.#options;
    contact.made();
    if (this.#reason !== "") log.info("policies can be read again", { resource: this.#name });
    this.#reason = "";
    this.#publicReason = "";
    this.#options.listed?.(items);
    this.#take(new Set([...this.#items.keys(), ...items.all.keys()]), items.all);
    if (this.#state === "read") return;
    this.#state = "read";
    moved();
  }

  /** Takes over the present state of these keys. */
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

  /** Logs the omitted namespaces, whenever they change. */
  #say(out: LeftOut): void {
    const names = [...out.keys()].sort();
    if (names.join() === this.#leftOut) return;
    this.#leftOut = names.join();
    const { log, arePolicies } = this.#options;
    const fields = { resource: this.#name, namespaces: names.slice(0, MOST_NAMES), left_out: names.length };
    const effect = arePolicies ? "their policies deny" : "what is in them counts for nothing";
    if (names.length === 0) log.info("no namespace is left out any more", { resource: this.#name });
    else log.error(`namespaces have more than is held of them and are left out: ${effect}`, fields);
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
