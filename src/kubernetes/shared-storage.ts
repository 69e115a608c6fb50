/** Resources of two API groups that are kept in one storage (spec validating-admission-policy.md 2.7). */
import type { GroupVersionKind, GroupVersionResource } from "./names.js";

/** A resource kept in the same storage as another, and the kind it has there; without a kind it cannot be converted to. */
export interface EquivalentResource {
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind | undefined;
}

/** Some of the resources that share a storage, from a table: a newer server may have others. */
export class SomeEquivalents {
  constructor(readonly resources: readonly EquivalentResource[]) {}
}

/** The resources that share a storage: all of them, or the known ones. */
export type Equivalents = readonly EquivalentResource[] | SomeEquivalents;

/** Groups in the order in which servers register them; all but the first pair are of old servers. */
const SHARED: readonly (readonly [groups: readonly [string, string], resources: string])[] = [
  [["", "events.k8s.io"], "events"],
  [["extensions", "apps"], "deployments daemonsets replicasets"],
  [["extensions", "networking.k8s.io"], "networkpolicies ingresses"],
  [["extensions", "policy"], "podsecuritypolicies"],
];

/** The pairs by resource: almost all resources have none. */
const PAIRS: ReadonlyMap<string, readonly (readonly string[])[]> = SHARED.reduce((pairs, [groups, resources]) => {
  for (const resource of resources.split(" ")) pairs.set(resource, [...(pairs.get(resource) ?? []), groups]);
  return pairs;
}, new Map<string, readonly (readonly string[])[]>());

/** The groups that serve the resource's storage: its own, then others. */
export function groupsSharing(group: string, resource: string): readonly string[] {
  const others = PAIRS.get(resource)?.find((groups) => groups.includes(group));
  return others === undefined ? [group] : [...new Set([group, ...others])];
}
