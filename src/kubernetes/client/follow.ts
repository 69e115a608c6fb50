import type { Clock } from "../../data/clock.js";
import { isObject, type JsonObject, nameOf } from "../object.js";
import { AnswerTooLarge, isForbidden, isNotFound, ResourceError } from "./errors.js";
import type { Cluster } from "./index.js";
import { LARGE_LIST_REST_MS, LAST_REFUSAL_MS } from "./limits.js";
import { retryWait } from "./retries.js";
import type { ListTarget, WatchedList } from "./watched-list.js";

/** How a list is followed, and started again. */
export interface Following<T extends ListTarget> {
  readonly begin: () => Pick<WatchedList<T>, "ready" | "ended" | "stop"> & Partial<Pick<WatchedList<T>, "outage">>;
  readonly clock: Clock;
  /**
   * Receives the error of a list that has failed for good, and whether that is because it is forbidden, or too large; not of one that an API server forbids
   * that has just come back. It is started again later.
   */
  readonly failed: (error: unknown, refused: boolean) => void;
  /** At least 0, less than 1; default Math.random. */
  readonly random?: () => number;
}

/**
 * Follows a list until the signal is aborted.
 * @param failures consecutive failures before
 */
export function followUntil<T extends ListTarget>(
  signal: AbortSignal,
  following: Following<T>,
  failures: number = 0,
): void {
  if (signal.aborted) return;
  const { begin, clock, failed, random = Math.random } = following;
  const list = begin();
  let listedAt: number | undefined;
  let cancel = (): void => {};
  list.ready.then(
    () => {
      listedAt = clock.now();
    },
    // Callers that wait for the first list get the error by `ended`, too.
    () => {},
  );
  const stop = (): void => {
    list.stop();
    cancel();
  };
  signal.addEventListener("abort", stop, { once: true });
  void list.ended.then((error) => {
    if (signal.aborted) return;
    const { outage } = list;
    if (!(isForbidden(error) && outage?.settling)) failed(error, isLasting(error));
    // A list that may not be watched fails right after each complete listing.
    const before = listedAt !== undefined && clock.now() - listedAt >= LAST_REFUSAL_MS ? 0 : failures;
    const again = (count: number): void => {
      cancel();
      signal.removeEventListener("abort", stop);
      followUntil(signal, following, count);
    };
    // One that is too large costs the API server most, and will not be smaller in a second.
    const least = isTooLarge(error) ? LARGE_LIST_REST_MS : 0;
    const cancelWait = clock.after(Math.max(least, retryWait(before + 1, random)), () => again(before + 1));
    const forget = outage?.over(() => again(0));
    cancel = () => {
      cancelWait();
      forget?.();
    };
  });
}

const isTooLarge = (error: unknown): boolean => error instanceof AnswerTooLarge || error instanceof ResourceError;

/** Whether a failure is likely to last: rights and resources do not change every second. */
const isLasting = (error: unknown): boolean => isTooLarge(error) || isForbidden(error) || isNotFound(error);

/** The callbacks of an object that is followed. */
export interface FollowedObject extends Pick<Following<ListTarget>, "clock" | "failed"> {
  /** Called with the object, `undefined` for none, and again whenever it changes. */
  readonly seen: (object: JsonObject | undefined) => void;
}

/** Follows the object of a name in a collection until the signal is aborted: no others are requested, so that the right to this one is enough. */
export function followObject(
  cluster: Pick<Cluster, "follow">,
  path: string,
  name: string,
  signal: AbortSignal,
  { clock, failed, seen }: FollowedObject,
): void {
  let object: JsonObject | undefined;
  const target = (): ListTarget => {
    object = undefined;
    return {
      put: (each) => {
        if (isObject(each) && nameOf(each) === name) object = each;
      },
      delete: (each) => {
        if (nameOf(each) === name) object = undefined;
      },
    };
  };
  const tell = (): void => seen(object);
  const query = { fieldSelector: `metadata.name=${name}` };
  followUntil(signal, {
    clock,
    failed,
    begin: () => cluster.follow({ path, query, target, listed: tell, changed: tell }),
  });
}
