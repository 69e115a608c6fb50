/**
 * Signatures as cosign 3 stores them: Sigstore bundles, each in an artifact that refers to the image (distribution specification 1.1, referrers;
 * docs/spec/kubewarden.md 1.8).
 */
import type { Bundle } from "@sigstore/bundle";
import { hasEscapedKeys } from "../../data/json.js";
import { readCertificate } from "../../x509/certificate.js";
import { FetchError } from "../fetch-error.js";
import type { ImageReference } from "../image-reference.js";
import type { Descriptor, Registry } from "../registry.js";
import { layersOf } from "../registry-client.js";
import { type Claimed, MAX_ATTESTATION_BYTES, MAX_ATTESTATIONS_BYTES, type Signature } from "./signature-layer.js";
import {
  bundleLibrary,
  type Expected,
  SIGN_PREDICATE,
  SignatureProblem,
  statementIn,
  strictJson,
} from "./statement.js";

/** The beginning of a bundle's media type, in every version. */
const BUNDLE_TYPE = "application/vnd.dev.sigstore.bundle";
/** Versions that can be verified: a field that another one adds might matter. */
const VERSIONS: ReadonlySet<unknown> = new Set([
  ...["0.1", "0.2", "0.3"].map((version) => `${BUNDLE_TYPE}+json;version=${version}`),
  `${BUNDLE_TYPE}.v0.3+json`,
]);
/** The annotation by which cosign says what a bundle is about, so that large attestations are not fetched. */
const PREDICATE_ANNOTATION = "dev.sigstore.bundle.predicateType";
/** Names of logs that sign checkpoints. */
const PLAIN_NAME = /^[\w./:-]{1,253}$/;
/** Largest bundle, in bytes; those of signatures have 5 to 15 KiB, and each is parsed in one go. */
export const MAX_BUNDLE_BYTES = 128 * 1024;

/** Whether an artifact that refers to an image may be a bundle with such a statement, by what the list says about it. */
export function mayBeBundle({ artifactType, annotations = {} }: Descriptor, predicateType: string): boolean {
  const predicate = annotations[PREDICATE_ANNOTATION];
  const isBundle = artifactType === undefined || artifactType.startsWith(BUNDLE_TYPE);
  return isBundle && (predicate === undefined || predicate === predicateType);
}

/**
 * Reads the bundle of an artifact.
 * @param image in the repository of the artifact
 * @param expected the statement to look for
 * @param manifest reads the bytes of the image's manifest, which some signatures are about; absent: those don't count
 * @param turn awaited between two steps of parsing
 * @throws SignatureProblem for an artifact without such a statement
 * @throws FetchError when it can't be fetched
 */
export async function readBundle(
  registry: Registry,
  image: ImageReference,
  artifact: Descriptor,
  expected: Expected,
  manifest: (() => Promise<Buffer>) | undefined,
  signal: AbortSignal,
  turn: () => Promise<void>,
): Promise<Signature> {
  const { host, repository } = image;
  const layers = layersOf(await registry.manifest({ host, repository, digest: artifact.digest }, signal));
  const [layer] = layers;
  if (layer === undefined || layers.length !== 1 || !layer.mediaType.startsWith(BUNDLE_TYPE))
    throw new SignatureProblem("its artifact is not one Sigstore bundle");
  const most = expected.predicateType === SIGN_PREDICATE ? MAX_BUNDLE_BYTES : MAX_ATTESTATION_BYTES;
  if (layer.size > most) throw new SignatureProblem(`its bundle has more than ${most} bytes`);
  const { room } = expected;
  if (room !== undefined) room.bytes -= layer.size;
  if (room !== undefined && room.bytes < 0)
    throw new SignatureProblem(`the bundles before it have ${MAX_ATTESTATIONS_BYTES} bytes, and more are not read`);
  const bytes = await registry.blob(image, layer, most, signal);
  const json = strictJson(bytes, "its bundle");
  if (!VERSIONS.has(json.mediaType)) throw new SignatureProblem("its bundle is of an unknown media type");
  const bundle = await parsed(json);
  await turn();
  const { content } = bundle;
  const isStatement = content.$case === "dsseEnvelope";
  if (!isStatement && manifest === undefined) throw new SignatureProblem("its bundle holds no in-toto statement");
  const signed = isStatement
    ? await statementIn(content.dsseEnvelope, expected, turn)
    : messageOf(content.messageSignature, await manifest!());
  return { ...signed, ...claimedBy(bundle), bundle: async () => bundle, isBundle: true };
}

async function parsed(json: Readonly<Record<string, unknown>>): Promise<Bundle> {
  const { bundleFromJSON } = await bundleLibrary();
  try {
    return bundleFromJSON(json);
  } catch {
    throw new SignatureProblem("its bundle lacks a part, or has one that can't be read");
  }
}

/** Whether an error is a registry's that can't or does not want to answer: then there may be a signature, or not. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof FetchError && (error.transient || error.unasked || (error.status ?? 404) !== 404);

/**
 * The error of a signature that a registry lists and does not give, or with other bytes; undefined for other errors. Another one may count all the same;
 * where none does, whether the image is signed is not known.
 */
export function withheld(error: unknown): FetchError | undefined {
  if (!(error instanceof FetchError)) return undefined;
  if (error.cause !== undefined && withheld(error.cause) !== undefined) return error;
  if (error.status !== 404 && error.stage !== "integrity") return undefined;
  const shown = `a listed signature can't be had: ${error.shown}`;
  return new FetchError(`a listed signature can't be had: ${error.message}`, { stage: "verify", shown, cause: error });
}

type Message = (Bundle["content"] & { $case: "messageSignature" })["messageSignature"];

/** A signature over the bytes of the image's manifest, or over others. */
function messageOf({ messageDigest, signature }: Message, manifest: Buffer) {
  const digest = `sha256:${Buffer.from(messageDigest.digest).toString("hex")}`;
  return { payload: manifest, signature: Buffer.from(signature), imageDigest: digest, annotations: {} };
}

/** The claims of a bundle about its signer. */
function claimedBy({ verificationMaterial: { content, tlogEntries } }: Bundle): Claimed {
  for (const { canonicalizedBody, inclusionProof } of tlogEntries) {
    // It is parsed with the built-in parser. Logs write canonical JSON without escapes in keys.
    if (hasEscapedKeys(canonicalizedBody.toString("utf8")))
      throw new SignatureProblem("its log entry has keys with escapes");
    // Sigstore's library takes the names of a checkpoint's signers as regular expressions.
    const names = inclusionProof?.checkpoint?.envelope.matchAll(/\u2014 (\S+) /g) ?? [];
    for (const [, name = ""] of names)
      if (!PLAIN_NAME.test(name)) throw new SignatureProblem("its checkpoint is signed by no host");
  }
  const der = certificateIn(content);
  const promised = tlogEntries.find((entry) => entry.inclusionPromise !== undefined && entry.integratedTime !== "0");
  return {
    ...(der !== undefined && { certificate: certificateOf(der) }),
    ...(tlogEntries.length > 0 && { log: promised === undefined ? {} : { time: Number(promised.integratedTime) } }),
  };
}

/** A certificate in PEM. */
function certificateOf(der: Uint8Array): string {
  try {
    const read = readCertificate(Buffer.from(der), true);
    return `-----BEGIN CERTIFICATE-----\n${read.der.toString("base64")}\n-----END CERTIFICATE-----\n`;
  } catch {
    throw new SignatureProblem("its certificate can't be read");
  }
}

function certificateIn(content: Bundle["verificationMaterial"]["content"]): Uint8Array | undefined {
  if (content.$case === "certificate") return content.certificate.rawBytes;
  return content.$case === "x509CertificateChain" ? content.x509CertificateChain.certificates[0]?.rawBytes : undefined;
}

/** Most lists of artifacts that are read, one after another: more are a registry that never ends. */
export const MAX_REFERRER_LISTS = 20;
/** Most artifacts that may be signatures of an image: each is fetched. */
export const MAX_REFERRERS = 1000;

/**
 * The artifacts that refer to an image and may be signatures or statements: of the registry's API, or of a tag where it has none.
 * @throws FetchError when the registry refuses, or the list is cut, endless or unreadable: that is never an image without signatures
 */
export async function signatureReferrers(
  registry: Registry,
  image: ImageReference,
  { digest, predicateType }: Expected,
  signal: AbortSignal,
): Promise<readonly Descriptor[]> {
  const found: Descriptor[] = [];
  let lists = 0;
  for await (const list of registry.referrers(image, digest, signal)) {
    if (++lists > MAX_REFERRER_LISTS) throw tooMany("the registry's list of signatures does not end");
    found.push(...list.filter((one) => mayBeBundle(one, predicateType)));
    if (found.length > MAX_REFERRERS) throw tooMany("there are too many signatures");
  }
  return found;
}

const tooMany = (text: string) => new FetchError(text, { stage: "verify", shown: text });
