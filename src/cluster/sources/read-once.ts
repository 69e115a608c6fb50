/** Reads all policies of a cluster and what belongs to them once: for commands. */
import type { ClusterDocument } from "../../config/from-cluster/cluster-document.js";
import { parseJson } from "../../data/json.js";
import { isNotFound } from "../../kubernetes/client/errors.js";
import { type ListedCluster, objectPages } from "../../kubernetes/client/object-pages.js";
import { groupRoot } from "../../kubernetes/client/paths.js";
import { member, text } from "../../kubernetes/object.js";
import { documentOf } from "./document.js";
import { Items } from "./items.js";
import { whyLeftOut } from "./left-out.js";
import {
  CONFIG_MAP,
  CONFIG_MAP_FIELDS,
  isOfPolicies,
  isWatched,
  POLICY_SERVER,
  WATCHED_KINDS,
  type WatchedKind,
  type WatchSettings,
} from "./watched-kinds.js";

/** The result. */
export interface ReadDocuments {
  readonly documents: readonly ClusterDocument[];
  /** Kinds that could not be read: their policies are not known. */
  readonly problems: readonly string[];
}

/** Reads the documents. A kind that the cluster doesn't have has no policies; one that can't be read is a problem. */
export async function readDocuments(cluster: ListedCluster, server: WatchSettings): Promise<ReadDocuments> {
  const documents: ClusterDocument[] = [];
  const problems: string[] = [];
  for (const kind of WATCHED_KINDS.filter((each) => isWatched(each, server))) {
    try {
      const items = await readKind(cluster, kind, server);
      const found = Array.from(items?.all.values() ?? [], ({ document }) => document);
      documents.push(...found);
      for (const [namespace, limit] of items?.out ?? []) problems.push(whyLeftOut(namespace, kind.kind, limit));
      if (kind === POLICY_SERVER) documents.push(...(await configMaps(cluster, found)));
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  return { documents, problems };
}

async function readKind(cluster: ListedCluster, kind: WatchedKind, server: WatchSettings): Promise<Items | undefined> {
  for (const version of await versionsOf(cluster, kind)) {
    const items = await readVersion(cluster, kind, version, server);
    if (items !== undefined) return items;
  }
  return undefined;
}

/** The objects of a kind in a version; undefined where the version does not have the kind. */
async function readVersion(
  cluster: ListedCluster,
  kind: WatchedKind,
  version: string,
  server: WatchSettings,
): Promise<Items | undefined> {
  const { group, plural, fieldSelector, wanted = () => true } = kind;
  const named = { group, version, kind: kind.kind };
  const query = fieldSelector === undefined ? {} : { fieldSelector: fieldSelector(server) };
  const items = new Items({ kind: named, wanted: (object) => wanted(object, server), arePolicies: isOfPolicies(kind) });
  try {
    for await (const page of objectPages(cluster, { group, version, plural }, "", query))
      for (const item of page.items) items.put(item);
  } catch (error) {
    // The group exists, but not this kind.
    if (error instanceof Error && isNotFound(error.cause)) return undefined;
    throw error;
  }
  return items;
}

/** The versions to read, the preferred one first: those of the group that are known here. */
async function versionsOf(
  { http, signal }: ListedCluster,
  { group, versions }: WatchedKind,
): Promise<readonly string[]> {
  try {
    const { value } = await http.get(groupRoot(group), {}, signal);
    const served = listOf(member(value, "versions")).map((each) => text(each, "version"));
    return versions.filter((version) => served.includes(version));
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

/** The ConfigMaps that a PolicyServer names; its namespace is not known from outside, so that a name must be unique. */
async function configMaps(
  cluster: ListedCluster,
  servers: readonly ClusterDocument[],
): Promise<readonly ClusterDocument[]> {
  const names = servers.flatMap((server) => {
    const spec = member(parseJson(server.text), "spec");
    return CONFIG_MAP_FIELDS.map((field) => text(spec, field)).filter((name) => name !== "");
  });
  const documents: ClusterDocument[] = [];
  for (const name of names) {
    const found: ClusterDocument[] = [];
    for await (const { items } of objectPages(cluster, CONFIG_MAP, "", { fieldSelector: `metadata.name=${name}` }))
      for (const item of items) found.push(documentOf(item, CONFIG_MAP));
    if (found.length > 1) throw new Error(`several namespaces have the ConfigMap ${name} that the PolicyServer names`);
    documents.push(...found);
  }
  return documents;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
