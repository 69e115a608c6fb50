import { LRUCache } from "lru-cache";
import { nameOf } from "../object.js";
import { DEFINITION_SETTLES_MS, LAST_REFUSAL_MS, MAX_CHANGED_GROUPS } from "./limits.js";
import type { ListOptions, ListTarget, WatchedList, WatchOptions } from "./watched-list.js";

const PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** A target that keeps nothing: only the changes matter. */
const NOTHING: ListTarget = { put: () => {}, delete: () => {} };

/** Begins to follow a list of definitions. */
type Follow = (options: Omit<ListOptions<ListTarget>, keyof WatchOptions>) => WatchedList<ListTarget>;

/** Notices changes of CustomResourceDefinitions, where they may be watched. Begins at the first call. */
export class Definitions {
  readonly #follow: Follow;
  readonly #now: () => number;
  readonly #listeners = new Set<(group: string | undefined) => void>();
  readonly #changes = new LRUCache<string, number>({ max: MAX_CHANGED_GROUPS });
  /** The time when all may have changed, because changes before a list are not known. */
  #allChanged: number | undefined;
  #list: WatchedList<ListTarget> | undefined;
  #closed = false;

  /** @param now monotonic milliseconds */
  constructor(follow: Follow, now: () => number) {
    this.#follow = follow;
    this.#now = now;
  }

  /** Whether changes are noticed now. */
  get watching(): boolean {
    const failed = this.#list?.failed;
    if (this.#list === undefined || (failed !== undefined && this.#now() - failed.at >= LAST_REFUSAL_MS)) this.#begin();
    return this.#list?.items !== undefined && this.#list.problem() === undefined;
  }

  /** When a definition of a group was added, changed or removed, as far as that is known. */
  changedAt(group: string): number | undefined {
    return this.#changes.get(group) ?? this.#allChanged;
  }

  /**
   * Calls back when a definition has changed: with its group, `undefined` for any. What the API server serves follows a moment later.
   * @returns removes the callback
   */
  changed(call: (group: string | undefined) => void): () => void {
    this.#listeners.add(call);
    return () => this.#listeners.delete(call);
  }

  /** Ends the watch. */
  close(): void {
    this.#closed = true;
    this.#list?.stop();
  }

  #begin(): void {
    if (this.#closed) return;
    let before = false;
    this.#list = this.#follow({
      path: PATH,
      query: {},
      metadataOnly: true,
      target: () => NOTHING,
      listed: () => {
        if (before) this.#note(undefined);
        // No change is known at the moment, but earlier answers may be old.
        else this.#allChanged = this.#now() - DEFINITION_SETTLES_MS;
        before = true;
      },
      // Its name is `<plural>.<group>`.
      changed: (object) => this.#note(/^[^.]*\.(.*)$/.exec(nameOf(object))?.[1]),
    });
    // An account that may not watch asks more often instead: that is not a failure.
    this.#list.ready.catch(() => {});
  }

  #note(group: string | undefined): void {
    if (group === undefined) {
      this.#changes.clear();
      this.#allChanged = this.#now();
    } else {
      this.#changes.set(group, this.#now());
    }
    for (const call of this.#listeners) call(group);
  }
}
