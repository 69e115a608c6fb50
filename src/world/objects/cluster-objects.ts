/** Objects of a cluster, read anew for every request: nothing is kept, so that a policy reads the current state (spec kyverno.md 4.5). */
import { endWithin } from "../../kubernetes/client/abort.js";
import { AnswerTooLarge, ApiError, ClusterUnreachable } from "../../kubernetes/client/errors.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import { PAGE_ITEMS } from "../../kubernetes/client/limits.js";
import { collectionPath, isSegment, objectPath } from "../../kubernetes/client/paths.js";
import { apiVersionOf, type GroupVersionResource } from "../../kubernetes/names.js";
import { isObject, type JsonObject, member, nameOf, text } from "../../kubernetes/object.js";
import { type Lookup, LookupFailure, lookupFailureOf } from "../resources/resource-source.js";
import { noSuchKind, versionOf } from "./known-kinds.js";
import type { EqualLabels, ObjectPlace, ObjectSource } from "./object-source.js";

/** Most objects of one list: a policy that reads more takes longer than a request may. */
export const MAX_LIST_OBJECTS = 20_000;
/** Most bytes of one list's JSON: every request has lists of its own, and a thousand of them at a time must not take all memory. */
export const MAX_LIST_BYTES = 8 * 1024 * 1024;
/** Most pages of one list: twice as many as {@link MAX_LIST_OBJECTS} have, for servers with smaller pages. */
export const MAX_LIST_PAGES = (2 * MAX_LIST_OBJECTS) / PAGE_ITEMS;
/** Time for one list, in milliseconds: as long as the API server waits for a webhook that does not say otherwise. */
export const LIST_MS = 10_000;
/** Limits of one object that is read or created: twice what the API server stores, since it grows when printed as JSON; parsed within some 60 ms. */
export const OBJECT_BOUNDS = { maxBytes: 3 * 1024 * 1024, maxValues: 50_000 } as const;

/** The parts of a cluster's client that are needed. */
export type ClusterParts = Pick<Cluster, "http" | "discovery" | "signal">;

/** The parts of a place. */
interface Place {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** With a slash in front, or `""`. */
  readonly subresource: string;
  readonly namespace: string;
}

/** Asks the API server by the names of resources. */
export class ClusterObjects implements ObjectSource {
  readonly #parts: ClusterParts;

  constructor(parts: ClusterParts) {
    this.#parts = parts;
  }

  async get(wanted: ObjectPlace, name: string): Promise<Lookup<JsonObject>> {
    const place = placeOf(wanted);
    const mistake = place instanceof LookupFailure ? place : nameMistake(name);
    if (place instanceof LookupFailure || mistake !== undefined) return mistake;
    try {
      return await this.#read(`${objectPath(place, place.namespace, name)}${place.subresource}`, {});
    } catch (error) {
      return error instanceof ApiError && error.status === 404 ? undefined : failureOf(error);
    }
  }

  async list(wanted: ObjectPlace, labels: EqualLabels): Promise<JsonObject | LookupFailure> {
    const place = placeOf(wanted);
    if (place instanceof LookupFailure) return place;
    const path = `${collectionPath(place, place.namespace)}${place.subresource}`;
    const labelSelector = Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .sort()
      .join(",");
    const query = { limit: String(PAGE_ITEMS), ...(labelSelector !== "" && { labelSelector }) };
    try {
      return await this.#pages(path, query, apiVersionOf(place));
    } catch (error) {
      return failureOf(error);
    }
  }

  async #pages(path: string, query: Readonly<Record<string, string>>, apiVersion: string): Promise<JsonObject> {
    const limit = endWithin(this.#parts.signal, LIST_MS);
    try {
      return await this.#allPages(path, query, apiVersion, limit.signal);
    } catch (error) {
      if (error instanceof AnswerTooLarge) throw tooLong();
      if (!limit.signal.aborted || this.#parts.signal.aborted) throw error;
      throw new ClusterUnreachable("the API server did not give the whole list in time", {
        cause: error,
        shown: "the API server did not give the whole list in time",
      });
    } finally {
      limit.done();
    }
  }

  /** Reads page by page: parsing one document must not block other requests for long. */
  async #allPages(
    path: string,
    query: Readonly<Record<string, string>>,
    apiVersion: string,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const items: JsonObject[] = [];
    let room = MAX_LIST_BYTES;
    let next = "";
    for (let pages = 0; pages < MAX_LIST_PAGES; pages++) {
      const asked = next === "" ? query : { ...query, continue: next };
      const { value: list, bytes } = await this.#parts.http.get(path, asked, signal, { maxBytes: room });
      room -= bytes;
      const page = itemsOf(list);
      const kind = text(list, "kind").replace(/List$/, "");
      for (const item of page) items.push({ apiVersion, kind, ...item });
      if (items.length > MAX_LIST_OBJECTS || room <= 0) throw tooLong();
      next = text(member(list, "metadata"), "continue");
      if (next === "") return { ...(list as JsonObject), items };
    }
    throw new ClusterUnreachable(`the list has more than ${MAX_LIST_PAGES} pages`);
  }

  async create(wanted: ObjectPlace, object: JsonObject): Promise<JsonObject | LookupFailure> {
    const place = placeOf(wanted);
    if (place instanceof LookupFailure) return place;
    let path = collectionPath(place, place.namespace);
    if (place.subresource !== "") {
      const mistake = nameMistake(nameOf(object));
      if (mistake !== undefined) return mistake;
      path = `${objectPath(place, place.namespace, nameOf(object))}${place.subresource}`;
    }
    try {
      return asObject(await this.#parts.http.post(path, object, this.#parts.signal, { ...OBJECT_BOUNDS, once: true }));
    } catch (error) {
      return failureOf(error);
    }
  }

  async resourceOf(apiVersion: string, kind: string): Promise<GroupVersionResource | LookupFailure> {
    const version = versionOf(apiVersion);
    if (version instanceof LookupFailure) return version;
    if (!isSegment(version.version) || !isSegment(version.group || "core")) return noSuchKind(apiVersion, kind);
    try {
      const found = await this.#parts.discovery.find({ ...version, kind });
      if (found === undefined) return noSuchKind(apiVersion, kind);
      return { group: found.group, version: found.version, resource: found.plural };
    } catch (error) {
      return lookupFailureOf(error);
    }
  }

  async #read(path: string, query: Readonly<Record<string, string>>): Promise<JsonObject> {
    return asObject((await this.#parts.http.get(path, query, this.#parts.signal, OBJECT_BOUNDS)).value);
  }
}

function asObject(value: unknown): JsonObject {
  if (isObject(value)) return value;
  throw new ClusterUnreachable("the API server's answer is not an object");
}

/** The items of a list: another answer must not be read as an empty one. */
function itemsOf(list: unknown): readonly JsonObject[] {
  const items = member(list, "items");
  if (text(list, "kind").endsWith("List")) {
    if (items === null) return [];
    if (Array.isArray(items) && items.every(isObject)) return items;
  }
  throw new ClusterUnreachable("the API server's answer is not a list");
}

const tooLong = (): ClusterUnreachable =>
  new ClusterUnreachable(
    `the list has more than ${MAX_LIST_OBJECTS} objects or ${MAX_LIST_BYTES} bytes: narrow it by a namespace or labels, or keep it at hand with a GlobalContextEntry`,
  );

/** The place of objects; one that could lead elsewhere is refused. */
function placeOf({ apiVersion, resource, namespace }: ObjectPlace): Place | LookupFailure {
  const version = versionOf(apiVersion);
  if (version instanceof LookupFailure) return version;
  const [plural = "", ...subresources] = resource.split("/");
  const segments = [version.group || "core", version.version, plural, ...subresources];
  if (!segments.every(isSegment)) {
    return new LookupFailure(
      `there is no resource ${JSON.stringify(resource)} in version ${JSON.stringify(apiVersion)}`,
    );
  }
  if (!isSegment(namespace || "none")) return new LookupFailure(`invalid namespace ${JSON.stringify(namespace)}`);
  const subresource = subresources.map((each) => `/${encodeURIComponent(each)}`).join("");
  return { ...version, plural, subresource, namespace };
}

function nameMistake(name: string): LookupFailure | undefined {
  if (name === "") return new LookupFailure("name is required");
  return isSegment(name) ? undefined : new LookupFailure(`invalid resource name ${JSON.stringify(name)}`);
}

/** The failure of a question; one for lack of permission says so, as in the reference. */
function failureOf(error: unknown): LookupFailure {
  const failure = lookupFailureOf(error);
  if (!(error instanceof ApiError) || (error.status !== 401 && error.status !== 403)) return failure;
  return new LookupFailure(`permission denied: ${failure.message}`, failure.detail);
}
