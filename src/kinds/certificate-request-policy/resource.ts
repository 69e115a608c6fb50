/** CertificateRequestPolicies as they are evaluated: decoded, with defaults, without parts that have no meaning (spec certificate-request-policy.md 2). */
import type { KindDocuments } from "../kind.js";

/** The API group of the policies. */
export const GROUP = "policy.cert-manager.io";
/** Their kind. */
export const POLICY_KIND = "CertificateRequestPolicy";
/** The only version. */
export const VERSION = "v1alpha1";
/** Their resource, for the `use` check. */
export const RESOURCE = "certificaterequestpolicies";

/** A CEL rule of one attribute. */
export interface ValidationRule {
  readonly rule: string;
  /** Absent: the rule is quoted. An empty message counts as absent. */
  readonly message?: string;
}

/** The common part of every attribute's entry. */
interface Entry {
  readonly required: boolean;
  readonly validations: readonly ValidationRule[];
}

/** The entry of an attribute with one value. */
export interface AllowedString extends Entry {
  /** A wildcard pattern. */
  readonly value?: string;
}

/** The entry of an attribute with several values. */
export interface AllowedList extends Entry {
  /** Wildcard patterns; an empty list is not an absent one. */
  readonly values?: readonly string[];
}

/** The entry of values under an object identifier. */
export interface AllowedByOid extends AllowedList {
  readonly oid: string;
}

/** The attributes of the subject that have a list each. */
export type SubjectList =
  | "organizations"
  | "countries"
  | "organizationalUnits"
  | "localities"
  | "provinces"
  | "streetAddresses"
  | "postalCodes";

/** The allowed attributes of the subject. */
export interface AllowedSubject extends Readonly<Partial<Record<SubjectList, AllowedList>>> {
  readonly serialNumber?: AllowedString;
  readonly otherAttributes: readonly AllowedByOid[];
}

/** The attributes that a request may have; one that is absent here must be absent there. */
export interface Allowed {
  readonly commonName?: AllowedString;
  readonly dnsNames?: AllowedList;
  readonly ipAddresses?: AllowedList;
  readonly uris?: AllowedList;
  readonly emailAddresses?: AllowedList;
  readonly isCA?: boolean;
  readonly usages?: readonly string[];
  readonly subject?: AllowedSubject;
  readonly otherNames: readonly AllowedByOid[];
}

/** The constraints of a request. */
export interface Constraints {
  /** Nanoseconds. */
  readonly minDuration?: bigint;
  /** Nanoseconds. */
  readonly maxDuration?: bigint;
  readonly privateKey?: {
    readonly algorithm?: string;
    /** Any of Go's integers: a policy that was not checked may have one that no key can meet. */
    readonly minSize?: number | bigint;
    readonly maxSize?: number | bigint;
  };
}

/** Selects the requests of a policy; both parts must match. */
export interface Selector {
  /** Wildcard patterns. */
  readonly issuerRef?: { readonly name?: string; readonly kind?: string; readonly group?: string };
  readonly namespace?: {
    /** Wildcard patterns; none: any name. */
    readonly matchNames: readonly string[];
    /** Absent: the Namespace is not needed; an empty map needs it all the same. */
    readonly matchLabels?: Readonly<Record<string, string>>;
  };
}

/** A policy. */
export interface CertificateRequestPolicy {
  readonly name: string;
  readonly allowed?: Allowed;
  readonly constraints?: Constraints;
  readonly selector: Selector;
  /** Names of plugins with settings here, in order. */
  readonly plugins: readonly string[];
  /** The status of its `Ready` condition; `undefined` when there is none. */
  readonly ready: string | undefined;
}

/** The documents of the kind. */
export const CERTIFICATE_REQUEST_DOCUMENTS: KindDocuments = {
  policies: [{ group: GROUP, kind: POLICY_KIND }],
  companions: [],
};
