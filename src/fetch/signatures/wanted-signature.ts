/** Required signatures: their checks against an image's signatures, and their texts in messages. */
import { keyFingerprint, readPublicKey } from "../../config/public-key.js";
import type { VerificationConfig, WantedSignature } from "../../config/verification.js";
import { printYaml } from "../../data/print-yaml.js";
import { FetchError } from "../fetch-error.js";
import {
  certificateProblem,
  issuersOf,
  type SignerIdentity,
  signedWithCertificate,
  signedWithKey,
  type TrustedCertificate,
} from "./layer-verification.js";
import type { Signature } from "./signature-layer.js";
import type { TrustRoot } from "./trust-root.js";

const GITHUB_ISSUER = "https://token.actions.githubusercontent.com";

/** A requirement: a signature of verification.yml, and for guests also a certificate. */
export type Wanted = WantedSignature | CertificateSignature;

/** A signature made with a certificate. */
export interface CertificateSignature extends TrustedCertificate {
  readonly kind: "certificate";
  readonly annotations?: Readonly<Record<string, string>>;
}

/** {@link VerificationConfig} with every kind of signature. */
export interface WantedSignatures {
  readonly allOf?: readonly Wanted[];
  readonly anyOf?: { readonly minimumMatches: number; readonly signatures: readonly Wanted[] };
}

/** A required signature, prepared for the search: it has one of the two. */
export interface Sought {
  readonly wanted: Wanted;
  /** Whether an identity is the required one. */
  readonly isIdentity?: (identity: SignerIdentity) => boolean;
  /**
   * Whether a layer was signed with the key or the certificate.
   * @throws FetchError when the trust root is needed and not available
   */
  readonly isSignedBy?: (layer: Signature, trustRoot: TrustRoot) => Promise<boolean>;
}

/** Whether a payload has the annotations of a required signature. */
export const isAnnotated = ({ annotations }: Signature, wanted: Wanted): boolean =>
  Object.entries(wanted.annotations ?? {}).every(([key, value]) => annotations[key] === value);

/**
 * Prepares a required signature: keys are read, and chains checked, once for all layers.
 * @param now milliseconds since 1970
 * @throws FetchError when a named certificate is not for signatures
 */
export async function soughtFor(wanted: Wanted, now: () => number): Promise<Sought> {
  switch (wanted.kind) {
    case "pubKey": {
      const key = readPublicKey(wanted.key);
      const isKeyed = ({ isBundle, certificate }: Signature) => !isBundle || certificate === undefined;
      const isSignedBy = async (layer: Signature, root: TrustRoot) =>
        key !== undefined && isKeyed(layer) && signedWithKey(layer, key, root);
      return { wanted, isSignedBy };
    }
    case "certificate": {
      const problem = certificateProblem(wanted.certificate.raw, now());
      if (problem !== undefined) throw new FetchError(problem, { stage: "verify", shown: problem });
      const issuers = issuersOf(wanted);
      const isSignedBy = async (layer: Signature, root: TrustRoot) =>
        issuers !== undefined && signedWithCertificate(layer, wanted, issuers, root, now);
      return { wanted, isSignedBy };
    }
    case "genericIssuer":
      return { wanted, isIdentity: (identity) => isOfIssuer(wanted, identity) };
    case "githubAction":
      return { wanted, isIdentity: (identity) => isGithubWorkflow(wanted, identity) };
  }
}

function isOfIssuer(
  { issuer, subject }: WantedSignature & { kind: "genericIssuer" },
  identity: SignerIdentity,
): boolean {
  if (identity.issuer !== issuer) return false;
  return "equal" in subject ? identity.subject === subject.equal : identity.subject.startsWith(subject.urlPrefix);
}

function isGithubWorkflow(
  { owner, repo }: WantedSignature & { kind: "githubAction" },
  { issuer, subject, workflowRepository }: SignerIdentity,
): boolean {
  if (issuer !== GITHUB_ISSUER || !subject.startsWith("https://github.com/") || workflowRepository === undefined) {
    return false;
  }
  return repo === undefined ? workflowRepository.startsWith(`${owner}/`) : workflowRepository === `${owner}/${repo}`;
}

/**
 * The refusal of an image, in Kubewarden's words, with names of keys and certificates.
 * @param own whether the caller has required the signatures itself: a configuration's requirements are not shown
 */
export function unverified(reason: string, missing: readonly Wanted[], own: boolean): FetchError {
  const list = printYaml(missing.map(forMessage));
  const first = `Image verification failed: ${reason}`;
  const text = `${first}\nThe following constraints were not satisfied:\n${list.trimEnd()}`;
  return new FetchError(text, { stage: "verify", shown: own ? text : first });
}

function forMessage(wanted: Wanted): object {
  if (wanted.kind === "pubKey") return { ...wanted, key: keyFingerprint(wanted.key) };
  if (wanted.kind !== "certificate") return wanted;
  return { kind: wanted.kind, subject: wanted.certificate.subject, requireRekorBundle: wanted.requireLogEntry };
}
