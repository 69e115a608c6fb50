import { setTimeout as delay } from "node:timers/promises";
import { parseJson } from "../../data/json.js";
import { isObject, type JsonObject, member, text } from "../object.js";
import { isOlder } from "../resource-version.js";
import { eventError } from "./answers.js";
import { AnswerTooLarge, ApiError, ClusterUnreachable, ResourceError, reasonOf } from "./errors.js";
import type { Answer, ClusterHttp, Query } from "./http.js";
import {
  ANSWER_KEPT_MS,
  FAILURES_BEFORE_LIST,
  MAX_ANSWER_BYTES,
  MAX_STORE_BYTES,
  PAGE_ITEMS,
  WATCH_SECONDS,
} from "./limits.js";
import { METADATA_ONLY } from "./requests.js";
import { backoff, type WatchTiming } from "./watch-timing.js";

/** How stores work. */
export interface WatchOptions {
  readonly timing: WatchTiming;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Told what hinders the watch. */
  readonly note: (message: string) => void;
}

/** What takes the objects of a list. Either may throw a ResourceError when there are too many: the list fails with it. */
export interface ListTarget {
  /** An object is there, new or changed. */
  put(object: unknown): void;
  /** An object is there no more. */
  delete(object: unknown): void;
}

/** A state of a list. */
export interface SeenState {
  /** Its resourceVersion. */
  readonly version: string;
  /** When it was seen, in monotonic milliseconds. */
  readonly at: number;
}

/** What is listed, and who takes it. */
export interface ListOptions<T extends ListTarget> extends WatchOptions {
  readonly path: string;
  /** Selectors. */
  readonly query: Query;
  /** Makes an empty target, for each list anew: what was removed while nobody watched is not in it. */
  readonly target: () => T;
  /** Most bytes that a list may have; default {@link MAX_STORE_BYTES}. */
  readonly maxBytes?: number;
  /** Most objects in a page; default {@link PAGE_ITEMS}. */
  readonly pageItems?: number;
  /** Most bytes in a page of more than one object; default {@link MAX_ANSWER_BYTES}. A larger page is asked for again with fewer. */
  readonly pageBytes?: number;
  /** Objects come with their metadata only. */
  readonly metadataOnly?: boolean;
  /** What a list holds that may not be watched is believed for {@link ANSWER_KEPT_MS}; without it such a list has failed. */
  readonly unwatched?: boolean;
  /** What was seen before: an older list is not taken. */
  readonly notOlderThan?: SeenState;
  /** Told when a list is there whole. */
  readonly listed?: (items: T) => void;
  /** Told that it shows a newer state, whatever has changed. */
  readonly seen?: () => void;
  /** Told of an object that the watch has brought, after the target has taken it. */
  readonly changed?: (object: JsonObject) => void;
}

/** Filled by a list, then followed by watching from there; a version that the server has forgotten makes it list again. */
export class WatchedList<T extends ListTarget> {
  readonly #http: ClusterHttp;
  readonly #options: ListOptions<T>;

  /** Settles when the first list is there; rejects with the reason when it cannot be had. */
  readonly ready: Promise<void>;
  /** Why the store is of no use any more, and since when. */
  failed: { readonly error: unknown; readonly at: number } | undefined;
  readonly since: number;
  /** What it holds; `undefined` while the first list is under way. */
  items: T | undefined;
  /** Why it may not be watched, once that is known: it holds what was listed {@link listedAt}. */
  unwatched: Error | undefined;
  /** When the last list was there whole; 0: never. */
  listedAt = 0;
  /** How many pages the last list had, or has so far. */
  pages = 0;
  /** The state that it shows, as the resourceVersion of a list or an event; empty before there is one. */
  version = "";
  /** Settles, with the reason, when the list has failed for good; a list that is stopped before never does. */
  readonly ended: Promise<unknown>;
  #end: (reason: unknown) => void = () => {};
  /** Where to watch from; empty: list again. */
  #from = "";
  #newest: SeenState;
  #contact = 0;
  /** Objects to ask for at a time: fewer where they are large. */
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
      (error: unknown) => this.#fail(error),
    );
  }

  /** Why the contents should not be believed. */
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
   * The newest state that was seen. One that was seen so long ago that it is not believed any more counts no longer: a cluster may be brought back to an
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

  /** Ends the watch; a first list under way still answers those who wait for it. */
  stop(): void {
    this.#stopping.abort();
  }

  async #follow(): Promise<void> {
    const { timing, note, path } = this.#options;
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; ) {
      await delay(backoff(failures, timing), undefined, { signal }).catch(() => {});
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
        if (!gone && isFinal(error)) {
          note(`watching ${path} is refused: ${reasonOf(error)}`);
          if (this.#options.unwatched !== true || this.#from === "") return this.#fail(error);
          this.unwatched = asError(error);
          return this.#end(error);
        }
        if (!gone) note(`watching ${path} is interrupted: ${reasonOf(error)}`);
        // An event that cannot be read would come again and again from the same place.
        if (gone || failures >= FAILURES_BEFORE_LIST) this.#from = "";
      }
    }
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
    // Not every API server of a cluster, nor every proxy before it, is as far as another was a moment ago. What was seen must not come back.
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
    // A first list goes on when the watch is stopped: somebody waits for it.
    const signal = this.items === undefined ? NEVER : this.#stopping.signal;
    let [next, version, bytes] = ["", "", 0];
    this.pages = 0;
    do {
      let answer: Answer;
      try {
        this.pages++;
        answer = await this.#page(next === "" ? since : { continue: next }, signal);
      } catch (error) {
        // The pages have grown too old while they were read: the server has nothing to continue from.
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

  /** One page. One that is too large is begun again with half as many objects: anybody who may create some may make them large. */
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
        // Twice as many of these would have room twice.
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

/** Requests have limits of their own. */
const NEVER = new AbortController().signal;

/** Asking again would end the same way. */
const isFinal = (error: unknown): boolean =>
  error instanceof ResourceError ||
  (error instanceof ApiError && error.status >= 400 && error.status < 500 && ![408, 409, 429].includes(error.status));

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
