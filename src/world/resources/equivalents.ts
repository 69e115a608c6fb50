/**
 * Resources kept in one storage (spec validating-admission-policy.md 2.7): all versions of a built-in one, as the table of built-in kinds has
 * them, and the versions of custom resources.
 */
import { builtinKinds, isBuiltin, pluralOf } from "../../kubernetes/builtin-kinds.js";
import { type GroupVersionKind, type GroupVersionResource, parseApiVersion } from "../../kubernetes/names.js";
import { type JsonObject, member, text } from "../../kubernetes/object.js";
import {
  type EquivalentResource,
  type Equivalents,
  groupsSharing,
  SomeEquivalents,
} from "../../kubernetes/shared-storage.js";

/** Resources that share a storage: see {@link ResourceSource.equivalents}. */
export interface EquivalentSet {
  readonly resources: readonly (EquivalentResource & { readonly subresource: string })[];
  /** The error of converting between its kinds; without it their shapes are equal and only the label changes. */
  readonly conversionError?: string;
}

/** The error of converting an object to another built-in shape. */
export const NO_CONVERSION = "only the API server can convert between its versions";

/**
 * Versions whose shape is another than that of the kind's other versions, found by comparing the types of Kubernetes' Go client library
 * (0.37). The versions of all other built-in kinds differ only in the label.
 */
const OTHER_SHAPES: Readonly<Record<string, readonly string[]>> = {
  "apps/Deployment": ["v1beta1"],
  "autoscaling/HorizontalPodAutoscaler": ["v1"],
  "certificates.k8s.io/PodCertificateRequest": ["v1beta1"],
  "discovery.k8s.io/EndpointSlice": ["v1beta1"],
  "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": ["v1beta1", "v1beta2"],
  "networking.k8s.io/Ingress": ["v1beta1"],
  "node.k8s.io/RuntimeClass": ["v1alpha1"],
  "rbac.authorization.k8s.io/ClusterRoleBinding": ["v1alpha1"],
  "rbac.authorization.k8s.io/RoleBinding": ["v1alpha1"],
  "resource.k8s.io/ResourceClaim": ["v1beta1"],
  "resource.k8s.io/ResourceClaimTemplate": ["v1beta1"],
  "resource.k8s.io/ResourceSlice": ["v1beta1"],
};

/** The kinds of a built-in resource, by `group/resource`. */
const BUILTIN: ReadonlyMap<string, readonly GroupVersionKind[]> = builtinTable();

function builtinTable(): Map<string, GroupVersionKind[]> {
  const table = new Map<string, GroupVersionKind[]>();
  for (const { apiVersion, kind } of builtinKinds()) {
    const version = parseApiVersion(apiVersion);
    if (version === undefined) continue;
    const key = `${version.group}/${pluralOf(kind)}`;
    const kinds = table.get(key) ?? [];
    table.set(key, kinds);
    kinds.push({ ...version, kind });
  }
  return table;
}

/**
 * The versions and groups of a built-in resource, itself included; `undefined` for one that is not built in, or newer than the table. The core
 * group has one version, and will have no other.
 */
export function builtinEquivalents(
  { group, version, resource }: GroupVersionResource,
  subresource: string,
): Equivalents | undefined {
  if (!BUILTIN.get(`${group}/${resource}`)?.some((kind) => kind.version === version)) return undefined;
  // By name, as they are registered: the core group comes first.
  const groups = [...groupsSharing(group, resource)].sort();
  const known = groups
    .flatMap((each) => BUILTIN.get(`${each}/${resource}`) ?? [])
    .map((kind) => ({
      resource: { group: kind.group, version: kind.version, resource },
      kind: subresource === "scale" ? scaleOf(kind) : kind,
    }));
  return groups.every((each) => each === "") ? known : new SomeEquivalents(known);
}

/** The Scale of a group: old groups have their own. */
function scaleOf({ group, version }: GroupVersionKind): GroupVersionKind {
  const own = { group, version, kind: "Scale" };
  return isBuiltin(own) ? own : SCALE;
}

const SCALE: GroupVersionKind = { group: "autoscaling", version: "v1", kind: "Scale" };

/** Whether two versions of a built-in kind differ only in their label. */
export function sameBuiltinShape(a: GroupVersionKind, b: GroupVersionKind): boolean {
  if (a.group !== b.group || a.kind !== b.kind || !isBuiltin(a) || !isBuiltin(b)) return false;
  const others = OTHER_SHAPES[`${a.group}/${a.kind}`] ?? [];
  return others.includes(a.version) === others.includes(b.version);
}

/** The served versions of a CustomResourceDefinition. */
export function equivalentsOf(definition: JsonObject): EquivalentSet {
  const spec = member(definition, "spec");
  const group = text(spec, "group");
  const names = member(spec, "names");
  const written = member(spec, "versions");
  const versions = (Array.isArray(written) ? (written as readonly unknown[]) : [])
    .filter((version) => member(version, "served") !== false)
    .map((version) => text(version, "name"));
  const resource = text(names, "plural");
  const kind = text(names, "kind");
  const resources = ["", "status", "scale"].flatMap((subresource) =>
    versions.map((version) => ({
      resource: { group, version, resource },
      subresource,
      kind: subresource === "scale" ? SCALE : { group, version, kind },
    })),
  );
  // Without a webhook, versions differ only in their name.
  const converts = text(member(spec, "conversion"), "strategy") === "Webhook";
  return { resources, ...(converts && { conversionError: "its conversion webhook cannot be asked here" }) };
}
