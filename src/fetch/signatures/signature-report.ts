/** Which signatures an image has and which it lacks, said in full: for people who verify by hand. Whether it may be used is decided in `signature-checks`. */
import type { VerificationConfig, WantedSignature } from "../../config/verification.js";
import { errorText } from "../../data/error-text.js";
import { claimOf, isSignedAsClaimed } from "./layer-verification.js";
import type { SignatureChecks, Verification } from "./signature-checks.js";
import type { SignatureLayer } from "./signature-layer.js";
import type { TrustRoot } from "./trust-root.js";

/** A signature that an image has. */
export interface FoundSignature {
  /** The identity that signed, when certificate, log entry and signature are right. */
  readonly issuer?: string;
  readonly subject?: string;
  /** Whether it was made with a key of the signer's own, and has no certificate. */
  readonly withKey: boolean;
  readonly annotations: Readonly<Record<string, unknown>>;
  /** What is wrong with it. */
  readonly problem?: string;
}

/** A signature that is wanted, and the one by which it is there. */
export interface Requirement {
  readonly wanted: WantedSignature;
  /** Of `found`; absent: none. */
  readonly metBy?: number;
}

/** What came of looking. */
export interface SignatureReport {
  /** Of the image's manifest. */
  readonly digest: string;
  readonly found: readonly FoundSignature[];
  /** All of them must be met. */
  readonly allOf: readonly Requirement[];
  /** So many of them must be met. */
  readonly anyOf?: { readonly minimumMatches: number; readonly requirements: readonly Requirement[] };
  readonly isMet: boolean;
}

/**
 * Looks at every signature.
 * @param config without lists: only what is there
 * @throws FetchError when the registry can't be asked, or the trust root can't be had that a requirement needs
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

async function foundOf(layer: SignatureLayer, digest: string, trustRoot: TrustRoot): Promise<FoundSignature> {
  const { annotations, certificate, imageDigest } = layer;
  const common = { withKey: certificate === undefined, annotations };
  if (imageDigest !== digest) return { ...common, problem: `it is of another image, ${imageDigest}` };
  if (certificate === undefined) return common;
  try {
    const claim = await claimOf(layer);
    if (claim === undefined || !(await isSignedAsClaimed(layer, claim, await trustRoot())))
      return { ...common, problem: "its certificate, log entry or signature is not right" };
    return { ...common, issuer: claim.issuer, subject: claim.subject };
  } catch (cause) {
    return { ...common, problem: `its certificate can't be checked: ${errorText(cause)}` };
  }
}
