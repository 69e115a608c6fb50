import { setTimeout as delay } from "node:timers/promises";
import { parseJson } from "../../data/json.js";
import { isObject, type JsonObject, member, text } from "../object.js";
import { eventError } from "./answers.js";
import { AnswerTooLarge, ApiError, ClusterUnreachable, ResourceError, reasonOf } from "./errors.js";
import type { Answer, ClusterHttp, Query } from "./http.js";
import { FAILURES_BEFORE_LIST, MAX_ANSWER_BYTES, MAX_STORE_BYTES, PAGE_ITEMS, WATCH_SECONDS } from "./limits.js";
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

/** What is listed, and who takes it. */
export interface ListOptions<T extends ListTarget> extends WatchOptions {
  readonly path: string;
  /** Selectors. */
  readonly query: Query;
  /** See {@link DocumentOptions.accept}. */
  readonly accept?: string;
  /** Makes an empty target, for each list anew: what was removed while nobody watched is not in it. */
  readonly target: () => T;
  /** Most bytes that a list may have; default {@link MAX_STORE_BYTES}. */
  readonly maxBytes?: number;
  /** Most objects in a page; default {@link PAGE_ITEMS}. */
  readonly pageItems?: number;
  /** Most bytes in a page of more than one object; default {@link MAX_ANSWER_BYTES}. A larger page is asked for again with fewer. */
  readonly pageBytes?: number;
  /** Told when a list is there whole. */
  readonly listed?: (items: T) => void;
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
  /** Settles, with the reason, when the list has failed for good; a list that is stopped before never does. */
  readonly ended: Promise<unknown>;
  #end: (reason: unknown) => void = () => {};
  #version = "";
  #contact = 0;
  /** Objects to ask for at a time: fewer where they are large. */
  #pageItems: number;
  readonly #stopping = new AbortController();

  constructor(http: ClusterHttp, options: ListOptions<T>) {
    this.#http = http;
    this.#options = options;
    this.since = options.now();
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
    if (this.items === undefined || this.#options.now() - this.#contact <= this.#options.timing.staleness)
      return undefined;
    return new ClusterUnreachable("there has been no contact to the API server for too long");
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
        if (this.#version === "") await this.#list();
        await this.#watch(() => {
          failures = 0;
        });
      } catch (error) {
        if (signal.aborted) return;
        failures++;
        const gone = error instanceof ApiError && error.status === 410;
        if (!gone && isFinal(error)) {
          note(`watching ${path} is refused: ${reasonOf(error)}`);
          return this.#fail(error);
        }
        if (!gone) note(`watching ${path} is interrupted: ${reasonOf(error)}`);
        // An event that cannot be read would come again and again from the same place.
        if (gone || failures >= FAILURES_BEFORE_LIST) this.#version = "";
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
  async #list(restarted = false): Promise<void> {
    const { target, maxBytes = MAX_STORE_BYTES, now } = this.#options;
    const items = target();
    // A first list goes on when the watch is stopped: somebody waits for it.
    const signal = this.items === undefined ? NEVER : this.#stopping.signal;
    let [next, version, bytes] = ["", "", 0];
    do {
      let answer: Answer;
      try {
        answer = await this.#page(next, signal);
      } catch (error) {
        // The pages have grown too old while they were read: the server has nothing to continue from.
        if (next !== "" && error instanceof ApiError && error.status === 410 && !restarted) return this.#list(true);
        throw error;
      }
      bytes += answer.bytes;
      if (bytes > maxBytes) {
        throw new ClusterUnreachable(`the list has more than ${maxBytes} bytes: narrow it by a selector`);
      }
      const listed = member(answer.value, "items");
      for (const item of Array.isArray(listed) ? listed : []) items.put(item);
      const metadata = member(answer.value, "metadata");
      version = text(metadata, "resourceVersion");
      next = text(metadata, "continue");
    } while (next !== "");
    this.items = items;
    this.#version = version;
    this.#contact = now();
    this.#options.listed?.(items);
  }

  /** One page. One that is too large is begun again with half as many objects: anybody who may create some may make them large. */
  async #page(next: string, signal: AbortSignal): Promise<Answer> {
    const { path, query, accept, pageItems = PAGE_ITEMS, pageBytes = MAX_ANSWER_BYTES } = this.#options;
    for (;;) {
      const alone = this.#pageItems === 1;
      const page: Query = { ...query, limit: String(this.#pageItems), ...(next !== "" && { continue: next }) };
      try {
        const answer = await this.#http.get(path, page, signal, {
          maxBytes: alone ? MAX_ANSWER_BYTES : pageBytes,
          ...(accept && { accept }),
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
    const { path, query, accept, now } = this.#options;
    const { silence, firstBackoff } = this.#options.timing;
    const seen = (): void => {
      this.#contact = now();
    };
    const watching: Query = {
      ...query,
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersion: this.#version,
      timeoutSeconds: String(WATCH_SECONDS),
    };
    const began = now();
    const following = { silence, opened: seen, ...(accept && { accept }) };
    for await (const line of this.#http.lines(path, watching, following, this.#stopping.signal)) {
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
    this.#version = text(member(object, "metadata"), "resourceVersion") || this.#version;
    if (!bookmark && isObject(object)) this.#options.changed?.(object);
  }
}

/** Requests have limits of their own. */
const NEVER = new AbortController().signal;

/** Asking again would end the same way. */
const isFinal = (error: unknown): boolean =>
  error instanceof ResourceError ||
  (error instanceof ApiError && error.status >= 400 && error.status < 500 && ![408, 409, 429].includes(error.status));

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
