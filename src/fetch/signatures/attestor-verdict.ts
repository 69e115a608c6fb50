/** The verdict of one attestor about one image (spec kyverno.md 9). */
import { FetchError } from "../fetch-error.js";
import type { ImageReference } from "../image-reference.js";
import type { Descriptor, Manifest, Registry } from "../registry.js";
import { type Attestor, type AttestorVerdict, MAX_REASONS, type Sought } from "./attestor.js";
import { isUnavailable, readBundle, signatureReferrers } from "./bundle.js";
import { type CosignSigner, signerOf } from "./cosign-signer.js";
import { notaryVerdict } from "./notation.js";
import type { SignatureChecks } from "./signature-checks.js";
import {
  ATTESTATIONS,
  attestationLayer,
  claimedBy,
  layersAbout,
  listedSignature,
  SIGNATURES,
  type Signature,
  signatureLayer,
} from "./signature-layer.js";
import { type Expected, SIGN_PREDICATE, SignatureProblem } from "./statement.js";

/** An image whose attestors are asked. */
export interface Attested {
  readonly registry: Registry;
  readonly image: ImageReference;
  /** The digest of its manifest or index. */
  readonly digest: string;
  readonly signal: AbortSignal;
}

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

/** Signatures whose parts are fetched at a time: attestations may be large. */
const AT_ONCE = 4;

/**
 * Looks for a signature of an attestor.
 * @throws FetchError when the registry or the trust root can't be asked: then there is no verdict
 */
export async function attestorVerdict(
  attestor: Attestor,
  sought: Sought,
  image: Attested,
  checks: SignatureChecks,
): Promise<AttestorVerdict> {
  const { cosign, notary, name } = attestor;
  if (cosign === undefined && notary !== undefined) return notaryVerdict(notary, sought, image);
  if (cosign === undefined) return refused(`the attestor ${name} has neither cosign nor notary`);
  if (sought.kind === "referrer") return refused("cosign signs images and in-toto statements, and no other artifacts");
  try {
    const signer = await signerOf(cosign);
    const place = { ...image, ...(signer.place && { image: signer.place }) };
    const search = new Search(signer, sought, place, image.image, checks);
    return await search.run(cosign.source?.tagPrefix);
  } catch (error) {
    if (error instanceof SignatureProblem) return refused(error.message);
    throw error;
  }
}

const refused = (reason: string): AttestorVerdict => ({ verified: false, reasons: [reason] });

/** A signature that is read, with the signer that it names; or why it does not count. */
type Candidate = { signature: Signature; claimant: ReturnType<CosignSigner["claimant"]> } | SignatureProblem;

/** One search through the signatures of an image (disposable). */
class Search {
  readonly #signer: CosignSigner;
  readonly #sought: Exclude<Sought, { kind: "referrer" }>;
  readonly #place: Attested;
  readonly #image: ImageReference;
  readonly #checks: SignatureChecks;
  readonly #expected: Expected;
  readonly #reasons: string[] = [];
  #manifest: Promise<Manifest> | undefined;
  #verified: Signature | undefined;

  /** @param place where the signatures stand */
  constructor(
    signer: CosignSigner,
    sought: Exclude<Sought, { kind: "referrer" }>,
    place: Attested,
    image: ImageReference,
    checks: SignatureChecks,
  ) {
    this.#signer = signer;
    this.#sought = sought;
    this.#place = place;
    this.#image = image;
    this.#checks = checks;
    const predicateType =
      sought.kind === "signature"
        ? SIGN_PREDICATE
        : (PREDICATE_TYPES.get(sought.predicateType) ?? sought.predicateType);
    this.#expected = { digest: place.digest, predicateType };
  }

  async run(tagPrefix: string | undefined): Promise<AttestorVerdict> {
    const { registry, image, digest, signal } = this.#place;
    const kind = this.#sought.kind === "signature" ? SIGNATURES : ATTESTATIONS;
    const artifact = layersAbout(image, digest, kind, tagPrefix);
    await this.#checks.withLayers(registry, artifact, kind, signal, (layers) =>
      this.#examine(layers, (layer) => this.#layer(layer, artifact)),
    );
    if (!this.#isEnough) {
      const referrers = await signatureReferrers(registry, image, this.#expected, signal);
      await this.#examine(referrers, (referrer) => this.#bundle(referrer));
    }
    if (this.#verified !== undefined) {
      const { statement } = this.#verified;
      return { verified: true, reasons: [], ...(this.#sought.kind === "intoto" && { payload: statement }) };
    }
    const none = this.#sought.kind === "signature" ? "no signatures found" : "no attestations of this type found";
    return { verified: false, reasons: this.#reasons.length === 0 ? [none] : this.#reasons };
  }

  /** One signature is enough; of statements the last one counts. */
  get #isEnough(): boolean {
    return this.#sought.kind === "signature" && this.#verified !== undefined;
  }

  async #examine(listed: readonly Descriptor[], load: (one: Descriptor) => Promise<Candidate>): Promise<void> {
    for (let from = 0; from < listed.length && !this.#isEnough; from += AT_ONCE) {
      const some = listed.slice(from, from + AT_ONCE);
      for (const candidate of await Promise.all(some.map((one) => problemOf(load(one))))) {
        if (this.#isEnough) return;
        await this.#take(candidate);
      }
    }
  }

  async #take(candidate: Candidate): Promise<void> {
    const problem = candidate instanceof SignatureProblem ? candidate : await problemOf(this.#check(candidate), false);
    if (problem instanceof SignatureProblem && this.#reasons.length < MAX_REASONS) this.#reasons.push(problem.message);
  }

  async #check({ signature, claimant }: Exclude<Candidate, SignatureProblem>): Promise<undefined> {
    await this.#turn();
    const { digest } = this.#place;
    await this.#signer.check(signature, digest, claimant, this.#checks.trustRoot, this.#turn);
    this.#verified = signature;
  }

  async #layer(descriptor: Descriptor, artifact: ImageReference): Promise<Candidate> {
    await this.#turn();
    const listed = listedSignature(descriptor, true);
    const claimant = this.#signer.claimant(claimedBy(listed), false);
    const { registry, signal } = this.#place;
    const payload = await registry.blob(artifact, descriptor, descriptor.size, signal);
    await this.#turn();
    const signature =
      this.#sought.kind === "signature"
        ? signatureLayer(listed, payload, true)
        : await attestationLayer(listed, payload, this.#expected, this.#turn);
    return { signature, claimant };
  }

  async #bundle(descriptor: Descriptor): Promise<Candidate> {
    await this.#turn();
    const { registry, image, signal } = this.#place;
    const manifest = () => this.#imageManifest();
    const signature = await readBundle(registry, image, descriptor, this.#expected, manifest, signal, this.#turn);
    await this.#turn();
    return { signature, claimant: this.#signer.claimant(signature, true) };
  }

  async #imageManifest(): Promise<Buffer> {
    const { host, repository } = this.#image;
    const { registry, digest, signal } = this.#place;
    this.#manifest ??= registry.manifest({ host, repository, digest }, signal);
    return (await this.#manifest).bytes;
  }

  readonly #turn = (): Promise<void> => this.#checks.turn(this.#place.signal);
}

/**
 * The result of some work, or the reason why a signature does not count.
 * @param isReading whether a part that can't be fetched is a reason, too
 */
async function problemOf<T>(work: Promise<T>, isReading = true): Promise<T | SignatureProblem> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SignatureProblem) return error;
    if (!(error instanceof FetchError)) return new SignatureProblem("it can't be read");
    if (!isReading || isUnavailable(error)) throw error;
    return new SignatureProblem(`a part of it can't be had: ${error.shown}`);
  }
}
