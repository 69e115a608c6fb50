import { LRUCache } from "lru-cache";
import { endWithin } from "../../kubernetes/client/abort.js";
import type { ApiResource } from "../../kubernetes/client/discovery.js";
import { ApiError, ClusterUnreachable, reasonOf } from "../../kubernetes/client/errors.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import {
  ABSENCE_KEPT_MS,
  ANSWER_KEPT_MS,
  EQUIVALENTS_KEPT_MS,
  LOOK_AGAIN_MS,
  MAX_ANSWERS,
  PARAMETER_WAIT_MS,
  UNWATCHED_KIND_KEPT_MS,
} from "../../kubernetes/client/limits.js";
import { isSegment, objectPath } from "../../kubernetes/client/paths.js";
import {
  apiVersionOf,
  type GroupVersionKind,
  type GroupVersionResource,
  parseApiVersion,
  sameKind,
} from "../../kubernetes/names.js";
import { isObject, type JsonObject, text } from "../../kubernetes/object.js";
import { isAtLeast, isOlder } from "../../kubernetes/resource-version.js";
import type { EquivalentResource } from "../../kubernetes/shared-storage.js";
import { andThen, type Eventual, within } from "../eventual.js";
import { LookUps } from "../look-ups.js";
import { type Lookup, LookupFailure, lookupFailureOf, type ResourceSource } from "./resource-source.js";

const NAMESPACE: ApiResource = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };

/** The parts of a cluster's client that are needed. */
export type ClusterParts = Pick<Cluster, "http" | "discovery" | "stores" | "now" | "signal">;

/** Objects from watches, kinds from discovery. An object that its watch has not brought yet, or may not bring, is read by name. */
export class ClusterResources implements ResourceSource {
  readonly #parts: ClusterParts;
  readonly #waitMs: number;
  readonly #kinds: LookUps<ApiResource>;
  readonly #objects: LookUps<JsonObject>;
  /** Objects that were read by name, by path, as long as a watch may be behind them; empty most of the time. */
  readonly #ahead: LRUCache<string, JsonObject>;
  readonly #versions: LookUps<readonly EquivalentResource[]>;

  /** @param waitMs how long an object by name, and the first list of a kind, are waited for */
  constructor(parts: ClusterParts, waitMs = PARAMETER_WAIT_MS) {
    this.#parts = parts;
    this.#waitMs = waitMs;
    this.#kinds = new LookUps(parts.now);
    this.#objects = new LookUps(parts.now);
    this.#ahead = new LRUCache({
      max: MAX_ANSWERS,
      ttl: ANSWER_KEPT_MS,
      ttlResolution: 0,
      ttlAutopurge: true,
      perf: { now: parts.now },
    });
    this.#versions = new LookUps(parts.now);
  }

  namespace(name: string): Eventual<Lookup<JsonObject>> {
    if (name === "") return new LookupFailure("resource name may not be empty");
    return this.#object(NAMESPACE, "", name);
  }

  get(kind: GroupVersionKind, namespace: string, name: string): Eventual<Lookup<JsonObject>> {
    return andThen(this.#resource(kind), (resource) =>
      isResource(resource) ? this.#object(resource, namespace, name) : resource,
    );
  }

  list(kind: GroupVersionKind, namespace: string): Eventual<Lookup<readonly JsonObject[]>> {
    return andThen(this.#resource(kind), (resource) =>
      isResource(resource) ? this.#stored(resource, kind, namespace) : resource,
    );
  }

  /** The contents of the kind's store; waits for them for a while. */
  #stored(resource: ApiResource, kind: GroupVersionKind, namespace: string): Eventual<Lookup<readonly JsonObject[]>> {
    const store = this.#parts.stores.of(resource, { namespace: "" });
    const problem = store.problem();
    if (problem !== undefined) return lookupFailureOf(problem);
    if (store.items !== undefined) {
      if (!store.items.isRead) return store.all().then(() => this.#stored(resource, kind, namespace), lookupFailureOf);
      const all = store.items.all();
      return namespace === "" ? all : all.filter(({ metadata }) => text(metadata, "namespace") === namespace);
    }
    const left = this.#waitMs - (this.#parts.now() - store.since);
    if (left > 0) return within(store.ready, left).then(() => this.#stored(resource, kind, namespace));
    const named = `&ParamKind{APIVersion:${apiVersionOf(kind)},Kind:${kind.kind},}`;
    return new LookupFailure(`paramKind kind \`${named}\` not yet synced to use for admission`);
  }

  namespaced(kind: GroupVersionKind): Eventual<Lookup<boolean>> {
    return andThen(this.#resource(kind), (resource) => (isResource(resource) ? resource.namespaced : resource));
  }

  equivalents(resource: GroupVersionResource, subresource: string): Eventual<Lookup<readonly EquivalentResource[]>> {
    if (!isSegment(resource.group || "core") || !isSegment(resource.version)) return undefined;
    // With the version: one that was not served when the others were asked for is a new question.
    const key = `${resource.group}/${resource.version}/${resource.resource}/${subresource}`;
    const ask = () => this.#parts.discovery.equivalents(resource, subresource);
    const keptMs = (found: unknown) => (found === undefined ? UNWATCHED_KIND_KEPT_MS : EQUIVALENTS_KEPT_MS);
    return this.#versions.ask(key, ask, keptMs);
  }

  /** Always fails: only the API server can convert, and it sends a webhook the version that its registration matched. */
  convert(object: JsonObject, to: GroupVersionKind): JsonObject | LookupFailure {
    const from = text(object, "apiVersion");
    const version = parseApiVersion(from);
    if (version !== undefined && sameKind({ ...version, kind: text(object, "kind") }, to)) return object;
    const names = `${from} ${text(object, "kind")} to ${apiVersionOf(to)} ${to.kind}`;
    return new LookupFailure(
      `only the API server converts ${names}: register the webhook with the policy's rules and matchPolicy Equivalent`,
    );
  }

  #resource(kind: GroupVersionKind): Eventual<Lookup<ApiResource>> {
    if (!isSegment(kind.version)) return undefined;
    const { discovery } = this.#parts;
    const known = discovery.known(kind);
    if (known !== undefined) return known;
    // Discovery decides how long its answers are used; callers at the same time share one answer, and one at once afterwards gets the same.
    return this.#kinds.ask(
      `${apiVersionOf(kind)}/${kind.kind}`,
      () => discovery.find(kind),
      () => LOOK_AGAIN_MS,
    );
  }

  #object(resource: ApiResource, namespace: string, name: string): Eventual<Lookup<JsonObject>> {
    if (!isSegment(name) || !isSegment(namespace || "none")) return undefined;
    const { stores } = this.#parts;
    // Labels of Namespaces may be needed for any request: all of them are watched.
    const store = isNamespaces(resource)
      ? stores.of(resource, { namespace: "" })
      : stores.named(resource, namespace, name);
    const watched = store.problem() === undefined ? store.items : undefined;
    const found = watched?.get(namespace, name);
    if (found !== undefined && this.#ahead.size === 0) return found;
    const path = objectPath(resource, namespace, name);
    if (found !== undefined) return this.#newer(path, found);
    // An answer that a watch brings soon is not used for longer than that.
    const keptMs = (object: unknown) => (watched || object === undefined ? ABSENCE_KEPT_MS : ANSWER_KEPT_MS);
    const read = this.#objects.ask(path, () => this.#read(resource, path, name), keptMs);
    return andThen(read, (object) => {
      if (!isObject(object)) return object;
      const now = store.problem() === undefined ? store.items : undefined;
      const version = versionOf(object);
      const current = now?.get(namespace, name);
      if (current !== undefined) return isOlder(version, versionOf(current)) ? current : this.#kept(path, object);
      // The watch has seen its deletion since.
      if (now !== undefined && isAtLeast(store.version, version)) return undefined;
      return this.#kept(path, object);
    });
  }

  /** Keeps an object that was read by name: the watch may still be behind it. */
  #kept(path: string, object: JsonObject): JsonObject {
    this.#ahead.set(path, object);
    return object;
  }

  /** The object of a watch, unless a newer one was read before. */
  #newer(path: string, watched: JsonObject): JsonObject {
    const told = this.#ahead.get(path);
    if (told === undefined) return watched;
    if (isOlder(versionOf(watched), versionOf(told))) return told;
    this.#ahead.delete(path);
    return watched;
  }

  async #read(resource: ApiResource, path: string, name: string): Promise<JsonObject | undefined> {
    const limit = endWithin(this.#parts.signal, this.#waitMs);
    try {
      const { value } = await this.#parts.http.get(path, {}, limit.signal);
      if (isObject(value)) return value;
      throw new ClusterUnreachable("the API server's answer is not an object");
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) {
        // The message does not name the object: the resource does not exist, or not in that scope.
        if (!reasonOf(error).includes(`"${name}"`)) this.#parts.discovery.forget(resource);
        return undefined;
      }
      if (limit.signal.aborted) throw new ClusterUnreachable("the API server did not answer in time");
      throw error;
    } finally {
      limit.done();
    }
  }
}

const isNamespaces = ({ group, plural }: ApiResource): boolean => plural === "namespaces" && group === "";
const versionOf = (object: JsonObject): string => text(object.metadata, "resourceVersion");

const isResource = (found: Lookup<ApiResource>): found is ApiResource =>
  found !== undefined && !(found instanceof LookupFailure);
