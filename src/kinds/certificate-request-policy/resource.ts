/** CertificateRequestPolicies as they are evaluated: read, complete, without what has no meaning (spec certificate-request-policy.md 2). */
import type { KindDocuments } from "../kind.js";

/** The API group of the policies. */
export const GROUP = "policy.cert-manager.io";
/** Their kind. */
export const POLICY_KIND = "CertificateRequestPolicy";
/** The one version there is. */
export const VERSION = "v1alpha1";
/** Their resource, for the `use` check. */
export const RESOURCE = "certificaterequestpolicies";

/** A CEL rule of one attribute. */
export interface ValidationRule {
  readonly rule: string;
  /** Absent: the rule is quoted. An empty one is no message at all. */
  readonly message?: string;
}

/** What every attribute's entry has. */
interface Entry {
  readonly required: boolean;
  readonly validations: readonly ValidationRule[];
}

/** Of an attribute with one value. */
export interface AllowedString extends Entry {
  /** A wildcard pattern. */
  readonly value?: string;
}

/** Of an attribute with several values. */
export interface AllowedList extends Entry {
  /** Wildcard patterns; an empty list is not an absent one. */
  readonly values?: readonly string[];
}

/** Of values under an object identifier. */
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

/** What of the subject is allowed. */
export interface AllowedSubject extends Readonly<Partial<Record<SubjectList, AllowedList>>> {
  readonly serialNumber?: AllowedString;
  readonly otherAttributes: readonly AllowedByOid[];
}

/** What a request may ask for; what is absent must not be asked for. */
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

/** What a request has to keep to. */
export interface Constraints {
  /** Nanoseconds. */
  readonly minDuration?: bigint;
  /** Nanoseconds. */
  readonly maxDuration?: bigint;
  readonly privateKey?: {
    readonly algorithm?: string;
    /** Any of Go's: a policy that was not checked may say one beyond all keys. */
    readonly minSize?: number | bigint;
    readonly maxSize?: number | bigint;
  };
}

/** Which requests a policy is for; both parts must match. */
export interface Selector {
  /** Wildcard patterns. */
  readonly issuerRef?: { readonly name?: string; readonly kind?: string; readonly group?: string };
  readonly namespace?: {
    /** Wildcard patterns; none: any name. */
    readonly matchNames: readonly string[];
    /** Absent: the Namespace is not looked at; an empty one asks for it all the same. */
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
