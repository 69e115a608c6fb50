/** Kyverno's resources as they are written (spec kyverno.md 1 and 5.1), after strict decoding: members are absent, never null, and of the right JSON type. */

import type { FieldPath } from "../../kubernetes/field-error.js";
import type { KindDocuments } from "../kind.js";
import type { MatchResources } from "../shared/match/match-resources.js";
import type { MutationSpec } from "../shared/mutation/compile-mutation.js";

/** The API group of policies and exceptions. */
export const GROUP = "policies.kyverno.io";
export const POLICY_KIND = "ValidatingPolicy";
export const NAMESPACED_POLICY_KIND = "NamespacedValidatingPolicy";
export const MUTATING_KIND = "MutatingPolicy";
export const NAMESPACED_MUTATING_KIND = "NamespacedMutatingPolicy";
export const IMAGE_KIND = "ImageValidatingPolicy";
export const NAMESPACED_IMAGE_KIND = "NamespacedImageValidatingPolicy";
export const EXCEPTION_KIND = "PolicyException";
/** The API group of GlobalContextEntry, and of policies and exceptions of the old language. */
export const CONTEXT_GROUP = "kyverno.io";
export const CONTEXT_ENTRY_KIND = "GlobalContextEntry";

/** The members of `metadata` that are used. */
export interface Metadata {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A named expression: a match condition or a variable. */
export interface NamedExpression {
  readonly name?: string;
  readonly expression?: string;
}

/** One rule that must hold. */
export interface Validation {
  readonly expression?: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

/** One annotation of the report. */
export interface AuditAnnotation {
  readonly key?: string;
  readonly valueExpression?: string;
}

/** A text, or an expression that gives one. */
interface TextOrExpression {
  readonly value?: string;
  readonly expression?: string;
}

/** An attestor as it is written. */
export interface WrittenAttestor {
  readonly name?: string;
  readonly cosign?: {
    readonly key?: {
      readonly data?: string;
      readonly kms?: string;
      readonly hashAlgorithm?: string;
      readonly expression?: string;
    };
    readonly keyless?: {
      readonly identities?: readonly {
        readonly issuer?: string;
        readonly subject?: string;
        readonly issuerRegExp?: string;
        readonly subjectRegExp?: string;
        readonly subjectExpression?: string;
      }[];
      readonly roots?: string;
      readonly additionalExtensions?: Readonly<Record<string, string>>;
    };
    readonly certificate?: { readonly cert?: TextOrExpression; readonly certChain?: TextOrExpression };
    readonly source?: {
      readonly repository?: string;
      readonly PullSecrets?: readonly { readonly name?: string }[];
      readonly tagPrefix?: string;
    };
    readonly ctlog?: {
      readonly url?: string;
      readonly rekorPubKey?: string;
      readonly ctLogPubKey?: string;
      readonly tsaCertChain?: string;
      readonly insecureIgnoreTlog?: boolean;
      readonly insecureIgnoreSCT?: boolean;
    };
    readonly tuf?: object;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly trustedRoot?: TextOrExpression;
  };
  readonly notary?: { readonly certs?: TextOrExpression; readonly tsaCerts?: TextOrExpression };
}

/** An attestation as it is written. */
export interface WrittenAttestation {
  readonly name?: string;
  readonly intoto?: { readonly type?: string };
  readonly referrer?: { readonly type?: string };
}

/** `spec` of a policy; validations are those of ValidatingPolicies, mutations and targets those of MutatingPolicies. */
export interface PolicySpec {
  readonly failurePolicy?: string;
  readonly matchConstraints?: MatchResources;
  readonly matchConditions?: readonly NamedExpression[];
  readonly variables?: readonly NamedExpression[];
  readonly validations?: readonly Validation[];
  readonly auditAnnotations?: readonly AuditAnnotation[];
  readonly validationActions?: readonly string[];
  readonly mutations?: readonly MutationSpec[];
  readonly targetMatchConstraints?: object;
  readonly evaluation?: {
    readonly mode?: string;
    readonly mutateExisting?: { readonly enabled?: boolean };
    readonly useServerSideApply?: boolean;
    readonly admission?: { readonly enabled?: boolean };
    readonly background?: { readonly enabled?: boolean };
  };
  readonly autogen?: {
    readonly podControllers?: { readonly controllers?: readonly string[] };
    readonly validatingAdmissionPolicy?: { readonly enabled?: boolean };
    readonly mutatingAdmissionPolicy?: { readonly enabled?: boolean };
  };
  readonly webhookConfiguration?: { readonly timeoutSeconds?: number };
  /** Of ImageValidatingPolicies, as all that follow. */
  readonly validationConfigurations?: {
    readonly mutateDigest?: boolean;
    readonly verifyDigest?: boolean;
    readonly required?: boolean;
  };
  readonly matchImageReferences?: readonly { readonly glob?: string; readonly expression?: string }[];
  readonly credentials?: {
    readonly allowInsecureRegistry?: boolean;
    readonly providers?: readonly string[];
    readonly secrets?: readonly string[];
  };
  readonly images?: readonly NamedExpression[];
  readonly attestors?: readonly WrittenAttestor[];
  readonly attestations?: readonly WrittenAttestation[];
}

/** The origin of a policy that was made of a rule of an old one when that was loaded; it is never written. */
export interface ConvertedWhenLoaded {
  /** The place in the old file, such as `policy.yaml:12`, of a part; absent: not known. */
  readonly placeOf?: (path: FieldPath) => string;
  /** Why the rule is not converted: then the policy only matches, and every object that it matches is an error. */
  readonly reason?: string;
}

/** The kinds of policies. */
export type PolicyKind =
  | typeof POLICY_KIND
  | typeof NAMESPACED_POLICY_KIND
  | typeof MUTATING_KIND
  | typeof NAMESPACED_MUTATING_KIND
  | typeof IMAGE_KIND
  | typeof NAMESPACED_IMAGE_KIND;

/** A policy that judges, or one that changes objects. */
export interface PolicyResource {
  readonly apiVersion: string;
  readonly kind: PolicyKind;
  readonly metadata: Metadata;
  readonly spec: PolicySpec;
  readonly converted?: ConvertedWhenLoaded;
}

/** Whether a policy changes objects. */
export const isMutating = ({ kind }: { readonly kind: string }): boolean =>
  kind === MUTATING_KIND || kind === NAMESPACED_MUTATING_KIND;

/** Whether a policy judges by signatures of images. */
export const isImageValidating = ({ kind }: { readonly kind: string }): boolean =>
  kind === IMAGE_KIND || kind === NAMESPACED_IMAGE_KIND;

/** Whether policies of the kind are for their own namespace. */
export const isNamespaced = ({ kind }: { readonly kind: string }): boolean =>
  kind === NAMESPACED_POLICY_KIND || kind === NAMESPACED_MUTATING_KIND || kind === NAMESPACED_IMAGE_KIND;

/**
 * Whether a policy's functions see one namespace only. That depends on its namespace, not on its kind: a cluster gives every namespaced policy one
 * and removes it from all others, but the reference's command uses files as they are (spec kyverno.md 1.7).
 */
export const isConfined = ({ metadata }: Pick<PolicyResource, "metadata">): boolean =>
  (metadata.namespace ?? "") !== "";

/** Whether a policy has no validations or mutations, and checks no digests and signatures: Kyverno passes everything that it matches. */
export const judgesNothing = (policy: Pick<PolicyResource, "kind" | "spec">): boolean => {
  const { validations = [], mutations = [], validationConfigurations } = policy.spec;
  const { verifyDigest = true, required = true } = validationConfigurations ?? {};
  if (isImageValidating(policy) && (verifyDigest || required)) return false;
  return (isMutating(policy) ? mutations : validations).length === 0;
};

/** The words about a policy that {@link judgesNothing}. */
export const lacking = (policy: Pick<PolicyResource, "kind">): string =>
  isMutating(policy) ? "has no mutations: it changes nothing" : "has no validations: it judges nothing";

/** A PolicyException. */
export interface ExceptionResource {
  readonly apiVersion: string;
  readonly kind: typeof EXCEPTION_KIND;
  readonly metadata: Metadata;
  readonly spec: {
    readonly policyRefs?: readonly { readonly name?: string; readonly kind?: string }[];
    readonly matchConditions?: readonly NamedExpression[];
    readonly images?: readonly string[];
    readonly allowedValues?: readonly string[];
    readonly reportResult?: string;
    /** RFC 3339. */
    readonly expiresAt?: string;
    readonly properties?: Readonly<Record<string, string>>;
    readonly evaluationMode?: string;
  };
}

/** A GlobalContextEntry (spec kyverno.md 4.5). */
export interface ContextEntryResource {
  readonly apiVersion: string;
  readonly kind: typeof CONTEXT_ENTRY_KIND;
  readonly metadata: Metadata;
  readonly spec: {
    readonly kubernetesResource?: {
      readonly group?: string;
      readonly version?: string;
      readonly resource?: string;
      readonly namespace?: string;
    };
    readonly apiCall?: {
      readonly urlPath?: string;
      readonly method?: string;
      readonly data?: readonly { readonly key?: string; readonly value?: unknown }[];
      readonly service?: {
        readonly url?: string;
        readonly caBundle?: string;
        readonly headers?: readonly { readonly key?: string; readonly value?: string }[];
      };
      /** A Go duration. */
      readonly refreshInterval?: string;
      readonly retryLimit?: number;
    };
    readonly projections?: readonly { readonly name?: string; readonly jmesPath?: string }[];
  };
}

/** The documents of the kind. */
export const KYVERNO_DOCUMENTS: KindDocuments = {
  policies: [
    { group: GROUP, kind: POLICY_KIND },
    { group: GROUP, kind: NAMESPACED_POLICY_KIND },
    { group: GROUP, kind: MUTATING_KIND },
    { group: GROUP, kind: NAMESPACED_MUTATING_KIND },
    { group: GROUP, kind: IMAGE_KIND },
    { group: GROUP, kind: NAMESPACED_IMAGE_KIND },
    // Those of the old language are converted when they are loaded.
    { group: CONTEXT_GROUP, kind: "ClusterPolicy" },
    { group: CONTEXT_GROUP, kind: "Policy" },
  ],
  companions: [
    { group: GROUP, kind: EXCEPTION_KIND },
    { group: CONTEXT_GROUP, kind: EXCEPTION_KIND },
    { group: CONTEXT_GROUP, kind: CONTEXT_ENTRY_KIND },
  ],
};
