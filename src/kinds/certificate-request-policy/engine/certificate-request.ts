/** A cert-manager.io/v1 CertificateRequest, with the fields that policies read (spec certificate-request-policy.md 1.1). */

/** A request for a certificate. An absent field is empty, as in Go. */
export interface CertificateRequest {
  readonly name: string;
  readonly namespace: string;
  /** `spec.request`, decoded from base64: the text in PEM. */
  readonly request: Buffer;
  /** As written: no defaults. */
  readonly issuerRef: { readonly name: string; readonly kind: string; readonly group: string };
  /** Nanoseconds; an absent duration is not 0. */
  readonly duration: bigint | undefined;
  readonly isCA: boolean;
  readonly usages: readonly string[];
  readonly username: string;
  readonly groups: readonly string[];
  readonly uid: string;
  readonly extra: Readonly<Record<string, readonly string[]>>;
  /** `Approved` or `Denied` when such a condition is true already. */
  readonly decided: "Approved" | "Denied" | undefined;
}

/** The input of a decision. */
export interface ReviewInput {
  readonly request: CertificateRequest;
  /** The labels of its Namespace, if they were sent along; absent: they are looked up. */
  readonly namespaceLabels?: Readonly<Record<string, string>> | undefined;
}
