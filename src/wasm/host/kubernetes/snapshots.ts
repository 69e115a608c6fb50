/** The resources that Rego policies get with each call: all read at once, or one after the other through a session (spec kubewarden.md 6.5, 10.2). */
import { namespaceOf } from "../../../kubernetes/object.js";
import type { KubernetesReader, ResourceKind, ResourceSnapshot } from "../../../kubernetes/reader.js";
import type { Executor } from "../executor.js";
import { listOf, objectOf, textOf } from "../payload.js";

/** The resources for a policy. */
export interface SnapshotQuery {
  readonly kinds: readonly ResourceKind[];
  /** Whether the names of resources (such as `pods`) are needed: a session then has exchanges about them. */
  readonly plurals: boolean;
  readonly signal: AbortSignal;
}

/** All resources of the kinds. */
export function readSnapshots(reader: KubernetesReader, { kinds, signal }: SnapshotQuery): Promise<ResourceSnapshot[]> {
  return Promise.all(kinds.map((kind) => reader.snapshot(kind, signal)));
}

/** The same in kwctl's order: first all objects, by kind, then all names. */
export async function askSnapshots(
  reader: KubernetesReader,
  { kinds, plurals, signal }: SnapshotQuery,
  execute: Executor,
): Promise<ResourceSnapshot[]> {
  const ordered = [...kinds].sort((a, b) => compare(a.apiVersion, b.apiVersion) || compare(a.kind, b.kind));
  const read: { kind: ResourceKind; items: unknown[]; plural: string | undefined }[] = [];
  for (const kind of ordered) {
    let plural: string | undefined;
    const list = await execute(question("list_resources_all", kind), async () => {
      const snapshot = await reader.snapshot(kind, signal);
      plural = snapshot.plural;
      return { apiVersion: kind.apiVersion, kind: `${kind.kind}List`, metadata: {}, items: snapshot.items };
    });
    const items = listOf(objectOf(list, "a recorded list").items, "items", (item) => item);
    read.push({ kind, items, plural });
  }
  const snapshots: ResourceSnapshot[] = [];
  for (const { kind, items, plural } of read) {
    const answer = plurals && (await execute(question("resource_plural_name", kind), async () => plural));
    // A recorded list does not say whether its kind is namespaced, but its objects do.
    const namespaced = items.some((item) => namespaceOf(item) !== "");
    snapshots.push({ kind, items, namespaced, plural: answer ? textOf(answer, "a recorded name") : "" });
  }
  return snapshots;
}

function question(operation: string, { apiVersion, kind }: ResourceKind) {
  return { namespace: "kubernetes", operation, payload: { api_version: apiVersion, kind } };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
