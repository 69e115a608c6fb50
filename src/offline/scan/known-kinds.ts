/** Kinds that are known without a cluster: built-in ones, and those of CustomResourceDefinitions (spec kyverno.md 8.2). */
import { type JsonObject, member, text } from "../../kubernetes/object.js";

/** Cluster-scoped kinds, by group. */
const CLUSTER_SCOPED: Readonly<Record<string, string>> = {
  "": "ComponentStatus Namespace Node PersistentVolume",
  "admissionregistration.k8s.io":
    "MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
  "apiextensions.k8s.io": "CustomResourceDefinition",
  "apiregistration.k8s.io": "APIService",
  "authentication.k8s.io": "SelfSubjectReview TokenReview",
  "authorization.k8s.io": "SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
  "certificates.k8s.io": "CertificateSigningRequest",
  "flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
  "networking.k8s.io": "IPAddress IngressClass ServiceCIDR",
  "node.k8s.io": "RuntimeClass",
  "rbac.authorization.k8s.io": "ClusterRole ClusterRoleBinding",
  "resource.k8s.io": "DeviceClass ResourceSlice",
  "scheduling.k8s.io": "PriorityClass",
  "storage.k8s.io": "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
};

const BUILTIN: ReadonlySet<string> = new Set(
  Object.entries(CLUSTER_SCOPED).flatMap(([group, kinds]) => kinds.split(" ").map((kind) => `${group}/${kind}`)),
);

interface Definition {
  readonly plural: string;
  readonly namespaced: boolean;
}

/** The kinds of a scan. */
export class KnownKinds {
  readonly #defined = new Map<string, Definition>();

  /** @param definitions CustomResourceDefinitions; other objects are skipped */
  constructor(definitions: readonly JsonObject[] = []) {
    for (const definition of definitions) {
      if (text(definition, "kind") !== "CustomResourceDefinition") continue;
      const spec = member(definition, "spec");
      const names = member(spec, "names");
      const namespaced = text(spec, "scope") !== "Cluster";
      this.#defined.set(`${text(spec, "group")}/${text(names, "kind")}`, { plural: text(names, "plural"), namespaced });
    }
  }

  /** Whether the kind is known to be cluster-scoped. */
  isClusterScoped(group: string, kind: string): boolean {
    const key = `${group}/${kind}`;
    const defined = this.#defined.get(key);
    return defined === undefined ? BUILTIN.has(key) : !defined.namespaced;
  }

  /** Whether a definition has the kind. */
  isDefined(group: string, kind: string): boolean {
    return this.#defined.has(`${group}/${kind}`);
  }

  /** The resource of a kind; guessed where it is unknown. */
  resourceOf(group: string, kind: string): string {
    return this.#defined.get(`${group}/${kind}`)?.plural || guessed(kind.toLowerCase());
  }
}

/** The plural that the API machinery guesses, which is not the English one. */
function guessed(singular: string): string {
  if (singular.endsWith("endpoints")) return singular;
  if (singular.endsWith("s")) return `${singular}es`;
  return singular.endsWith("y") ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}
