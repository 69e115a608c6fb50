/** Reports all present and missing signatures of an image, for verification by hand. `signature-checks` decides whether an image may be used. */
import type { VerificationConfig, WantedSignature } from "../../config/verification.js";
import { errorText } from "../../data/error-text.js";
import { claimOf, isSignedAsClaimed } from "./layer-verification.js";
import type { SignatureChecks, Verification } from "./signature-checks.js";
import type { Signature } from "./signature-layer.js";
import type { TrustRoot } from "./trust-root.js";

/** A signature of an image. */
export interface FoundSignature {
  /** The signing identity, when certificate, log entry and signature are valid. */
  readonly issuer?: string;
  readonly subject?: string;
  /** Whether it was made with the signer's own key, without a certificate. */
  readonly withKey: boolean;
  readonly annotations: Readonly<Record<string, unknown>>;
  /** The reason why it is invalid. */
  readonly problem?: string;
}

/** A required signature, and the present one that meets it. */
export interface Requirement {
  readonly wanted: WantedSignature;
  /** Index in `found`; absent: none. */
  readonly metBy?: number;
}

/** The report of an image. */
export interface SignatureReport {
  /** The digest of the image's manifest. */
  readonly digest: string;
  readonly found: readonly FoundSignature[];
  /** All of them must be met. */
  readonly allOf: readonly Requirement[];
  /** The number of them that must be met. */
  readonly anyOf?: { readonly minimumMatches: number; readonly requirements: readonly Requirement[] };
  readonly isMet: boolean;
}

/**
 * Examines every signature.
 * @param config without lists: only present signatures
 * @throws FetchError when the registry is not available, or the trust root that a requirement needs
 */
export async function signatureReport(
  { allOf = [], anyOf }: VerificationConfig,
  verification: Verification,
  checks: SignatureChecks,
): Promise<SignatureReport> {
  const { digest } = verification;
  const examined = await checks.examineAll([...allOf, ...(anyOf?.signatures ?? [])], verification);
  const found: FoundSignature[] = [];
  for (const { layer } of examined) found.push(await foundOf(layer, digest, checks.trustRoot));
  const requirement = (wanted: WantedSignature): Requirement => {
    const metBy = examined.findIndex(({ met }) => met.some((one) => one.wanted === wanted));
    return { wanted, ...(metBy !== -1 && { metBy }) };
  };
  const all = allOf.map(requirement);
  const any = anyOf && { minimumMatches: anyOf.minimumMatches, requirements: anyOf.signatures.map(requirement) };
  const isMetBy = ({ metBy }: Requirement) => metBy !== undefined;
  return {
    digest,
    found,
    allOf: all,
    ...(any && { anyOf: any }),
    isMet: all.every(isMetBy) && (any === undefined || any.requirements.filter(isMetBy).length >= any.minimumMatches),
  };
}

async function foundOf(layer: Signature, digest: string, trustRoot: TrustRoot): Promise<FoundSignature> {
  const { annotations, certificate, imageDigest } = layer;
  const common = { withKey: certificate === undefined, annotations };
  if (imageDigest !== digest) return { ...common, problem: `it is of another image, ${imageDigest}` };
  if (certificate === undefined) return common;
  try {
    const claim = claimOf(layer);
    if (claim === undefined || !(await isSignedAsClaimed(layer, claim, await trustRoot())))
      return { ...common, problem: "its certificate, log entry or signature is not right" };
    return { ...common, issuer: claim.issuer, subject: claim.subject };
  } catch (cause) {
    return { ...common, problem: `its certificate can't be checked: ${errorText(cause)}` };
  }
}
