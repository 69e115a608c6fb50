/** Decides by verification.yml whether an image may be used (spec kubewarden.md 1.8). */
import type { VerificationConfig, WantedSignature } from "../../config/verification.js";
import { printYaml } from "../../data/print-yaml.js";
import { FetchError, reasonOf, shownOf } from "../fetch-error.js";
import { formatImageReference, type ImageReference } from "../image-reference.js";
import type { ImageVerifier } from "../image-verifying.js";
import type { RegistryClient } from "../registry-client.js";
import {
  readPublicKey,
  type SignerIdentity,
  signedWithCertificate,
  signedWithKey,
  signerIdentity,
  type TrustedCertificate,
} from "./layer-verification.js";
import { type SignatureLayer, signatureLayers } from "./signature-layer.js";
import type { TrustRoot } from "./trust-root.js";

const GITHUB_ISSUER = "https://token.actions.githubusercontent.com";

/** What {@link checkSignatures} can ask for: the signatures of verification.yml, and for guests also certificates. */
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

/** Verifies images by a configuration. */
export function imageVerifier(
  config: VerificationConfig,
  registry: RegistryClient,
  trustRoot: TrustRoot,
): ImageVerifier {
  return {
    async verify(image, signal) {
      try {
        const digest = image.digest ?? (await registry.manifest(image, signal)).digest;
        await checkSignatures(config, { registry, trustRoot, image, digest, signal });
        return digest;
      } catch (cause) {
        if (cause instanceof FetchError && cause.stage === "verify") throw cause;
        const shown = shownOf(cause);
        throw new FetchError(reasonOf(cause), { stage: "verify", cause, ...(shown !== undefined && { shown }) });
      }
    },
  };
}

/** What is verified, and with what. */
export interface Verification {
  readonly registry: RegistryClient;
  readonly trustRoot: TrustRoot;
  readonly image: ImageReference;
  /** The image as a guest has asked for it, for messages that it gets; absent when a configuration asks, whose images are not for clients. */
  readonly name?: string;
  /** Of the image's manifest. */
  readonly digest: string;
  readonly signal: AbortSignal;
}

/**
 * Asks for the signatures that a configuration wants.
 * @throws FetchError in Kubewarden's words when they aren't there
 */
export async function checkSignatures({ allOf, anyOf }: WantedSignatures, verification: Verification): Promise<void> {
  const { registry, image, digest, signal, name: asked } = verification;
  const name = asked ?? formatImageReference(image);
  const failed = (reason: string, missing: readonly Wanted[]) => unverified(reason, missing, asked !== undefined);
  const layers = await signatureLayers(registry, image, digest, signal);
  if (layers.length === 0) {
    const found = "no signatures found";
    throw new FetchError(`${found} for image: ${name} `, {
      stage: "verify",
      shown: asked === undefined ? found : `${found} for image: ${asked} `,
    });
  }
  const about = layers.filter(({ imageDigest }) => imageDigest === digest);
  const unmet = async (wanted: readonly Wanted[]) => {
    const missing: Wanted[] = [];
    for (const one of wanted) if (!(await isThere(one, about, verification))) missing.push(one);
    return missing;
  };
  if (allOf !== undefined) {
    const missing = await unmet(allOf);
    if (missing.length > 0) throw failed("missing signatures", missing);
  }
  if (anyOf !== undefined) {
    const missing = await unmet(anyOf.signatures);
    const found = anyOf.signatures.length - missing.length;
    if (found < anyOf.minimumMatches) {
      throw failed(`minimum number of signatures not reached: needed ${anyOf.minimumMatches}, got ${found}`, missing);
    }
  }
}

/** @param own whether those who are answered have asked for the signatures themselves: what a configuration wants is not theirs to know */
function unverified(reason: string, missing: readonly Wanted[], own: boolean): FetchError {
  const list = printYaml(missing.map(forMessage)).trimEnd();
  const first = `Image verification failed: ${reason}`;
  const text = `${first}\nThe following constraints were not satisfied:\n${list}`;
  return new FetchError(text, { stage: "verify", shown: own ? text : first });
}

/** A signature as the error shows it: a certificate by its subject. */
function forMessage(wanted: Wanted): object {
  if (wanted.kind !== "certificate") return wanted;
  return { kind: wanted.kind, subject: wanted.certificate.subject, requireRekorBundle: wanted.requireLogEntry };
}

async function isThere(
  wanted: Wanted,
  layers: readonly SignatureLayer[],
  verification: Verification,
): Promise<boolean> {
  for (const layer of layers) if (await meets(wanted, layer, verification)) return true;
  return false;
}

/** Whether a signature, of the image that is verified, is one that is wanted. */
export async function meets(
  wanted: Wanted,
  layer: SignatureLayer,
  verification: Pick<Verification, "trustRoot">,
): Promise<boolean> {
  const { annotations } = layer;
  const annotated = Object.entries(wanted.annotations ?? {}).every(([key, value]) => annotations[key] === value);
  return annotated && isSignedBy(wanted, layer, verification);
}

async function isSignedBy(
  wanted: Wanted,
  layer: SignatureLayer,
  { trustRoot }: Pick<Verification, "trustRoot">,
): Promise<boolean> {
  if (wanted.kind === "certificate") return signedWithCertificate(layer, wanted, trustRoot, Date.now);
  if (wanted.kind === "pubKey") {
    const key = readPublicKey(wanted.key);
    return key !== undefined && signedWithKey(layer, key, trustRoot);
  }
  const identity = await signerIdentity(layer, trustRoot);
  if (identity === undefined) return false;
  return wanted.kind === "githubAction" ? isGithubWorkflow(wanted, identity) : isIdentity(wanted, identity);
}

function isIdentity(
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
