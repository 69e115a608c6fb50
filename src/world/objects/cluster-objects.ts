/** Objects of a cluster, read anew for every request: nothing is kept, so that what a policy reads is what is there (spec kyverno.md 4.5). */
import { ApiError, ClusterUnreachable } from "../../kubernetes/client/errors.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import { PAGE_ITEMS } from "../../kubernetes/client/limits.js";
import { collectionPath, isSegment, objectPath } from "../../kubernetes/client/paths.js";
import { apiVersionOf, type GroupVersionResource } from "../../kubernetes/names.js";
import { isObject, type JsonObject, member, nameOf, text } from "../../kubernetes/object.js";
import { type Lookup, LookupFailure, lookupFailureOf } from "../resources/resource-source.js";
import { noSuchKind, versionOf } from "./known-kinds.js";
import type { EqualLabels, ObjectPlace, ObjectSource } from "./object-source.js";

/** Objects of one list: a policy that goes through more takes longer than a request may. */
export const MAX_LIST_OBJECTS = 20_000;
/** Bytes of one list's JSON: a thousand requests at a time must not take all memory. */
export const MAX_LIST_BYTES = 32 * 1024 * 1024;

/** What of a cluster's client is needed. */
export type ClusterParts = Pick<Cluster, "http" | "discovery" | "signal">;

/** A place in its parts. */
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

  /** Page by page: no document may hold up everybody else while it is parsed. */
  async #pages(path: string, query: Readonly<Record<string, string>>, apiVersion: string): Promise<JsonObject> {
    const items: JsonObject[] = [];
    let size = 0;
    for (let next = ""; ; ) {
      const asked = next === "" ? query : { ...query, continue: next };
      const { value: list, bytes } = await this.#parts.http.get(path, asked, this.#parts.signal);
      if (!isObject(list)) throw new ClusterUnreachable("the API server's answer is no object");
      size += bytes;
      const kind = text(list, "kind").replace(/List$/, "");
      const page = member(list, "items");
      for (const item of Array.isArray(page) ? page : []) items.push({ apiVersion, kind, ...item });
      if (items.length > MAX_LIST_OBJECTS || size > MAX_LIST_BYTES) {
        throw new ClusterUnreachable(
          `the list has more than ${MAX_LIST_OBJECTS} objects or ${MAX_LIST_BYTES} bytes: narrow it by a namespace or labels`,
        );
      }
      next = text(member(list, "metadata"), "continue");
      if (next === "") return { ...list, items };
    }
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
      return asObject(await this.#parts.http.post(path, object, this.#parts.signal));
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
    return asObject((await this.#parts.http.get(path, query, this.#parts.signal)).value);
  }
}

function asObject(value: unknown): JsonObject {
  if (isObject(value)) return value;
  throw new ClusterUnreachable("the API server's answer is no object");
}

/** Where things are; what could lead anywhere else is refused. */
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

/** What the policy server may not see it says, as the reference does. */
function failureOf(error: unknown): LookupFailure {
  const failure = lookupFailureOf(error);
  if (!(error instanceof ApiError) || (error.status !== 401 && error.status !== 403)) return failure;
  return new LookupFailure(`permission denied: ${failure.message}`, failure.detail);
}
