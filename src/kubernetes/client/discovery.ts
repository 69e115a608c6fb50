import { LRUCache } from "lru-cache";
import { apiVersionOf, type GroupVersionKind, type GroupVersionResource, parseApiVersion } from "../names.js";
import { member, text } from "../object.js";
import { type EquivalentResource, groupsSharing } from "../shared-storage.js";
import { ApiError } from "./errors.js";
import type { ClusterHttp } from "./http.js";
import { MAX_API_VERSIONS, UNKNOWN_KIND_KEPT_MS } from "./limits.js";
import { apiRoot, groupRoot, isSegment } from "./paths.js";

/** A resource as discovery describes it; a subresource's plural contains a slash. */
export interface ApiResource extends GroupVersionKind {
  readonly plural: string;
  readonly namespaced: boolean;
}

/** What one API version serves; empty when the cluster has no such version. */
interface ServedVersion {
  readonly at: number;
  readonly resources: readonly ApiResource[];
}

/** Asks the API server once for each API version and remembers. */
export class Discovery {
  readonly #http: ClusterHttp;
  readonly #now: () => number;

  readonly #versions: LRUCache<string, Promise<ServedVersion>>;
  readonly #ended = new AbortController();

  /** @param now monotonic milliseconds */
  constructor(http: ClusterHttp, now: () => number) {
    this.#http = http;
    this.#now = now;
    this.#versions = new LRUCache({ max: MAX_API_VERSIONS });
  }

  /** The resource of a kind; `undefined` when the cluster has no such kind. */
  async find(kind: GroupVersionKind): Promise<ApiResource | undefined> {
    const served = await this.#served(kind, ({ resources }) => resourceOf(resources, kind) !== undefined);
    return resourceOf(served.resources, kind);
  }

  /** What discovery says of a resource; `undefined` when the cluster has none of that name. */
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
        // What a version lacked a moment ago may have been defined since: taken for absent, a rule that names it would not hold.
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

  /** Ends what is under way. */
  close(): void {
    this.#ended.abort();
  }

  /** What a version serves; asked again when it lacks what is wanted and some time has passed. */
  async #served(
    { group, version }: { readonly group: string; readonly version: string },
    suffices: (served: ServedVersion) => boolean,
    keptMs = UNKNOWN_KIND_KEPT_MS,
  ): Promise<ServedVersion> {
    const key = apiVersionOf({ group, version });
    const known = this.#versions.get(key);
    if (known !== undefined) {
      const served = await known;
      if (suffices(served) || this.#now() - served.at < keptMs) return served;
    }
    const current = this.#versions.get(key);
    // Whoever finds the old answer first asks; the others wait for the new one.
    if (current !== undefined && current !== known) return current;
    const asking = this.#ask(group, version);
    this.#versions.set(key, asking);
    asking.catch(() => {
      if (this.#versions.get(key) === asking) this.#versions.delete(key);
    });
    return asking;
  }

  async #ask(group: string, version: string): Promise<ServedVersion> {
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
    return { at: this.#now(), resources };
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

function resourceOf(resources: readonly ApiResource[], { kind }: GroupVersionKind): ApiResource | undefined {
  return resources.find((resource) => resource.kind === kind && !resource.plural.includes("/"));
}

/** The kind that `apiVersion` and `kind` name; `undefined` when there can be no such version. */
export function kindOf(kind: { readonly apiVersion: string; readonly kind: string }): GroupVersionKind | undefined {
  const version = parseApiVersion(kind.apiVersion);
  if (version === undefined || !isSegment(version.group || "core") || !isSegment(version.version)) return undefined;
  return { ...version, kind: kind.kind };
}
