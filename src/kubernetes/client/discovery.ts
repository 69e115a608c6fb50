import { LRUCache } from "lru-cache";
import { builtinKinds } from "../builtin-kinds.js";
import { apiVersionOf, type GroupVersionKind, type GroupVersionResource, parseApiVersion } from "../names.js";
import { member, text } from "../object.js";
import { type EquivalentResource, groupsSharing } from "../shared-storage.js";
import type { Definitions } from "./definitions.js";
import { ApiError } from "./errors.js";
import type { ClusterHttp } from "./http.js";
import {
  CHANGING_KIND_KEPT_MS,
  DEFINITION_SETTLES_MS,
  MAX_API_VERSIONS,
  UNKNOWN_KIND_KEPT_MS,
  UNWATCHED_KIND_KEPT_MS,
  VERSIONS_KEPT_MS,
} from "./limits.js";
import { apiRoot, groupRoot, isSegment } from "./paths.js";

/** A resource as discovery describes it; a subresource's plural contains a slash. */
export interface ApiResource extends GroupVersionKind {
  readonly plural: string;
  readonly namespaced: boolean;
}

/** The resources of one API version; empty when the cluster has no such version. */
interface ServedVersion {
  readonly at: number;
  readonly resources: readonly ApiResource[];
}

/** A version that is known, or being asked for. */
interface AskedVersion {
  readonly answer: Promise<ServedVersion>;
  served?: ServedVersion;
}

/** Asks the API server once for each API version, and keeps the answer until it may have changed. */
export class Discovery {
  readonly #http: ClusterHttp;
  readonly #now: () => number;

  readonly #definitions: Pick<Definitions, "watching" | "changedAt">;
  readonly #versions: LRUCache<string, AskedVersion>;
  /** Groups that no CustomResourceDefinition has. */
  readonly #builtin = builtinGroups();
  readonly #ended = new AbortController();

  /** @param now monotonic milliseconds */
  constructor(http: ClusterHttp, definitions: Pick<Definitions, "watching" | "changedAt">, now: () => number) {
    this.#http = http;
    this.#definitions = definitions;
    this.#now = now;
    this.#versions = new LRUCache({ max: MAX_API_VERSIONS });
  }

  /** The resource of a kind; `undefined` when the cluster has no such kind. */
  async find(kind: GroupVersionKind): Promise<ApiResource | undefined> {
    const served = await this.#served(kind, ({ resources }) => resourceOf(resources, kind) !== undefined);
    return resourceOf(served.resources, kind);
  }

  /** The resource of a kind, where it is known already. */
  known(kind: GroupVersionKind): ApiResource | undefined {
    const served = this.#versions.get(apiVersionOf(kind))?.served;
    if (served === undefined || this.#now() - served.at >= this.#keptMs(kind.group, served.at, true)) return undefined;
    return resourceOf(served.resources, kind);
  }

  /** Must be called when the API server does not find a resource at its place: the known resources of its version are dropped. */
  forget({ group, version }: { readonly group: string; readonly version: string }): void {
    this.#versions.delete(apiVersionOf({ group, version }));
  }

  /** The resource by its name; `undefined` when the cluster has none of that name. */
  async findResource({ group, version, resource }: GroupVersionResource): Promise<ApiResource | undefined> {
    const named = ({ resources }: ServedVersion) => resources.find(({ plural }) => plural === resource);
    return named(await this.#served({ group, version }, (served) => named(served) !== undefined));
  }

  /** All resources in the storage of this one, itself included; `undefined` when the cluster does not know it in its version. */
  async equivalents(
    resource: GroupVersionResource,
    subresource: string,
  ): Promise<readonly EquivalentResource[] | undefined> {
    const plural = subresource === "" ? resource.resource : `${resource.resource}/${subresource}`;
    const found: EquivalentResource[] = [];
    const has = (resources: readonly ApiResource[]) => resources.find((each) => each.plural === plural);
    for (const group of groupsSharing(resource.group, resource.resource)) {
      for (const version of await this.#versionsOf(group)) {
        // A resource that a version lacked a moment ago may have been defined since: if it counted as absent, a rule that names it would not hold.
        const served = has(
          (await this.#served({ group, version }, ({ resources }) => has(resources) !== undefined, 0)).resources,
        );
        if (served === undefined) continue;
        const { kind } = served;
        const of = { group: served.group, version: served.version, kind };
        found.push({ resource: { group, version, resource: resource.resource }, kind: of });
      }
    }
    const known = found.some(
      ({ resource: each }) => each.group === resource.group && each.version === resource.version,
    );
    return known ? found : undefined;
  }

  /** Ends all requests. */
  close(): void {
    this.#ended.abort();
  }

  /**
   * The resources of a version.
   * @param lackKeptMs how long an answer without the wanted resource is kept; default: until it may have changed
   */
  async #served(
    { group, version }: { readonly group: string; readonly version: string },
    suffices: (served: ServedVersion) => boolean,
    lackKeptMs?: number,
  ): Promise<ServedVersion> {
    const key = apiVersionOf({ group, version });
    const known = this.#versions.get(key);
    if (known !== undefined) {
      const served = await known.answer;
      const enough = suffices(served);
      const keptMs = this.#keptMs(group, served.at, enough);
      if (this.#now() - served.at < (enough ? keptMs : (lackKeptMs ?? keptMs))) return served;
    }
    const current = this.#versions.get(key);
    // The first caller that finds the old answer asks; the others wait for the new one.
    if (current !== undefined && current !== known) return current.answer;
    const asked: AskedVersion = { answer: this.#ask(group, version) };
    this.#versions.set(key, asked);
    asked.answer.then(
      (served) => {
        asked.served = served;
      },
      () => {
        if (this.#versions.get(key) === asked) this.#versions.delete(key);
      },
    );
    return asked.answer;
  }

  /** How long an answer about a group is kept from its arrival. */
  #keptMs(group: string, at: number, found: boolean): number {
    const longest = found ? VERSIONS_KEPT_MS : UNKNOWN_KIND_KEPT_MS;
    if (this.#builtin.has(group)) return found ? Number.POSITIVE_INFINITY : UNKNOWN_KIND_KEPT_MS;
    if (!this.#definitions.watching) return UNWATCHED_KIND_KEPT_MS;
    const changed = this.#definitions.changedAt(group);
    return changed === undefined || at >= changed + DEFINITION_SETTLES_MS ? longest : CHANGING_KIND_KEPT_MS;
  }

  async #ask(group: string, version: string): Promise<ServedVersion> {
    // An answer from before definitions are watched is requested again then.
    if (!this.#builtin.has(group)) void this.#definitions.watching;
    const at = this.#now();
    const list = await this.#document(apiRoot({ group, version }));
    const listed = member(list, "resources");
    const resources = (Array.isArray(listed) ? listed : []).map((item: unknown): ApiResource => {
      const own = text(item, "version") !== "";
      return {
        group: own ? text(item, "group") : group,
        version: own ? text(item, "version") : version,
        kind: text(item, "kind"),
        plural: text(item, "name"),
        namespaced: member(item, "namespaced") === true,
      };
    });
    return { at, resources };
  }

  async #versionsOf(group: string): Promise<readonly string[]> {
    if (group === "") return ["v1"];
    const versions = member(await this.#document(groupRoot(group)), "versions");
    return (Array.isArray(versions) ? versions : []).map((version) => text(version, "version"));
  }

  /** The document at a path; `undefined` when there is none. */
  async #document(path: string): Promise<unknown> {
    try {
      return (await this.#http.get(path, {}, this.#ended.signal)).value;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }
}

function builtinGroups(): ReadonlySet<string> {
  const groups = [...builtinKinds()].map(({ apiVersion }) => parseApiVersion(apiVersion)?.group ?? "");
  return new Set(groups);
}

function resourceOf(resources: readonly ApiResource[], { kind }: GroupVersionKind): ApiResource | undefined {
  return resources.find((resource) => resource.kind === kind && !resource.plural.includes("/"));
}

/** The kind of `apiVersion` and `kind`; `undefined` when there can be no such version. */
export function kindOf(kind: { readonly apiVersion: string; readonly kind: string }): GroupVersionKind | undefined {
  const version = parseApiVersion(kind.apiVersion);
  if (version === undefined || !isSegment(version.group || "core") || !isSegment(version.version)) return undefined;
  return { ...version, kind: kind.kind };
}
