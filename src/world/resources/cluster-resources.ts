import { endWithin } from "../../kubernetes/client/abort.js";
import type { ApiResource } from "../../kubernetes/client/discovery.js";
import { ApiError, ClusterUnreachable } from "../../kubernetes/client/errors.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import {
  ABSENCE_KEPT_MS,
  ANSWER_KEPT_MS,
  EQUIVALENTS_KEPT_MS,
  PARAMETER_WAIT_MS,
  UNKNOWN_KIND_KEPT_MS,
  VERSIONS_KEPT_MS,
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
import type { EquivalentResource } from "../../kubernetes/shared-storage.js";
import { andThen, type Eventual, within } from "../eventual.js";
import { LookUps } from "../look-ups.js";
import { type Lookup, LookupFailure, lookupFailureOf, type ResourceSource } from "./resource-source.js";

const NAMESPACE: ApiResource = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };

/** What of a cluster's client is needed. */
export type ClusterParts = Pick<Cluster, "http" | "discovery" | "stores" | "now" | "signal">;

/** Objects from watches, kinds from discovery. What its watch has not brought yet, or may not bring, is asked for by name. */
export class ClusterResources implements ResourceSource {
  readonly #parts: ClusterParts;
  readonly #kinds: LookUps<ApiResource>;
  readonly #objects: LookUps<JsonObject>;
  readonly #versions: LookUps<readonly EquivalentResource[]>;

  constructor(parts: ClusterParts) {
    this.#parts = parts;
    this.#kinds = new LookUps(parts.now);
    this.#objects = new LookUps(parts.now);
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

  /** What the kind's store holds; it is waited for a while. */
  #stored(resource: ApiResource, kind: GroupVersionKind, namespace: string): Eventual<Lookup<readonly JsonObject[]>> {
    const store = this.#parts.stores.of(resource, { namespace: "" });
    const problem = store.problem();
    if (problem !== undefined) return lookupFailureOf(problem);
    if (store.items !== undefined) {
      const all = store.items.all();
      return namespace === "" ? all : all.filter(({ metadata }) => text(metadata, "namespace") === namespace);
    }
    const left = PARAMETER_WAIT_MS - (this.#parts.now() - store.since);
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
    const keptMs = (found: unknown) => (found === undefined ? UNKNOWN_KIND_KEPT_MS : EQUIVALENTS_KEPT_MS);
    return this.#versions.ask(key, ask, keptMs);
  }

  /** Only the API server can convert: what a webhook gets is in the version that its registration matched. */
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
    const key = `${apiVersionOf(kind)}/${kind.kind}`;
    const keptMs = (found: unknown) => (found === undefined ? UNKNOWN_KIND_KEPT_MS : VERSIONS_KEPT_MS);
    return this.#kinds.ask(key, () => this.#parts.discovery.find(kind), keptMs);
  }

  #object(resource: ApiResource, namespace: string, name: string): Eventual<Lookup<JsonObject>> {
    if (!isSegment(name) || !isSegment(namespace || "none")) return undefined;
    const store = this.#parts.stores.of(resource, { namespace: "" });
    const watched = store.problem() === undefined ? store.items : undefined;
    const found = watched?.get(namespace, name);
    if (found !== undefined) return found;
    const path = objectPath(resource, namespace, name);
    // What a watch brings in a moment is not believed for longer than that.
    const keptMs = (object: unknown) => (watched || object === undefined ? ABSENCE_KEPT_MS : ANSWER_KEPT_MS);
    return this.#objects.ask(path, () => this.#read(path), keptMs);
  }

  async #read(path: string): Promise<JsonObject | undefined> {
    const limit = endWithin(this.#parts.signal, PARAMETER_WAIT_MS);
    try {
      const { value } = await this.#parts.http.get(path, {}, limit.signal);
      if (isObject(value)) return value;
      throw new ClusterUnreachable("the API server's answer is no object");
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      if (limit.signal.aborted) throw new ClusterUnreachable("the API server did not answer in time");
      throw error;
    } finally {
      limit.done();
    }
  }
}

const isResource = (found: Lookup<ApiResource>): found is ApiResource =>
  found !== undefined && !(found instanceof LookupFailure);
