/**
 * The kinds every cluster has (Kubernetes 1.37, and the old API versions its client library still knows): a table, so that files can be
 * checked without a cluster.
 */
import { didYouMean } from "../data/suggest.js";
import { apiVersionOf, type GroupVersionKind, parseApiVersion } from "./names.js";

const KINDS: Readonly<Record<string, string>> = {
  v1: "Binding ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod PodTemplate RangeAllocation ReplicationController ResourceQuota Secret SerializedReference Service ServiceAccount",
  "admissionregistration.k8s.io/v1":
    "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
  "admissionregistration.k8s.io/v1alpha1":
    "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding",
  "admissionregistration.k8s.io/v1beta1":
    "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
  "apps/v1": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
  "apps/v1beta1": "ControllerRevision Deployment DeploymentRollback Scale StatefulSet",
  "apps/v1beta2": "ControllerRevision DaemonSet Deployment ReplicaSet Scale StatefulSet",
  "authentication.k8s.io/v1": "SelfSubjectReview TokenRequest TokenReview",
  "authentication.k8s.io/v1alpha1": "SelfSubjectReview",
  "authentication.k8s.io/v1beta1": "SelfSubjectReview TokenReview",
  "authorization.k8s.io/v1":
    "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
  "authorization.k8s.io/v1beta1":
    "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
  "autoscaling/v1": "HorizontalPodAutoscaler Scale",
  "autoscaling/v2": "HorizontalPodAutoscaler",
  "batch/v1": "CronJob Job",
  "batch/v1beta1": "CronJob",
  "certificates.k8s.io/v1": "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest",
  "certificates.k8s.io/v1alpha1": "ClusterTrustBundle",
  "certificates.k8s.io/v1beta1": "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest",
  "coordination.k8s.io/v1": "Lease",
  "coordination.k8s.io/v1alpha2": "LeaseCandidate",
  "coordination.k8s.io/v1beta1": "Lease LeaseCandidate",
  "discovery.k8s.io/v1": "EndpointSlice",
  "discovery.k8s.io/v1beta1": "EndpointSlice",
  "events.k8s.io/v1": "Event",
  "events.k8s.io/v1beta1": "Event",
  "extensions/v1beta1": "DaemonSet Deployment DeploymentRollback Ingress NetworkPolicy ReplicaSet Scale",
  "flowcontrol.apiserver.k8s.io/v1": "FlowSchema PriorityLevelConfiguration",
  "flowcontrol.apiserver.k8s.io/v1beta1": "FlowSchema PriorityLevelConfiguration",
  "flowcontrol.apiserver.k8s.io/v1beta2": "FlowSchema PriorityLevelConfiguration",
  "flowcontrol.apiserver.k8s.io/v1beta3": "FlowSchema PriorityLevelConfiguration",
  "internal.apiserver.k8s.io/v1alpha1": "StorageVersion",
  "lifecycle.k8s.io/v1alpha1": "Eviction EvictionRequest",
  "networking.k8s.io/v1": "IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR",
  "networking.k8s.io/v1beta1": "IPAddress Ingress IngressClass ServiceCIDR",
  "node.k8s.io/v1": "RuntimeClass",
  "node.k8s.io/v1alpha1": "RuntimeClass",
  "node.k8s.io/v1beta1": "RuntimeClass",
  "policy/v1": "Eviction PodDisruptionBudget",
  "policy/v1beta1": "Eviction PodDisruptionBudget",
  "rbac.authorization.k8s.io/v1": "ClusterRole ClusterRoleBinding Role RoleBinding",
  "rbac.authorization.k8s.io/v1alpha1": "ClusterRole ClusterRoleBinding Role RoleBinding",
  "rbac.authorization.k8s.io/v1beta1": "ClusterRole ClusterRoleBinding Role RoleBinding",
  "resource.k8s.io/v1": "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice",
  "resource.k8s.io/v1alpha3": "DeviceTaintRule ResourcePoolStatusRequest",
  "resource.k8s.io/v1beta1": "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
  "resource.k8s.io/v1beta2": "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice",
  "scheduling.k8s.io/v1": "PriorityClass",
  "scheduling.k8s.io/v1alpha3": "CompositePodGroup PodGroup Workload",
  "scheduling.k8s.io/v1beta1": "PodGroup PriorityClass Workload",
  "storage.k8s.io/v1": "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
  "storage.k8s.io/v1alpha1": "CSIStorageCapacity VolumeAttachment VolumeAttributesClass",
  "storage.k8s.io/v1beta1": "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
  "storagemigration.k8s.io/v1": "StorageVersionMigration",
  "storagemigration.k8s.io/v1beta1": "StorageVersionMigration",
};

/** API versions that no supported cluster serves any more, with all of their kinds or those that are gone. */
const REMOVED: Readonly<Record<string, string>> = {
  "admissionregistration.k8s.io/v1beta1": "MutatingWebhookConfiguration ValidatingWebhookConfiguration",
  "apps/v1beta1": "",
  "apps/v1beta2": "",
  "authorization.k8s.io/v1beta1": "",
  "batch/v1beta1": "",
  "certificates.k8s.io/v1beta1": "CertificateSigningRequest",
  "coordination.k8s.io/v1beta1": "Lease",
  "discovery.k8s.io/v1beta1": "",
  "events.k8s.io/v1beta1": "",
  "extensions/v1beta1": "",
  "flowcontrol.apiserver.k8s.io/v1beta1": "",
  "flowcontrol.apiserver.k8s.io/v1beta2": "",
  "flowcontrol.apiserver.k8s.io/v1beta3": "",
  "networking.k8s.io/v1beta1": "Ingress IngressClass",
  "node.k8s.io/v1alpha1": "",
  "node.k8s.io/v1beta1": "",
  "policy/v1beta1": "",
  "rbac.authorization.k8s.io/v1alpha1": "",
  "rbac.authorization.k8s.io/v1beta1": "",
  "scheduling.k8s.io/v1beta1": "PriorityClass",
  "storage.k8s.io/v1alpha1": "",
  "storage.k8s.io/v1beta1": "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment",
};

const CLUSTER_SCOPED: ReadonlySet<string> = new Set(
  (
    "CSIDriver CSINode CertificateSigningRequest ClusterRole ClusterRoleBinding ClusterTrustBundle ComponentStatus DeviceClass " +
    "DeviceTaintRule FlowSchema IPAddress IngressClass MutatingAdmissionPolicy MutatingAdmissionPolicyBinding " +
    "MutatingWebhookConfiguration Namespace Node PersistentVolume PriorityClass PriorityLevelConfiguration ResourceSlice RuntimeClass " +
    "SelfSubjectAccessReview SelfSubjectReview SelfSubjectRulesReview ServiceCIDR StorageClass StorageVersion StorageVersionMigration " +
    "SubjectAccessReview TokenReview ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration " +
    "VolumeAttachment VolumeAttributesClass"
  ).split(" "),
);

const KINDS_BY_VERSION: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(KINDS).map(([version, kinds]) => [version, new Set(kinds.split(" "))]),
);

function isRemoved(apiVersion: string, kind: string): boolean {
  const gone = REMOVED[apiVersion];
  return gone === "" || gone?.split(" ").includes(kind) === true;
}

/** Whether the kind is built in. */
export const isBuiltin = (kind: GroupVersionKind): boolean =>
  KINDS_BY_VERSION.get(apiVersionOf(kind))?.has(kind.kind) ?? false;

/** Whether objects of a built-in kind live in namespaces; `undefined` for a kind that is not built in. */
export const builtinNamespaced = (kind: GroupVersionKind): boolean | undefined =>
  isBuiltin(kind) ? !CLUSTER_SCOPED.has(kind.kind) : undefined;

const groupOf = (apiVersion: string): string => parseApiVersion(apiVersion)?.group ?? apiVersion;

/** Kinds that the API server's client library does not know, and whether their objects live in namespaces. */
const EXTENSIONS: readonly (readonly [kind: string, namespaced: boolean])[] = [
  ["apiextensions.k8s.io/CustomResourceDefinition", false],
  ["apiregistration.k8s.io/APIService", false],
  ["cert-manager.io/CertificateRequest", true],
];
/** All of their versions, also those that are gone: whether the objects live in namespaces, by `group/kind`. */
const SCOPES: ReadonlyMap<string, boolean> = new Map([
  ...Object.entries(KINDS).flatMap(([apiVersion, kinds]) =>
    kinds.split(" ").map((kind): [string, boolean] => [`${groupOf(apiVersion)}/${kind}`, !CLUSTER_SCOPED.has(kind)]),
  ),
  ...EXTENSIONS,
]);

/** Whether objects of a built-in kind live in namespaces, in whatever version; `undefined` for a kind that is not built in. */
export const builtinScope = ({ group, kind }: Pick<GroupVersionKind, "group" | "kind">): boolean | undefined =>
  SCOPES.get(`${group}/${kind}`);

/** The resource of a kind by the rules of English that Kubernetes' client library uses. */
export function pluralOf(kind: string): string {
  const lower = kind.toLowerCase();
  if (lower === "endpoints") return lower;
  if (lower.endsWith("s")) return `${lower}es`;
  if (lower.endsWith("y")) return `${lower.slice(0, -1)}ies`;
  return `${lower}s`;
}

/**
 * The reason why no cluster has objects of this `apiVersion` and kind; `undefined` where one may: another API group than those that are built in
 * may have any kind, unless it is nearly one of these and the kind is one of its kinds.
 */
export function mistakenKind(apiVersion: string, kind: string): string | undefined {
  const kinds = KINDS_BY_VERSION.get(apiVersion);
  if (kinds !== undefined) {
    const item = kind.replace(/List$/, "");
    if (isRemoved(apiVersion, item)) {
      const served = versionsOf(item);
      const now = served.find((each) => groupOf(each) === groupOf(apiVersion)) ?? served[0];
      return `Kubernetes has no ${kind} in ${apiVersion}${now === undefined ? "" : ` (did you mean ${JSON.stringify(now)}?)`}`;
    }
    if (kinds.has(kind) || item !== kind) return undefined;
    return `${apiVersion} has no kind ${kind}${didYouMean(kind, kinds)}`;
  }
  const group = groupOf(apiVersion);
  const meant = didYouMean(apiVersion, versionsOf(kind));
  if (GROUPS.has(group))
    return `Kubernetes has no ${apiVersion}${meant || didYouMean(apiVersion, KINDS_BY_VERSION.keys())}`;
  return meant === "" ? undefined : `Kubernetes has no ${kind} in ${apiVersion}${meant}`;
}

/** The `apiVersion`s in which clusters have a kind. */
const versionsOf = (kind: string): readonly string[] =>
  [...KINDS_BY_VERSION].flatMap(([version, known]) => (known.has(kind) && !isRemoved(version, kind) ? [version] : []));

const GROUPS: ReadonlySet<string> = new Set([...KINDS_BY_VERSION.keys()].map(groupOf));

/** A built-in kind in one of its versions. */
export interface BuiltinKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** All built-in kinds with the `apiVersion`s they have. */
export function* builtinKinds(): Iterable<BuiltinKind> {
  for (const [apiVersion, kinds] of KINDS_BY_VERSION) for (const kind of kinds) yield { apiVersion, kind };
}

const BY_KIND = new Map<string, BuiltinKind[]>();
const BY_RESOURCE = new Map<string, BuiltinKind[]>();
for (const each of builtinKinds())
  for (const [map, key] of [[BY_KIND, each.kind] as const, [BY_RESOURCE, pluralOf(each.kind)] as const])
    map.set(key, [...(map.get(key) ?? []), each]);

/** The built-in kinds of a name, in all groups and versions. */
export const builtinKindsNamed = (kind: string): readonly BuiltinKind[] => BY_KIND.get(kind) ?? [];

/** The built-in kinds of a resource, such as `pods`, in all groups and versions. */
export const builtinKindsOf = (resource: string): readonly BuiltinKind[] => BY_RESOURCE.get(resource) ?? [];
