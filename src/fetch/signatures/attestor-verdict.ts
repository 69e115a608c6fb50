/** The verdict of one attestor about one image (spec kyverno.md 9). */
import { FetchError } from "../fetch-error.js";
import type { Descriptor } from "../registry.js";
import { layersOf } from "../registry-client.js";
import { Room } from "../room.js";
import { type Attested, type Attestor, type AttestorVerdict, MAX_REASONS, type Sought } from "./attestor.js";
import { isUnavailable, readBundle, signatureReferrers, withheld } from "./bundle.js";
import { type CosignSigner, signerOf } from "./cosign-signer.js";
import { notaryVerdict } from "./notation.js";
import type { SignatureChecks } from "./signature-checks.js";
import {
  ATTESTATIONS,
  attestationLayer,
  claimedBy,
  layersAbout,
  listedSignature,
  MAX_ATTESTATIONS_BYTES,
  SIGNATURES,
  type Signature,
  signatureLayer,
} from "./signature-layer.js";
import { SIGN_PREDICATE, SignatureProblem } from "./statement.js";

/** Predicate types by cosign's names for them. */
const PREDICATE_TYPES: ReadonlyMap<string, string> = new Map([
  ["custom", "https://cosign.sigstore.dev/attestation/v1"],
  ["slsaprovenance", "https://slsa.dev/provenance/v0.2"],
  ["slsaprovenance02", "https://slsa.dev/provenance/v0.2"],
  ["slsaprovenance1", "https://slsa.dev/provenance/v1"],
  ["spdx", "https://spdx.dev/Document"],
  ["spdxjson", "https://spdx.dev/Document"],
  ["cyclonedx", "https://cyclonedx.org/bom"],
  ["link", "https://in-toto.io/Link/v1"],
  ["vuln", "https://cosign.sigstore.dev/attestation/vuln/v1"],
  ["openvex", "https://openvex.dev/ns"],
]);

/** Signatures that are fetched at a time; attestations, which may be large, one after another. */
const AT_ONCE = 8;
/** Bytes of attestations that are verified at a time, those of one host, and of one that does not count. */
export const VERIFIED_BYTES = { total: 32 * 1024 * 1024, share: 16 * 1024 * 1024, small: 256 * 1024 } as const;
const large = new Room(VERIFIED_BYTES.total, VERIFIED_BYTES.share);

/**
 * Looks for a signature of an attestor.
 * @throws FetchError when the registry or the trust root can't be asked, or no signature counts and a listed one can't be had: then there is no verdict
 */
export async function attestorVerdict(
  attestor: Attestor,
  sought: Sought,
  image: Attested,
  checks: SignatureChecks,
): Promise<AttestorVerdict> {
  const { cosign, notary, name } = attestor;
  if (cosign === undefined && notary !== undefined) return notaryVerdict(notary, sought, image);
  if (cosign === undefined) return refused([`the attestor ${name} has neither cosign nor notary`]);
  if (sought.kind === "referrer")
    return refused(["cosign signs images and in-toto statements, and no other artifacts"]);
  try {
    return await search(await signerOf(cosign), sought, image, checks, cosign.source?.tagPrefix);
  } catch (error) {
    if (error instanceof SignatureProblem) return refused([error.message]);
    throw error;
  }
}

const refused = (reasons: readonly string[]): AttestorVerdict => ({ verified: false, reasons });

/** A signature that is read, with the signer that it names; or why it does not count. */
type Candidate = { signature: Signature; claimant: ReturnType<CosignSigner["claimant"]> } | SignatureProblem;

async function search(
  signer: CosignSigner,
  sought: Exclude<Sought, { kind: "referrer" }>,
  { registry, image, digest, signal }: Attested,
  checks: SignatureChecks,
  tagPrefix: string | undefined,
): Promise<AttestorVerdict> {
  const isImage = sought.kind === "signature";
  const predicateType = isImage ? SIGN_PREDICATE : (PREDICATE_TYPES.get(sought.predicateType) ?? sought.predicateType);
  const expected = { digest, predicateType, ...(!isImage && { room: { bytes: MAX_ATTESTATIONS_BYTES } }) };
  const place = signer.place ?? image;
  const kind = isImage ? SIGNATURES : ATTESTATIONS;
  const artifact = layersAbout(place, digest, kind, tagPrefix);
  const turn = () => checks.turn(signal);
  const reasons: string[] = [];
  let verified: Signature | undefined;
  let missing: FetchError | undefined;
  // One signature is enough; of statements the last one counts.
  const isEnough = () => isImage && verified !== undefined;

  async function layer(descriptor: Descriptor): Promise<Candidate> {
    await turn();
    const listed = listedSignature(descriptor, true);
    const claimant = signer.claimant(claimedBy(listed), false);
    const payload = await registry.blob(artifact, descriptor, descriptor.size, signal);
    await turn();
    const signature = isImage
      ? signatureLayer(listed, payload, true)
      : await attestationLayer(listed, payload, expected, turn);
    return { signature, claimant };
  }

  async function bundle(descriptor: Descriptor): Promise<Candidate> {
    await turn();
    const manifest = async () => (await registry.manifest({ ...image, digest }, signal)).bytes;
    const signature = await readBundle(
      registry,
      place,
      descriptor,
      expected,
      isImage ? manifest : undefined,
      signal,
      turn,
    );
    await turn();
    return { signature, claimant: signer.claimant(signature, true) };
  }

  async function take(candidate: Candidate): Promise<undefined> {
    if (candidate instanceof SignatureProblem) throw candidate;
    await turn();
    await signer.check(candidate.signature, digest, candidate.claimant, checks.trustRoot, turn);
    verified = candidate.signature;
  }

  async function examine(
    listed: readonly Descriptor[],
    load: (one: Descriptor) => Promise<Candidate>,
    isBundle: boolean,
  ): Promise<void> {
    for (let from = 0; from < listed.length && !isEnough(); from += isImage ? AT_ONCE : 1) {
      const some = listed.slice(from, isImage ? from + AT_ONCE : from + 1);
      const work = async () => {
        for (const candidate of await Promise.all(some.map((one) => problemOf(load(one), true)))) {
          const problem = isEnough() ? undefined : await problemOf(take(candidate), false);
          if (problem === undefined) continue;
          missing ??= withheld(problem.cause);
          if (reasons.length < MAX_REASONS) reasons.push(problem.message);
        }
      };
      const size = isImage ? 0 : isBundle ? await bundleSize(some[0]!) : some[0]!.size;
      if (size <= VERIFIED_BYTES.small) await work();
      else await large.run(place.host, size, signal, "there was no turn for a large attestation in time", work);
    }
  }

  /** The size of a bundle's layer. One that can't be read has none, and fails again where it is needed. */
  async function bundleSize({ digest: own }: Descriptor): Promise<number> {
    const { host, repository } = place;
    const layers = await registry
      .manifest({ host, repository, digest: own }, signal)
      .then(layersOf)
      .catch(() => []);
    return layers[0]?.size ?? 0;
  }

  await checks.withLayers(registry, artifact, kind, signal, (layers) => examine(layers, layer, false));
  if (!isEnough()) await examine(await signatureReferrers(registry, place, expected, signal), bundle, true);
  if (verified !== undefined) return { verified: true, reasons: [], ...(!isImage && { payload: verified.statement }) };
  if (missing !== undefined) throw missing;
  const none = isImage ? "no signatures found" : "no attestations of this type found";
  return refused(reasons.length === 0 ? [none] : reasons);
}

/**
 * The result of some work, or the reason why a signature does not count.
 * @param isReading whether a part that can't be fetched is a reason, too
 */
async function problemOf<T>(work: Promise<T>, isReading: boolean): Promise<T | SignatureProblem> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SignatureProblem) return error;
    if (!(error instanceof FetchError)) return new SignatureProblem("it can't be read");
    if (!isReading || isUnavailable(error)) throw error;
    return new SignatureProblem(`a part of it can't be had: ${error.shown}`, { cause: error });
  }
}
