/** Signatures of the Notary project, in artifacts that refer to what is signed (spec kyverno.md 9): trust by certificates, at notation's level strict. */
import type { Certificate } from "../../x509/certificate.js";
import { CertificateProblem } from "../../x509/problem.js";
import { artifactContent, artifactError, artifactsOf, onlyLayer } from "../artifacts.js";
import { shownOf } from "../fetch-error.js";
import type { Descriptor, Manifest } from "../registry.js";
import { type Attested, type AttestorVerdict, MAX_REASONS, type NotaryAttestor, type Sought } from "./attestor.js";
import { isUnavailable, MAX_BUNDLE_BYTES } from "./bundle.js";
import { certificatesOf, isAmong, must, mustNotBeRevocable, nameOf } from "./notation-chain.js";
import { type NotationSignature, readEnvelope } from "./notation-envelope.js";
import { verifyTimestamp } from "./notation-timestamp.js";

const SIGNATURE = "application/vnd.cncf.notary.signature";
const JWS = "application/jose+json";
const COSE = "application/cose";
/** Most signatures of one manifest that are looked at, as in the reference implementation. */
export const MAX_SIGNATURE_ATTEMPTS = 10;

interface Trust {
  readonly authorities: readonly Certificate[];
  readonly timestamps: readonly Certificate[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Looks for a signature of an attestor: of the image itself, or of an artifact that refers to it.
 * @param now milliseconds since 1970
 * @throws FetchError when the registry can't be asked, or in-toto statements are sought
 */
export async function notaryVerdict(
  attestor: NotaryAttestor,
  sought: Sought,
  about: Attested,
  now = Date.now(),
): Promise<AttestorVerdict> {
  if (sought.kind === "intoto") throw artifactError("notary verifier only supports oci 1.1 referrers as attestations");
  const no = (reasons: readonly string[]) => ({ verified: false, reasons: reasons.slice(0, MAX_REASONS) });
  const { registry, image, digest, signal } = about;
  let trust: Trust;
  try {
    const { certs = "", tsaCerts = "" } = attestor;
    trust = { authorities: certificatesOf(certs), timestamps: certificatesOf(tsaCerts), now };
    must(trust.authorities.length > 0, "certs is empty");
  } catch (error) {
    return no([`the certificates of the attestor can't be used: ${reasonOf(error)}`]);
  }
  if (sought.kind === "signature") {
    const { host, repository } = image;
    const signed = descriptorOf(await registry.manifest({ host, repository, digest }, signal));
    const reasons = await problemsOf(signed, trust, about);
    return reasons === undefined ? { verified: true, reasons: [] } : no(reasons);
  }
  const all: string[] = [];
  for (const artifact of await artifactsOf(about, digest, sought.artifactType)) {
    const reasons = await problemsOf(artifact, trust, about);
    try {
      if (reasons === undefined)
        return { verified: true, reasons: [], payload: await artifactContent(about, artifact, digest) };
      all.push(...reasons.map((reason) => `artifact ${artifact.digest}: ${reason}`));
    } catch (error) {
      if (isUnavailable(error)) throw error;
      all.push(`artifact ${artifact.digest} is signed, but ${reasonOf(error)}`);
    }
  }
  return no(all.length === 0 ? [`no artifact of type ${sought.artifactType} refers to the image`] : all);
}

/** The reasons why no signature of a manifest counts, one for each; undefined when one does. */
async function problemsOf(signed: Descriptor, trust: Trust, about: Attested): Promise<readonly string[] | undefined> {
  const listed = await artifactsOf(about, signed.digest, SIGNATURE);
  if (listed.length === 0) return ["it has no signature of the Notary project"];
  const reasons: string[] = [];
  for (const artifact of listed.slice(0, MAX_SIGNATURE_ATTEMPTS)) {
    try {
      const { mediaType, bytes } = await onlyLayer(about, artifact, signed.digest, MAX_BUNDLE_BYTES);
      must(mediaType !== COSE, "it is in COSE, which is not served: sign with --signature-format jws");
      must(mediaType === JWS, `it is in ${JSON.stringify(mediaType).slice(0, 100)}, and not in ${JWS}`);
      check(readEnvelope(bytes), signed, trust);
      return undefined;
    } catch (error) {
      // One party's signatures must not keep others' from being found.
      if (isUnavailable(error)) throw error;
      reasons.push(`signature ${artifact.digest}: ${reasonOf(error)}`);
    }
  }
  const more =
    listed.length > MAX_SIGNATURE_ATTEMPTS ? `; only ${MAX_SIGNATURE_ATTEMPTS} signatures are looked at` : "";
  return [...reasons.slice(0, -1), `${reasons.at(-1)}${more}`];
}

/** @throws FetchError with the reason why a signature does not count */
function check(found: NotationSignature, signed: Descriptor, { authorities, timestamps, now }: Trust): void {
  const { chain, target } = found;
  must(!found.isByAuthority, "its scheme is that of a signing authority, for which an attestor has no certificates");
  must(
    chain.some((one) => isAmong(one, authorities)),
    "its certificates are not among the attestor's, nor issued by them",
  );
  must(found.expiry === undefined || now < found.expiry, "it has expired");
  let time = { from: now, to: now };
  if (timestamps.length > 0) {
    must(found.timestamp !== undefined, "it has no timestamp, which the attestor's tsaCerts demand");
    const verified = verifyTimestamp(found.timestamp, found.signature, timestamps);
    mustNotBeRevocable(verified.chain);
    time = verified;
  }
  const when = timestamps.length > 0 ? "at the time of its timestamp" : "now";
  for (const certificate of chain) {
    const { from, to } = certificate.validity();
    must(from <= time.from && time.to <= to, `its certificate ${nameOf(certificate)} is not valid ${when}`);
  }
  mustNotBeRevocable(chain);
  const isSame = (["mediaType", "digest", "size"] as const).every((member) => target[member] === signed[member]);
  must(isSame, "it is of another manifest");
}

/** A manifest's descriptor; OCI's may leave their type out. */
function descriptorOf({ digest, bytes, content }: Manifest): Descriptor {
  const kind = Array.isArray(content.manifests) ? "index" : "manifest";
  const own = content.mediaType ?? `application/vnd.oci.image.${kind}.v1+json`;
  return { mediaType: String(own), digest, size: bytes.length };
}

function reasonOf(error: unknown): string {
  const shown = shownOf(error) ?? "a part of it can't be read";
  return error instanceof CertificateProblem ? `a certificate or a timestamp can't be read (${shown})` : shown;
}
