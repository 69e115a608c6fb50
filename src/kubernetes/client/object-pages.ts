/** The objects of a kind, a page at a time: memory does not grow with their number. */
import { isObject, type JsonObject, member, text } from "../object.js";
import { AnswerTooLarge, ApiError } from "./errors.js";
import type { ClusterHttp } from "./http.js";
import { LARGE_PAGE_BYTES, MAX_PAGES, MAX_RESUMPTIONS, PAGE_ITEMS } from "./limits.js";
import { collectionPath, type ResourcePlace } from "./paths.js";

/** The parts of a cluster's client that are needed. */
export interface ListedCluster {
  readonly http: Pick<ClusterHttp, "get">;
  readonly signal: AbortSignal;
}

/** A page. */
export interface ObjectPage {
  /** The objects as they stand in the list: without apiVersion and kind. */
  readonly items: readonly JsonObject[];
  /** Number of objects after this page, where the API server gives it. */
  readonly left: number | undefined;
}

/** The error of a kind that cannot be listed, in words for people. */
export class ListError extends Error {
  readonly code = "KUBERNETES_LIST";
}

/** Whether the API server has answered with a refusal, of a page of a list as well. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError || (error instanceof ListError && error.cause instanceof ApiError);

const GONE = 410;

/**
 * Lists a kind.
 * @param namespace the namespace of the objects; `""`: all
 * @param query selectors
 * @throws ListError when the list cannot be continued
 */
export async function* objectPages(
  { http, signal }: ListedCluster,
  resource: ResourcePlace,
  namespace: string,
  query: Readonly<Record<string, string>> = {},
): AsyncGenerator<ObjectPage> {
  const path = collectionPath(resource, namespace);
  let next = "";
  let limit = PAGE_ITEMS;
  let resumptions = 0;
  for (let count = 0; count < MAX_PAGES; count++) {
    const page: Record<string, string> = { ...query, limit: String(limit) };
    if (next !== "") page.continue = next;
    let value: unknown;
    try {
      const answer = await http.get(path, page, signal);
      value = answer.value;
      if (answer.bytes > LARGE_PAGE_BYTES) limit = Math.max(1, Math.ceil(limit / 2));
    } catch (error) {
      if (error instanceof AnswerTooLarge && limit > 1) {
        limit = Math.max(1, Math.floor(limit / 4));
        continue;
      }
      // Its place has expired: the API server names another, from which the list continues in its present state.
      const resumed = error instanceof ApiError && error.status === GONE ? error.continuation : "";
      if (resumed !== "" && resumptions < MAX_RESUMPTIONS) {
        resumptions += 1;
        next = resumed;
        continue;
      }
      throw new ListError(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
    const items = isObject(value) && Object.hasOwn(value, "items") ? (value.items ?? []) : undefined;
    if (!Array.isArray(items)) throw new ListError(`${path}: the answer is not a list`);
    const metadata = member(value, "metadata");
    const left = member(metadata, "remainingItemCount");
    yield { items: items.filter(isObject), left: typeof left === "number" ? left : undefined };
    const last = next;
    next = text(metadata, "continue");
    if (next === "") return;
    if (next === last) throw new ListError(`${path}: the list does not go on`);
  }
  throw new ListError(`${path}: more than ${MAX_PAGES} pages`);
}
