/**
 * Signatures as cosign 3 stores them: Sigstore bundles, each in an artifact that refers to the image (distribution specification 1.1, referrers;
 * docs/spec/kubewarden.md 1.8).
 */
import { X509Certificate } from "node:crypto";
import type { Bundle } from "@sigstore/bundle";
import { hasEscapedKeys, readJson, UNIQUE_KEYS } from "../../data/json.js";
import { hasMoreValues } from "../../data/json-values.js";
import { isJsonObject } from "../../data/same-value.js";
import { FetchError } from "../fetch-error.js";
import type { ImageReference } from "../image-reference.js";
import { MAX_ANSWER_VALUES } from "../limits.js";
import type { Descriptor, Registry } from "../registry.js";
import { layersOf } from "../registry-client.js";
import type { Claimed, Signature } from "./signature-layer.js";

/** The beginning of a bundle's media type, in every version. */
const BUNDLE_TYPE = "application/vnd.dev.sigstore.bundle";
/** Versions that can be verified: a field that another one adds might matter. */
const VERSIONS: ReadonlySet<unknown> = new Set([
  ...["0.1", "0.2", "0.3"].map((version) => `${BUNDLE_TYPE}+json;version=${version}`),
  `${BUNDLE_TYPE}.v0.3+json`,
]);
/** The statement that cosign signs for an image. Others say something about it: none of them is a signature. */
const SIGN_PREDICATE = "https://sigstore.dev/cosign/sign/v1";
const STATEMENT = "application/vnd.in-toto+json";
const STATEMENT_TYPES: ReadonlySet<unknown> = new Set([
  "https://in-toto.io/Statement/v1",
  "https://in-toto.io/Statement/v0.1",
]);
/** The annotation by which cosign says what a bundle is about, so that large attestations are not fetched. */
const PREDICATE_ANNOTATION = "dev.sigstore.bundle.predicateType";
/** Names of logs that sign checkpoints. */
const PLAIN_NAME = /^[\w./:-]{1,253}$/;
/** Answers of a registry that is not willing: what it does not give may be a signature. */
const REFUSALS: readonly number[] = [401, 403, 429];
/** Largest bundle, in bytes; those of signatures have 5 to 15 KiB, and each is parsed in one go. */
export const MAX_BUNDLE_BYTES = 128 * 1024;

/** Whether an artifact that refers to an image may be a bundle with a signature, by what the list says about it. */
export function mayBeSignature({ artifactType, annotations = {} }: Descriptor): boolean {
  const predicate = annotations[PREDICATE_ANNOTATION];
  const isBundle = artifactType === undefined || artifactType.startsWith(BUNDLE_TYPE);
  return isBundle && (predicate === undefined || predicate === SIGN_PREDICATE);
}

/**
 * Reads the bundle of an artifact.
 * @param image the signed image
 * @param manifest reads the bytes of its manifest, which some signatures are about
 * @returns undefined for an artifact without a readable signature: one party's artifacts must not keep others' signatures from being found
 * @throws FetchError when the registry is not available
 */
export async function signatureBundle(
  registry: Registry,
  image: ImageReference,
  digest: string,
  manifest: () => Promise<Buffer>,
  artifact: Descriptor,
  signal: AbortSignal,
): Promise<Signature | undefined> {
  const { host, repository } = image;
  try {
    const layers = layersOf(await registry.manifest({ host, repository, digest: artifact.digest }, signal));
    const [layer] = layers;
    if (layer === undefined || layers.length !== 1 || !layer.mediaType.startsWith(BUNDLE_TYPE)) return undefined;
    const bytes = await registry.blob(image, layer, MAX_BUNDLE_BYTES, signal);
    const json = jsonOf(bytes);
    if (!VERSIONS.has(json.mediaType)) return undefined;
    const { bundleFromJSON } = await import("@sigstore/bundle");
    const bundle = bundleFromJSON(json);
    const { content } = bundle;
    const signed =
      content.$case === "dsseEnvelope"
        ? statementOf(content.dsseEnvelope, digest)
        : messageOf(content.messageSignature, await manifest());
    const { verificationMaterial } = json as { readonly verificationMaterial: Readonly<Record<string, unknown>> };
    const { certificate: _, x509CertificateChain: __, ...others } = verificationMaterial;
    const keyed = { ...json, verificationMaterial: { ...others, publicKey: { hint: "configured" } } };
    return {
      ...signed,
      ...claimedBy(bundle),
      bundle: (material) => (material === "key" ? keyed : json),
      isBundle: true,
    };
  } catch (error) {
    if (error instanceof FetchError && (error.transient || REFUSALS.includes(error.status ?? 0))) throw error;
    return undefined;
  }
}

/** @throws an error for what is not a JSON object with each key once */
function jsonOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  const text = Buffer.from(bytes).toString("utf8");
  if (hasMoreValues(text, MAX_ANSWER_VALUES)) throw new Error("too many values");
  // Sigstore's library reads texts within again, with the built-in parser: it must see what is seen here.
  if (hasEscapedKeys(text)) throw new Error("keys with escapes");
  const { value } = readJson(text, { unique: UNIQUE_KEYS });
  if (!isJsonObject(value)) throw new Error("not an object");
  return value;
}

type Signed = Pick<Signature, "payload" | "signature" | "imageDigest" | "annotations">;
type Contents = Bundle["content"];
type Envelope = (Contents & { $case: "dsseEnvelope" })["dsseEnvelope"];
type Message = (Contents & { $case: "messageSignature" })["messageSignature"];

/** A signed statement about the image, or about another one. */
function statementOf({ payloadType, payload, signatures }: Envelope, digest: string): Signed {
  const statement = jsonOf(payload);
  const { _type, predicateType, subject } = statement;
  if (payloadType !== STATEMENT || !STATEMENT_TYPES.has(_type) || predicateType !== SIGN_PREDICATE) {
    throw new Error("not a signature");
  }
  const subjects = (Array.isArray(subject) ? subject : []).filter(isJsonObject);
  const named = subjects.map((one) => ({ digest: digestIn(one, digest), annotations: one.annotations }));
  const found = named.find((one) => one.digest === digest) ?? named[0];
  const head = Buffer.from(`DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `);
  return {
    payload: Buffer.concat([head, payload]),
    signature: Buffer.from(signatures[0]!.sig),
    imageDigest: found?.digest ?? "",
    annotations: isJsonObject(found?.annotations) ? found.annotations : {},
  };
}

/** The digest of a statement's subject, by the algorithm of the image's digest. */
function digestIn(subject: Readonly<Record<string, unknown>>, like: string): string {
  const [algorithm = ""] = like.split(":");
  const { digest } = subject;
  return isJsonObject(digest) && Object.hasOwn(digest, algorithm) ? `${algorithm}:${String(digest[algorithm])}` : "";
}

/** A signature over the bytes of the image's manifest, or over others. */
function messageOf({ messageDigest, signature }: Message, manifest: Buffer): Signed {
  const digest = `sha256:${Buffer.from(messageDigest.digest).toString("hex")}`;
  return { payload: manifest, signature: Buffer.from(signature), imageDigest: digest, annotations: {} };
}

/** The claims of a bundle about its signer. */
function claimedBy({ verificationMaterial: { content, tlogEntries } }: Bundle): Claimed {
  for (const { canonicalizedBody, inclusionProof } of tlogEntries) {
    // It is parsed with the built-in parser. Logs write canonical JSON without escapes in keys.
    if (hasEscapedKeys(canonicalizedBody.toString("utf8"))) throw new Error("a log entry has keys with escapes");
    // Sigstore's library takes the names of a checkpoint's signers as regular expressions.
    const names = inclusionProof?.checkpoint?.envelope.matchAll(/\u2014 (\S+) /g) ?? [];
    for (const [, name = ""] of names) if (!PLAIN_NAME.test(name)) throw new Error("a checkpoint is signed by no host");
  }
  const der = certificateIn(content);
  const promised = tlogEntries.find((entry) => entry.inclusionPromise !== undefined && entry.integratedTime !== "0");
  return {
    ...(der !== undefined && { certificate: new X509Certificate(der).toString() }),
    ...(tlogEntries.length > 0 && { log: promised === undefined ? {} : { time: Number(promised.integratedTime) } }),
  };
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
 * The artifacts that refer to an image and may be signatures: of the registry's API, or of a tag where it has none.
 * @throws FetchError when the registry refuses, or the list is cut, endless or unreadable: that is never an image without signatures
 */
export async function signatureReferrers(
  registry: Registry,
  image: ImageReference,
  digest: string,
  signal: AbortSignal,
): Promise<readonly Descriptor[]> {
  const found: Descriptor[] = [];
  let lists = 0;
  for await (const list of registry.referrers(image, digest, signal)) {
    if (++lists > MAX_REFERRER_LISTS) throw tooMany("the registry's list of signatures does not end");
    found.push(...list.filter(mayBeSignature));
    if (found.length > MAX_REFERRERS) throw tooMany("there are too many signatures");
  }
  return found;
}

const tooMany = (text: string) => new FetchError(text, { stage: "verify", shown: text });
