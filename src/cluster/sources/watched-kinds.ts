/** The kinds of a cluster's resources that are policies or belong to policies. */
import { countsIn, policyIdOf } from "../../config/from-cluster/index.js";
import { type JsonObject, member, nameOf, namespaceOf, text } from "../../kubernetes/object.js";
import type { ClusterSettings } from "../settings.js";

/** The server whose policies are read, and the namespaces whose exceptions count. */
export type WatchSettings = Pick<ClusterSettings, "policyServer" | "exceptionNamespaces"> &
  Partial<Pick<ClusterSettings, "kyvernoClusterPolicies">>;

/** A kind that is watched when the cluster has it, and {@link isWatched}. */
export interface WatchedKind {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  /** The versions that we can read, the preferred one first. */
  readonly versions: readonly string[];
  /** Whether it comes with Kubernetes, and not with a CustomResourceDefinition. */
  readonly builtIn: boolean;
  /** Selects objects by the API server: rights may be limited to a name. */
  readonly fieldSelector?: (settings: WatchSettings) => string;
  /** Selects objects where the API server can't; default all. */
  readonly wanted?: (object: JsonObject, settings: WatchSettings) => boolean;
}

const KUBEWARDEN = "policies.kubewarden.io";
const KYVERNO = "policies.kyverno.io";
const ADMISSION = "admissionregistration.k8s.io";

/** The server that policies without `spec.policyServer` belong to (spec kubewarden.md 11.1). */
const DEFAULT_SERVER = "default";

const forServer = (object: JsonObject, { policyServer }: WatchSettings): boolean =>
  (text(member(object, "spec"), "policyServer") || DEFAULT_SERVER) === policyServer;

const kubewarden = (kind: string, plural: string): WatchedKind => ({
  group: KUBEWARDEN,
  kind,
  plural,
  versions: ["v1"],
  builtIn: false,
  wanted: forServer,
});

const custom = (group: string, kind: string, plural: string, versions: readonly string[]): WatchedKind => ({
  group,
  kind,
  plural,
  versions,
  builtIn: false,
});

const builtIn = (kind: string, plural: string, versions: readonly string[] = ["v1"]): WatchedKind => ({
  group: ADMISSION,
  kind,
  plural,
  versions,
  builtIn: true,
});

/** The versions of the kinds that Kubernetes 1.36 has as v1. */
const MUTATING_VERSIONS = ["v1", "v1beta1", "v1alpha1"];

/** The group of Kyverno's policies of the old language. */
const OLD_KYVERNO = "kyverno.io";
const OLD_KINDS: ReadonlySet<string> = new Set(["ClusterPolicy", "Policy", "PolicyException"]);

/** Whether a kind is watched: Kyverno's policies of the old language are where that is set. */
export const isWatched = ({ group, kind }: WatchedKind, { kyvernoClusterPolicies }: WatchSettings): boolean =>
  kyvernoClusterPolicies === true || group !== OLD_KYVERNO || !OLD_KINDS.has(kind);

/** Exceptions from Kyverno's policies: their authors decide what is exempted. */
export const POLICY_EXCEPTION: WatchedKind = {
  ...custom(KYVERNO, "PolicyException", "policyexceptions", ["v1", "v1beta1", "v1alpha1"]),
  wanted: (object, { exceptionNamespaces }) => countsIn(exceptionNamespaces, namespaceOf(object)),
};

/** Those of the old language. */
const OLD_POLICY_EXCEPTION: WatchedKind = {
  ...POLICY_EXCEPTION,
  group: OLD_KYVERNO,
  versions: ["v2", "v2beta1"],
};

/** The PolicyServer, with the registries of modules and their verification. */
export const POLICY_SERVER: WatchedKind = {
  ...custom(KUBEWARDEN, "PolicyServer", "policyservers", ["v1"]),
  fieldSelector: ({ policyServer }) => `metadata.name=${policyServer}`,
  wanted: (object, { policyServer }) => nameOf(object) === policyServer,
};

/** A ConfigMap that the PolicyServer names. */
export const CONFIG_MAP = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps" };

/** The fields in which a PolicyServer names ConfigMaps. */
export const CONFIG_MAP_FIELDS = ["verificationConfig", "sigstoreTrustConfig"];

/** Kinds of policies and of their companions. */
export const WATCHED_KINDS: readonly WatchedKind[] = [
  kubewarden("ClusterAdmissionPolicy", "clusteradmissionpolicies"),
  kubewarden("AdmissionPolicy", "admissionpolicies"),
  kubewarden("ClusterAdmissionPolicyGroup", "clusteradmissionpolicygroups"),
  kubewarden("AdmissionPolicyGroup", "admissionpolicygroups"),
  POLICY_SERVER,
  custom(KYVERNO, "ValidatingPolicy", "validatingpolicies", ["v1", "v1beta1", "v1alpha1"]),
  custom(KYVERNO, "NamespacedValidatingPolicy", "namespacedvalidatingpolicies", ["v1", "v1beta1"]),
  POLICY_EXCEPTION,
  custom(OLD_KYVERNO, "GlobalContextEntry", "globalcontextentries", ["v2", "v2beta1", "v2alpha1"]),
  custom(OLD_KYVERNO, "ClusterPolicy", "clusterpolicies", ["v1", "v2beta1"]),
  custom(OLD_KYVERNO, "Policy", "policies", ["v1", "v2beta1"]),
  OLD_POLICY_EXCEPTION,
  builtIn("ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
  builtIn("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"),
  builtIn("MutatingAdmissionPolicy", "mutatingadmissionpolicies", MUTATING_VERSIONS),
  builtIn("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", MUTATING_VERSIONS),
  custom("policy.cert-manager.io", "CertificateRequestPolicy", "certificaterequestpolicies", ["v1alpha1"]),
];

/** Whether a kind's objects are policies, rather than companions. */
export const isOfPolicies = ({ group, kind }: WatchedKind): boolean =>
  policyIdOf({ group, kind, namespace: "", name: "" }) !== undefined;

/** `<plural>.<group>`: the name of its CustomResourceDefinition. */
export const resourceName = ({ plural, group }: { readonly plural: string; readonly group: string }): string =>
  group === "" ? plural : `${plural}.${group}`;
