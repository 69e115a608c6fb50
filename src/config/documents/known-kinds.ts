/** Kinds of policies from other tools, and what can be done with them here: a file of one of them deserves a better message than "unknown". */
import { didYouMean } from "../../data/suggest.js";
import type { DocumentIdentity } from "./documents.js";

/** A kind that is known by its name. */
export interface KnownKind {
  /** Its name, as a noun with its article: `Kyverno's ClusterPolicy`. */
  readonly what: string;
  /** Its use here: as documents of a `resource:` entry, alone in the file of such an entry, or none. */
  readonly use: "resource" | "resource-alone" | "none";
  /** The advice for a document of it, as an imperative: `write it as …`. */
  readonly advice: string;
  /** The page with details. */
  readonly page: string;
}

const KUBEWARDEN = "policies.kubewarden.io";
const ADMISSION = "admissionregistration.k8s.io";
const KYVERNO = "policies.kyverno.io";
const OLD_KYVERNO = "kyverno.io";

const NAME_IT = "name its file by `resource:` in an entry of policies.yaml";
const NAME_IT_ALONE = "name its file, with no other document in it, by `resource:` in an entry of policies.yaml";
const WITH_ITS_POLICY = "put it into the file of its policy, which an entry of policies.yaml names by `resource:`";
const AS_MUTATING = "write what it changes as a MutatingAdmissionPolicy";
const AS_REGO_MODULE = "compile its Rego with `opa build -t wasm` and serve the module by `module:`";

const served = (what: string, page: string, advice = NAME_IT): KnownKind => ({ what, use: "resource", advice, page });
const alone = (what: string): KnownKind => ({
  what,
  use: "resource-alone",
  advice: NAME_IT_ALONE,
  page: "docs/configuration.md",
});
const none = (what: string, advice: string, page: string): KnownKind => ({ what, use: "none", advice, page });

const VALIDATING_PAGE = "docs/validating-admission-policies.md";
const MUTATING_PAGE = "docs/mutating-admission-policies.md";
const KYVERNO_PAGE = "docs/kyverno.md";
const CLUSTER_POLICIES_PAGE = "docs/kyverno-cluster-policies.md";
const GUESTS_PAGE = "docs/guests.md";

/** The kinds by `group/kind`. */
const KINDS: ReadonlyMap<string, KnownKind> = new Map([
  [`${ADMISSION}/ValidatingAdmissionPolicy`, served("a ValidatingAdmissionPolicy", VALIDATING_PAGE)],
  [
    `${ADMISSION}/ValidatingAdmissionPolicyBinding`,
    served("the binding of a ValidatingAdmissionPolicy", VALIDATING_PAGE, WITH_ITS_POLICY),
  ],
  [`${ADMISSION}/MutatingAdmissionPolicy`, served("a MutatingAdmissionPolicy", MUTATING_PAGE)],
  [
    `${ADMISSION}/MutatingAdmissionPolicyBinding`,
    served("the binding of a MutatingAdmissionPolicy", MUTATING_PAGE, WITH_ITS_POLICY),
  ],
  [`${KYVERNO}/ValidatingPolicy`, served("Kyverno's ValidatingPolicy", KYVERNO_PAGE)],
  [`${KYVERNO}/NamespacedValidatingPolicy`, served("Kyverno's NamespacedValidatingPolicy", KYVERNO_PAGE)],
  [`${KYVERNO}/MutatingPolicy`, served("Kyverno's MutatingPolicy", KYVERNO_PAGE)],
  [`${KYVERNO}/NamespacedMutatingPolicy`, served("Kyverno's NamespacedMutatingPolicy", KYVERNO_PAGE)],
  [`${KYVERNO}/ImageValidatingPolicy`, served("Kyverno's ImageValidatingPolicy", KYVERNO_PAGE)],
  [`${KYVERNO}/NamespacedImageValidatingPolicy`, served("Kyverno's NamespacedImageValidatingPolicy", KYVERNO_PAGE)],
  [`${KYVERNO}/PolicyException`, served("an exception from Kyverno's policies", KYVERNO_PAGE, WITH_ITS_POLICY)],
  [
    `${OLD_KYVERNO}/GlobalContextEntry`,
    served("what Kyverno's policies look up, a GlobalContextEntry", KYVERNO_PAGE, WITH_ITS_POLICY),
  ],
  [
    "policy.cert-manager.io/CertificateRequestPolicy",
    served("cert-manager's CertificateRequestPolicy", "docs/certificate-request-policies.md"),
  ],
  ...["AdmissionPolicy", "ClusterAdmissionPolicy", "AdmissionPolicyGroup", "ClusterAdmissionPolicyGroup"].map(
    (kind): [string, KnownKind] => [`${KUBEWARDEN}/${kind}`, alone(`Kubewarden's ${kind}`)],
  ),
  [
    `${KUBEWARDEN}/PolicyServer`,
    none(
      "Kubewarden's PolicyServer, the settings of a server",
      "run the server with the same settings as options, or with --from-cluster where the resource is",
      "docs/cluster.md",
    ),
  ],
  ...["ClusterPolicy", "Policy"].map((kind): [string, KnownKind] => [
    `${OLD_KYVERNO}/${kind}`,
    served(`Kyverno's ${kind}`, CLUSTER_POLICIES_PAGE),
  ]),
  [
    `${OLD_KYVERNO}/PolicyException`,
    served("an exception from Kyverno's ClusterPolicies", CLUSTER_POLICIES_PAGE, WITH_ITS_POLICY),
  ],
  ...[
    `${KYVERNO}/GeneratingPolicy`,
    `${KYVERNO}/NamespacedGeneratingPolicy`,
    `${KYVERNO}/DeletingPolicy`,
    `${KYVERNO}/NamespacedDeletingPolicy`,
    `${OLD_KYVERNO}/CleanupPolicy`,
    `${OLD_KYVERNO}/ClusterCleanupPolicy`,
    `${OLD_KYVERNO}/UpdateRequest`,
  ].map((name): [string, KnownKind] => [
    name,
    none(
      `Kyverno's ${name.slice(name.indexOf("/") + 1)}, which acts on a cluster beside its requests`,
      "leave it to Kyverno: policies here only answer requests",
      KYVERNO_PAGE,
    ),
  ]),
  ["templates.gatekeeper.sh/ConstraintTemplate", none("Gatekeeper's ConstraintTemplate", AS_REGO_MODULE, GUESTS_PAGE)],
  ...["Assign", "AssignMetadata", "AssignImage", "ModifySet"].map((kind): [string, KnownKind] => [
    `mutations.gatekeeper.sh/${kind}`,
    none(`Gatekeeper's ${kind}, a mutation`, AS_MUTATING, MUTATING_PAGE),
  ]),
]);

/** The kinds that Gatekeeper makes of templates. */
const CONSTRAINT: KnownKind = none(
  "a constraint of Gatekeeper, the parameters and the match of its template",
  "compile its template's Rego with `opa build -t wasm`, serve the module by `module:`, and give its parameters as `settings:`",
  GUESTS_PAGE,
);

/** The known kind; `undefined` for all that are neither policies nor their companions. */
export function knownKind({ group, kind }: Pick<DocumentIdentity, "group" | "kind">): KnownKind | undefined {
  return group === "constraints.gatekeeper.sh" ? CONSTRAINT : KINDS.get(`${group}/${kind}`);
}

/** API groups that have policies, and little else. */
const POLICY_GROUPS: ReadonlySet<string> = new Set([
  ...[KUBEWARDEN, KYVERNO, OLD_KYVERNO, "policy.cert-manager.io"],
  ...["templates.gatekeeper.sh", "constraints.gatekeeper.sh", "mutations.gatekeeper.sh"],
]);
/** Kinds of those groups that decide no request. */
const NO_POLICIES: ReadonlySet<string> = new Set(["PolicyServer", "UpdateRequest"]);
const KIND_NAMES: ReadonlySet<string> = new Set(Array.from(KINDS.keys(), (key) => key.slice(key.indexOf("/") + 1)));

/** Whether a document is a policy, or meant as one: it has the group or the kind of policies, or nearly so. */
export function isPolicyLike({ group, kind }: Pick<DocumentIdentity, "group" | "kind">): boolean {
  if (POLICY_GROUPS.has(group)) return !NO_POLICIES.has(kind);
  if (KIND_NAMES.has(kind))
    return KINDS.has(`${group}/${kind}`) || kind.includes("Admission") || kind.includes("Validating");
  return group === ADMISSION && !kind.endsWith("WebhookConfiguration");
}

/** The advice for a document of an unknown kind that is meant as a policy; `""`: none. */
export const nearKind = (kind: string): string => didYouMean(kind, [...KIND_NAMES]);

/** The advice for a problem's hint. */
export const adviceOn = ({ advice, page }: KnownKind): string => `${advice} (${page})`;
