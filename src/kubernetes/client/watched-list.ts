import { parseJson } from "../../data/json.js";
import { isObject, type JsonObject, member, text } from "../object.js";
import { isOlder } from "../resource-version.js";
import { eventError } from "./answers.js";
import { AnswerTooLarge, ApiError, ClusterUnreachable, isForbidden, ResourceError, reasonOf } from "./errors.js";
import type { Answer, ClusterHttp, Query } from "./http.js";
import {
  ANSWER_KEPT_MS,
  FAILURES_BEFORE_LIST,
  MAX_ANSWER_BYTES,
  MAX_STORE_BYTES,
  PAGE_ITEMS,
  WATCH_SECONDS,
} from "./limits.js";
import type { Outage } from "./outage.js";
import { METADATA_ONLY } from "./requests.js";
import { backoff, type WatchTiming } from "./watch-timing.js";

/** Options of all stores. */
export interface WatchOptions {
  readonly timing: WatchTiming;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly note: WatchNote;
}

/** Receives reasons why a watch fails. @param level absent: as the receiver thinks fit */
export type WatchNote = (message: string, level?: "info") => void;

/** Receives the objects of a list. Either method may throw a ResourceError when there are too many: the list fails with it. */
export interface ListTarget {
  /** Adds an object, or replaces it. */
  put(object: unknown): void;
  /** Removes an object. */
  delete(object: unknown): void;
}

/** A state of a list. */
export interface SeenState {
  /** The state's resourceVersion. */
  readonly version: string;
  /** Time when it was seen, in monotonic milliseconds. */
  readonly at: number;
}

/** The list, and its target. */
export interface ListOptions<T extends ListTarget> extends WatchOptions {
  readonly path: string;
  /** Selectors. */
  readonly query: Query;
  /** Makes an empty target, for each listing anew: objects removed while there was no watch are not in it. */
  readonly target: () => T;
  /** Most bytes of a list; default {@link MAX_STORE_BYTES}. */
  readonly maxBytes?: number;
  /** Most objects in a page; default {@link PAGE_ITEMS}. */
  readonly pageItems?: number;
  /** Most bytes in a page of more than one object; default {@link MAX_ANSWER_BYTES}. A larger page is requested again with fewer. */
  readonly pageBytes?: number;
  /** Whether objects are requested with their metadata only. */
  readonly metadataOnly?: boolean;
  /** Whether a list that may not be watched is used for {@link ANSWER_KEPT_MS}; without it such a list has failed. */
  readonly unwatched?: boolean;
  /** A state that was seen before: an older list is refused. */
  readonly notOlderThan?: SeenState;
  /** Called when a list is complete. */
  readonly listed?: (items: T) => void;
  /** Called when it shows a newer state, whatever has changed. */
  readonly seen?: () => void;
  /** Called with an object from the watch, after the target has it. */
  readonly changed?: (object: JsonObject) => void;
}

/** A list that is read, then followed by watching from there; when the server no longer has that version, it is read again. */
export class WatchedList<T extends ListTarget> {
  readonly #http: ClusterHttp;
  readonly #options: ListOptions<T>;

  /** Settles when the first list is complete; rejects with the reason when it cannot be read. */
  readonly ready: Promise<void>;
  /** The reason why the store can no longer be used, and the time. */
  failed: { readonly error: unknown; readonly at: number } | undefined;
  readonly since: number;
  /** The contents; `undefined` until the first list is complete. */
  items: T | undefined;
  /** The reason why it may not be watched, once that is known: the contents are those at {@link listedAt}. */
  unwatched: Error | undefined;
  /** Time when the last list was complete; 0: never. */
  listedAt = 0;
  /** Number of pages of the last list, so far. */
  pages = 0;
  /** The state of the contents, as the resourceVersion of a list or an event; empty before there is one. */
  version = "";
  /** Settles, with the reason, when the list has failed for good; a list that is stopped before never does. */
  readonly ended: Promise<unknown>;
  #end: (reason: unknown) => void = () => {};
  /** The version to watch from; empty: list again. */
  #from = "";
  #newest: SeenState;
  #contact = 0;
  /** Objects per page: fewer where they are large. */
  #pageItems: number;
  readonly #stopping = new AbortController();

  constructor(http: ClusterHttp, options: ListOptions<T>) {
    this.#http = http;
    this.#options = options;
    this.since = options.now();
    this.#newest = options.notOlderThan ?? { version: "", at: 0 };
    this.#pageItems = options.pageItems ?? PAGE_ITEMS;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.ready = this.#list();
    this.ready.then(
      () => void this.#follow(),
      (error: unknown) => {
        if (this.#isPassing(error)) this.#notePassing(error);
        this.#fail(error);
      },
    );
  }

  /** Whether the API server is away. */
  get outage(): Outage {
    return this.#http.outage;
  }

  /** The reason why the contents should not be used. */
  problem(): Error | undefined {
    if (this.failed !== undefined) return asError(this.failed.error);
    if (this.items === undefined) return undefined;
    const { now, timing } = this.#options;
    if (this.unwatched !== undefined) {
      return now() - this.listedAt <= ANSWER_KEPT_MS ? undefined : this.unwatched;
    }
    if (now() - this.#contact <= timing.staleness) return undefined;
    return new ClusterUnreachable("there has been no contact to the API server for too long");
  }

  /**
   * The newest state that was seen. One that is so old that it would no longer be used does not count: a cluster may be restored to an
   * earlier state as a whole.
   */
  get newest(): SeenState {
    const { now, timing } = this.#options;
    return now() - this.#newest.at <= timing.staleness ? this.#newest : { version: "", at: 0 };
  }

  /** Whether it was stopped, and is not followed any more. */
  get stopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Ends the watch; a first list under way still answers its callers. */
  stop(): void {
    this.#stopping.abort();
  }

  async #follow(): Promise<void> {
    const { timing, note, path } = this.#options;
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; ) {
      if (failures > 0 && (await this.outage.wait(backoff(failures, timing), signal))) failures = 0;
      if (signal.aborted) return;
      try {
        if (this.#from === "") await this.#list();
        await this.#watch(() => {
          failures = 0;
        });
      } catch (error) {
        if (signal.aborted) return;
        failures++;
        const gone = error instanceof ApiError && error.status === 410;
        const passing = this.#isPassing(error);
        if (!gone && !passing && isFinal(error)) {
          note(`watching ${path} is refused: ${reasonOf(error)}`);
          if (this.#options.unwatched !== true || this.#from === "") return this.#fail(error);
          this.unwatched = asError(error);
          return this.#end(error);
        }
        if (passing && failures === 1) this.#notePassing(error);
        if (!gone && !passing) note(`watching ${path} is interrupted: ${reasonOf(error)}`);
        // An event that cannot be read would be sent again and again from the same place.
        if (gone || failures >= FAILURES_BEFORE_LIST) this.#from = "";
      }
    }
  }

  /** Whether the API server is expected to allow soon what it refuses: it has just come back. */
  readonly #isPassing = (error: unknown): boolean => isForbidden(error) && this.outage.settling;

  #notePassing(error: unknown): void {
    const { note, path } = this.#options;
    note(`the API server has just come back, and does not allow watching ${path} yet: ${reasonOf(error)}`, "info");
  }

  #fail(error: unknown): void {
    this.failed = { error, at: this.#options.now() };
    this.items = undefined;
    this.stop();
    this.#end(error);
  }

  /** Reads all pages, and shows them together at the end. */
  async #list(): Promise<void> {
    const { now, listed } = this.#options;
    const { version: newest } = this.newest;
    let list = await this.#pages({});
    // Not every API server of a cluster, or proxy before it, is as up to date as another was a moment ago. Removed objects must not reappear.
    if (isOlder(list.version, newest)) {
      list = await this.#pages({ resourceVersion: newest, resourceVersionMatch: "NotOlderThan" });
      if (isOlder(list.version, newest)) throw new ClusterUnreachable("the list is older than what was seen before");
    }
    this.items = list.items;
    this.#from = list.version;
    this.version = list.version;
    this.#newest = { version: list.version, at: now() };
    this.#contact = now();
    this.listedAt = now();
    listed?.(list.items);
  }

  /** All pages of one state. */
  async #pages(since: Query, restarted = false): Promise<{ readonly items: T; readonly version: string }> {
    const { target, maxBytes = MAX_STORE_BYTES } = this.#options;
    const items = target();
    // A first list continues when the watch is stopped: callers wait for it.
    const signal = this.items === undefined ? NEVER : this.#stopping.signal;
    let [next, version, bytes] = ["", "", 0];
    this.pages = 0;
    do {
      let answer: Answer;
      try {
        this.pages++;
        answer = await this.#page(next === "" ? since : { continue: next }, signal);
      } catch (error) {
        // The pages have expired while they were read: the server cannot continue them.
        if (next !== "" && error instanceof ApiError && error.status === 410 && !restarted)
          return this.#pages(since, true);
        throw error;
      }
      bytes += answer.bytes;
      if (bytes > maxBytes) {
        throw new AnswerTooLarge(`${maxBytes} bytes: narrow it by a selector`, "the list");
      }
      const listed = member(answer.value, "items");
      for (const item of Array.isArray(listed) ? listed : []) items.put(item);
      const metadata = member(answer.value, "metadata");
      version = text(metadata, "resourceVersion");
      next = text(metadata, "continue");
    } while (next !== "");
    return { items, version };
  }

  /** One page. One that is too large is read again with half as many objects: any author of objects may make them large. */
  async #page(from: Query, signal: AbortSignal): Promise<Answer> {
    const { path, query, pageItems = PAGE_ITEMS, pageBytes = MAX_ANSWER_BYTES, metadataOnly } = this.#options;
    const accept = metadataOnly === true ? { accept: METADATA_ONLY.list } : {};
    for (;;) {
      const alone = this.#pageItems === 1;
      const page: Query = { ...query, limit: String(this.#pageItems), ...from };
      try {
        const answer = await this.#http.get(path, page, signal, {
          ...accept,
          maxBytes: alone ? MAX_ANSWER_BYTES : pageBytes,
        });
        // Twice as many of these would easily fit.
        if (answer.bytes < pageBytes / 4) this.#pageItems = Math.min(pageItems, 2 * this.#pageItems);
        return answer;
      } catch (error) {
        if (alone || !(error instanceof AnswerTooLarge)) throw error;
        this.#pageItems = Math.floor(this.#pageItems / 2);
      }
    }
  }

  /** Follows events until the server ends the watch. */
  async #watch(progress: () => void): Promise<void> {
    const { path, query, now, metadataOnly } = this.#options;
    const accept = metadataOnly === true ? { accept: METADATA_ONLY.watch } : {};
    const { silence, firstBackoff } = this.#options.timing;
    const seen = (): void => {
      this.#contact = now();
    };
    const watching: Query = {
      ...query,
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersion: this.#from,
      timeoutSeconds: String(WATCH_SECONDS),
    };
    const began = now();
    for await (const line of this.#http.lines(
      path,
      watching,
      { silence, opened: seen, ...accept },
      this.#stopping.signal,
    )) {
      if (line.trim() === "") continue;
      this.#apply(parseJson(line));
      seen();
      progress();
    }
    if (now() - began < firstBackoff) throw new ClusterUnreachable("the server ended the watch at once");
    progress();
  }

  #apply(event: unknown): void {
    const object = member(event, "object");
    const bookmark = text(event, "type") === "BOOKMARK";
    switch (text(event, "type")) {
      case "ADDED":
      case "MODIFIED":
        this.items?.put(object);
        break;
      case "DELETED":
        this.items?.delete(object);
        break;
      case "BOOKMARK":
        break;
      default:
        throw eventError(object);
    }
    this.#from = text(member(object, "metadata"), "resourceVersion") || this.#from;
    this.version = this.#from;
    this.#newest = { version: this.#from, at: this.#options.now() };
    if (!bookmark && isObject(object)) this.#options.changed?.(object);
    this.#options.seen?.();
  }
}

/** A signal that is never aborted: requests have limits of their own. */
const NEVER = new AbortController().signal;

/** Whether a repetition would fail in the same way. */
const isFinal = (error: unknown): boolean =>
  error instanceof ResourceError ||
  (error instanceof ApiError && error.status >= 400 && error.status < 500 && ![408, 409, 429].includes(error.status));

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
