/** Lists the resources of a cluster that policies match, in pages. */
import type { Cluster } from "../../kubernetes/client/index.js";
import { PAGE_ITEMS } from "../../kubernetes/client/limits.js";
import { apiRoot, collectionPath } from "../../kubernetes/client/paths.js";
import { apiVersionOf, parseApiVersion } from "../../kubernetes/names.js";
import { isObject, type JsonObject, member, text } from "../../kubernetes/object.js";
import { KnownKinds } from "./known-kinds.js";
import { type Resource, resourceOf, withIntegers } from "./resource.js";
import { ScanError } from "./scan-error.js";

/** Resources that a policy matches; `*` stands for all. */
export interface WantedResources {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  /** Plurals; subresources can't be listed. */
  readonly resources: readonly string[];
}

/** A kind to be listed. */
interface Listed {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** The used part of a cluster's client. */
export type ListedCluster = Pick<Cluster, "http" | "signal">;

/** The resources of policies without rules. */
export const EVERYTHING: WantedResources = { apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] };

/** The resources in match constraints, as written. */
export const wantedBy = (constraints: unknown): readonly WantedResources[] =>
  listOf(member(constraints, "resourceRules")).map((rule) => ({
    apiGroups: listOf(member(rule, "apiGroups")).map(String),
    apiVersions: listOf(member(rule, "apiVersions")).map(String),
    resources: listOf(member(rule, "resources")).map((each) => String(each).replace(/\/.*$/s, "")),
  }));

/** Listable kinds that policies match; each in the version that the cluster prefers among those that are named. */
export class ClusterListing {
  readonly #cluster: ListedCluster;
  readonly #listed: readonly Listed[];
  readonly #namespace: string;
  /** The kinds, with the names of their resources. */
  readonly kinds: KnownKinds;

  private constructor(cluster: ListedCluster, listed: readonly Listed[], namespace: string) {
    this.#cluster = cluster;
    this.#listed = listed;
    this.#namespace = namespace;
    this.kinds = new KnownKinds(listed.map(definitionOf));
  }

  /**
   * Discovers the kinds.
   * @param namespace the only namespace of resources; `""`: all, and cluster-scoped resources
   * @throws ScanError when the cluster is not available
   */
  static async open(
    cluster: ListedCluster,
    wanted: readonly WantedResources[],
    namespace: string,
  ): Promise<ClusterListing> {
    const listed = new Map<string, Listed>();
    for (const version of await versionsOf(cluster)) {
      if (!wanted.some((each) => isWanted(version, each))) continue;
      for (const kind of await kindsOf(cluster, version)) {
        if (namespace !== "" && !kind.namespaced) continue;
        const key = `${kind.group}/${kind.plural}`;
        const named = (each: WantedResources) => isWanted(version, each) && names(each.resources, kind.plural);
        if (!listed.has(key) && wanted.some(named)) listed.set(key, kind);
      }
    }
    return new ClusterListing(cluster, [...listed.values()], namespace);
  }

  /** The number of resources: lists report the remaining items, or are read to the end. */
  async count(): Promise<number> {
    let count = 0;
    for (const kind of this.#listed) {
      for await (const page of this.#pagesOf(kind)) {
        count += itemsOf(page).length;
        const left = member(member(page, "metadata"), "remainingItemCount");
        if (typeof left !== "number") continue;
        count += left;
        break;
      }
    }
    return count;
  }

  /** All resources, a page at a time. */
  async *pages(): AsyncGenerator<readonly Resource[]> {
    for (const kind of this.#listed) {
      const told = { apiVersion: apiVersionOf(kind), kind: kind.kind };
      for await (const page of this.#pagesOf(kind)) {
        yield itemsOf(page).map((item) => resourceOf({ ...item, ...told }, AS_THEY_ARE));
      }
    }
  }

  async *#pagesOf(kind: Listed): AsyncGenerator<unknown> {
    const path = collectionPath(kind, this.#namespace);
    let next = "";
    for (let count = 0; count < MAX_PAGES; count++) {
      const query = { limit: String(PAGE_ITEMS), ...(next !== "" && { continue: next }) };
      const page = await read(this.#cluster, path, query);
      if (!isList(page)) throw new ScanError(`failed to load resources (${path}: the answer is not a list)`);
      yield page;
      const last = next;
      next = text(member(page, "metadata"), "continue");
      if (next === "") return;
      if (next === last) throw new ScanError(`failed to load resources (${path}: the list does not go on)`);
    }
    throw new ScanError(`failed to load resources (${path}: more than ${MAX_PAGES} pages)`);
  }
}

/** Most pages of one kind: five million objects, more than any cluster holds. */
const MAX_PAGES = 20_000;

/** Whether a page is a list: it must have items, which Go writes as `null` when empty. */
const isList = (page: unknown): boolean =>
  isObject(page) && Object.hasOwn(page, "items") && (page.items === null || Array.isArray(page.items));

/** Listed objects are what the cluster says: one without a namespace is cluster-scoped. */
const AS_THEY_ARE = { namespace: "" };

const definitionOf = ({ group, kind, plural, namespaced }: Listed): JsonObject => ({
  kind: "CustomResourceDefinition",
  spec: { group, names: { kind, plural }, scope: namespaced ? "Namespaced" : "Cluster" },
});

interface Version {
  readonly group: string;
  readonly version: string;
}

const names = (list: readonly string[], name: string): boolean => list.includes("*") || list.includes(name);
const isWanted = ({ group, version }: Version, { apiGroups, apiVersions }: WantedResources): boolean =>
  names(apiGroups, group) && names(apiVersions, version);

/** All versions of all groups; of each group the preferred one first. */
async function versionsOf(cluster: ListedCluster): Promise<readonly Version[]> {
  const groups = listOf(member(await read(cluster, "/apis", {}), "groups"));
  const versions = groups.flatMap((group) => {
    const preferred = text(member(group, "preferredVersion"), "groupVersion");
    return [preferred, ...listOf(member(group, "versions")).map((each) => text(each, "groupVersion"))];
  });
  const known = [...new Set(versions)].flatMap((version) => parseApiVersion(version) ?? []);
  return [{ group: "", version: "v1" }, ...known];
}

async function kindsOf(cluster: ListedCluster, version: Version): Promise<readonly Listed[]> {
  return listOf(member(await read(cluster, apiRoot(version), {}), "resources")).flatMap((resource) => {
    const plural = text(resource, "name");
    if (plural.includes("/") || !listOf(member(resource, "verbs")).includes("list")) return [];
    const namespaced = member(resource, "namespaced") === true;
    return [{ ...version, plural, kind: text(resource, "kind"), namespaced }];
  });
}

async function read(cluster: ListedCluster, path: string, query: Readonly<Record<string, string>>): Promise<unknown> {
  try {
    return withIntegers((await cluster.http.get(path, query, cluster.signal)).value);
  } catch (error) {
    throw new ScanError(`failed to load resources (${error instanceof Error ? error.message : String(error)})`, {
      cause: error,
    });
  }
}

const itemsOf = (page: unknown): readonly JsonObject[] => listOf(member(page, "items")).filter(isObject);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
