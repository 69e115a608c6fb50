/** Signatures as cosign stores them: layers of an artifact tagged `sha256-<digest>.sig` beside the image (spec kubewarden.md 1.8). */
import { createHash } from "node:crypto";
import type { Bundle } from "@sigstore/bundle";
import { hasEscapedKeys, parsePlainJson, readJsonInSteps, scanJson } from "../../data/json.js";
import { hasMoreValues } from "../../data/json-values.js";
import { isJsonObject } from "../../data/same-value.js";
import { FetchError, TOO_LARGE } from "../fetch-error.js";
import type { ImageReference } from "../image-reference.js";
import type { Descriptor, Registry } from "../registry.js";
import { layersOf } from "../registry-client.js";
import { jsonOf } from "../registry-connection.js";
import { bundleLibrary, type Expected, SignatureProblem, type Signed, statementIn, strictJson } from "./statement.js";

/**
 * Largest artifact of an image's signatures, in bytes: as much as registries themselves accept, since all of its signatures are examined, however
 * many one party adds. It is parsed in steps, unlike other answers.
 */
export const MAX_SIGNATURES_BYTES = 4 * 1024 * 1024;
/** Most JSON values in it: more than this size of signatures without certificates has, and few enough for the memory of a small pod. */
const MAX_SIGNATURES_VALUES = 100_000;
/** Largest certificate and log entry of a signature, in characters: real ones have 2 to 8 KiB, and each is parsed in one go. */
const MAX_ANNOTATION_CHARACTERS = 32 * 1024;
/** Largest payload, in bytes; real ones have some hundred. */
const MAX_PAYLOAD_BYTES = 64 * 1024;
/**
 * Payloads of one image together, in bytes. The largest are left out: as many signatures as fit into an artifact do not push out one with a payload
 * of up to a KiB, as real ones have.
 */
const MAX_PAYLOADS_BYTES = 16 * 1024 * 1024;
/** Largest attestation, in bytes: lists of packages have some MiB. */
export const MAX_ATTESTATION_BYTES = 8 * 1024 * 1024;
/** Bytes of all attestations of one search. */
export const MAX_ATTESTATIONS_BYTES = 64 * 1024 * 1024;

/** Artifacts of cosign whose layers are signed payloads: by the end of their tag, with the bytes of one payload and of all. */
export interface LayerKind {
  readonly suffix: string;
  readonly mediaType: string;
  readonly maxPayload: number;
  readonly maxPayloads: number;
}

/** Signatures of the image itself. */
export const SIGNATURES: LayerKind = {
  suffix: "sig",
  mediaType: "application/vnd.dev.cosign.simplesigning.v1+json",
  maxPayload: MAX_PAYLOAD_BYTES,
  maxPayloads: MAX_PAYLOADS_BYTES,
};

/** Envelopes with statements about the image. */
export const ATTESTATIONS: LayerKind = {
  suffix: "att",
  mediaType: "application/vnd.dsse.envelope.v1+json",
  maxPayload: MAX_ATTESTATION_BYTES,
  maxPayloads: MAX_ATTESTATIONS_BYTES,
};

/** The log entry that came with a signature. */
export interface LogBundle {
  /** Base64. */
  readonly SignedEntryTimestamp: string;
  readonly Payload: {
    /** The entry in base64. */
    readonly body: string;
    /** Seconds since 1970. */
    readonly integratedTime: number;
    readonly logIndex: number;
    /** Hexadecimal. */
    readonly logID: string;
  };
}

/** A signature as listed, unverified: the signed payload is a separate blob. */
export interface ListedSignature {
  readonly signature: Buffer;
  /** PEM; absent for signatures made with a key. */
  readonly certificate?: string;
  readonly bundle?: LogBundle;
  /** A signed timestamp (RFC 3161) in base64. */
  readonly timestamp?: string;
}

/** The claims of a signature about its signer and its time, unverified. */
export interface Claimed {
  /** PEM; absent for signatures made with a key. */
  readonly certificate?: string;
  /** The log entry that came with it; absent: none. */
  readonly log?: {
    /** Seconds since 1970, where the log has promised the entry; logs of the second version know no time. */
    readonly time?: number;
  };
}

/** A signature of a layer or of a bundle, unverified. */
export interface Signature extends Claimed, Signed {
  /** The envelope around it in JSON, where it stands in a layer: logs and timestamps are about that. */
  readonly envelope?: Buffer;
  /**
   * Its Sigstore bundle; that of a layer is made at every call, and names no signer.
   * @throws an error for an unreadable log entry
   */
  readonly bundle: () => Promise<Bundle>;
  /** Whether it stands in a bundle, where a certificate excludes keys. */
  readonly isBundle: boolean;
}

/** The artifact that holds the signatures or attestations of an image. */
export function layersAbout(
  { host, repository }: ImageReference,
  digest: string,
  { suffix }: LayerKind,
  prefix = "",
): ImageReference {
  return { host, repository, tag: `${prefix}${digest.replace(":", "-")}.${suffix}` };
}

/**
 * The layers of an artifact that are signatures.
 * @param kind its kind
 * @param maxBytes a larger artifact is an error
 * @param turn awaited between two steps of parsing
 * @throws FetchError when the registry is not available, or the artifact is invalid; an image without signatures has an empty list
 */
export async function signatureDescriptors(
  registry: Registry,
  artifact: ImageReference,
  kind: LayerKind,
  maxBytes: number,
  signal: AbortSignal,
  turn: () => Promise<void>,
): Promise<readonly Descriptor[]> {
  const manifest = await registry.manifest(artifact, signal, maxBytes).catch((error: unknown) => {
    if (error instanceof FetchError && error.status === 404) return undefined;
    throw error;
  });
  if (manifest === undefined) return [];
  const { bytes } = manifest;
  await turn();
  const text = bytes.toString("utf8");
  if (hasMoreValues(text, MAX_SIGNATURES_VALUES))
    throw new FetchError("there are too many signatures", { shown: TOO_LARGE });
  // Invalid JSON would be parsed in one go, for the position of the error.
  if (scanJson(bytes, 0)?.isWhole !== true) {
    const broken = "the artifact with the signatures is not JSON";
    throw new FetchError(broken, { shown: broken });
  }
  const steps = readJsonInSteps(text, {}, bytes);
  await turn();
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) await turn();
  const { value } = step.value;
  const layers = isJsonObject(value) ? layersOf({ content: value }) : [];
  return affordable(
    layers.filter(({ mediaType }) => mediaType === kind.mediaType),
    kind,
  );
}

/** The signatures without those whose payloads are too large: by themselves, or together with all smaller ones. */
function affordable(listed: readonly Descriptor[], { maxPayload, maxPayloads }: LayerKind): readonly Descriptor[] {
  let room = maxPayloads;
  const bySize = listed.toSorted((left, right) => left.size - right.size);
  const tooMuch = bySize.find(({ size }) => {
    room -= size;
    return room < 0 || size > maxPayload;
  });
  return tooMuch === undefined ? listed : listed.filter(({ size }) => size < tooMuch.size);
}

const SIGNATURE = "dev.cosignproject.cosign/signature";
const CERTIFICATE = "dev.sigstore.cosign/certificate";
const LOG_ENTRY = "dev.sigstore.cosign/bundle";
const TIMESTAMP = "dev.sigstore.cosign/rfc3161timestamp";

/**
 * The signature of a layer.
 * @param isStrict whether repeated keys in its annotations are an error
 * @throws SignatureProblem when it is not readable
 */
export function listedSignature({ annotations = {} }: Descriptor, isStrict = false): ListedSignature {
  const { [SIGNATURE]: signature, [CERTIFICATE]: certificate, [LOG_ENTRY]: entry, [TIMESTAMP]: stamped } = annotations;
  if (signature === undefined) throw new SignatureProblem("it has no signature");
  if ([signature, certificate, entry, stamped].some((text) => (text?.length ?? 0) > MAX_ANNOTATION_CHARACTERS))
    throw new SignatureProblem(`it has an annotation of more than ${MAX_ANNOTATION_CHARACTERS} characters`);
  const read = (text: string, what: string) => (isStrict ? strictJson(Buffer.from(text), what) : jsonOf(text));
  const bundle = entry === undefined ? undefined : read(entry, "its log entry");
  if (entry !== undefined && !isBundle(bundle)) throw new SignatureProblem("its log entry can't be read");
  const timestamp = isStrict && stamped ? at(read(stamped, "its timestamp"), "SignedRFC3161Timestamp") : undefined;
  return {
    signature: Buffer.from(signature, "base64"),
    ...(certificate && { certificate }),
    ...(isBundle(bundle) && { bundle }),
    ...(typeof timestamp === "string" && { timestamp }),
  };
}

/**
 * A signature with its payload.
 * @param isStrict whether repeated keys in the payload are an error
 * @throws SignatureProblem when that is not readable
 */
export function signatureLayer(listed: ListedSignature, payload: Buffer, isStrict = false): Signature {
  const content = isStrict ? strictJson(payload, "its payload") : jsonOf(payload.toString("utf8"));
  const imageDigest = at(content, "critical", "image", "docker-manifest-digest");
  if (typeof imageDigest !== "string") throw new SignatureProblem("its payload names no digest");
  const added = at(content, "optional");
  const { signature } = listed;
  const messageSignature = () => ({
    messageDigest: { algorithm: "SHA2_256", digest: createHash("sha256").update(payload).digest("base64") },
    signature: signature.toString("base64"),
  });
  return {
    ...claimedBy(listed),
    payload,
    signature,
    imageDigest,
    annotations: typeof added === "object" && added !== null ? (added as Record<string, unknown>) : {},
    bundle: () => bundleOf(listed, { messageSignature: messageSignature() }),
    isBundle: false,
  };
}

/**
 * A signed statement of a layer: its payload is the envelope.
 * @throws SignatureProblem when it is not readable
 */
export async function attestationLayer(
  listed: ListedSignature,
  payload: Buffer,
  expected: Expected,
  turn: () => Promise<void>,
): Promise<Signature> {
  const dsseEnvelope = strictJson(payload, "its envelope");
  await turn();
  const { envelopeFromJSON } = await bundleLibrary();
  const signed = await statementIn(envelopeFromJSON(dsseEnvelope), expected, turn);
  return {
    ...claimedBy(listed),
    ...signed,
    envelope: payload,
    bundle: () => bundleOf(listed, { dsseEnvelope }),
    isBundle: false,
  };
}

/** The claims of a listed signature about its signer. */
export function claimedBy({ certificate, bundle }: ListedSignature): Claimed {
  return {
    ...(certificate !== undefined && { certificate }),
    ...(bundle && { log: { time: bundle.Payload.integratedTime } }),
  };
}

/** Cosign's annotations in the form of a Sigstore bundle. Its signer is left out: the certificate is known beside it. */
async function bundleOf({ bundle, timestamp }: ListedSignature, content: object): Promise<Bundle> {
  const { bundleFromJSON } = await bundleLibrary();
  return bundleFromJSON({
    mediaType: "application/vnd.dev.sigstore.bundle+json;version=0.1",
    verificationMaterial: {
      publicKey: { hint: "configured" },
      tlogEntries: bundle === undefined ? [] : [logEntry(bundle)],
      ...(timestamp && { timestampVerificationData: { rfc3161Timestamps: [{ signedTimestamp: timestamp }] } }),
    },
    ...content,
  });
}

function logEntry({ SignedEntryTimestamp, Payload }: LogBundle) {
  const body = Buffer.from(Payload.body, "base64").toString("utf8");
  // Sigstore's library parses it again with the built-in parser. Logs write canonical JSON without escapes in keys.
  if (hasEscapedKeys(body)) throw new Error("the log entry has keys with escapes");
  const { kind, apiVersion } = parsePlainJson(body) as Record<string, unknown>;
  return {
    logIndex: String(Payload.logIndex),
    logId: { keyId: Buffer.from(Payload.logID, "hex").toString("base64") },
    kindVersion: { kind, version: apiVersion },
    integratedTime: String(Payload.integratedTime),
    inclusionPromise: { signedEntryTimestamp: SignedEntryTimestamp },
    canonicalizedBody: Payload.body,
  };
}

/** The value at a path of own members; undefined when there is none. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

function isBundle(value: unknown): value is LogBundle {
  const payload = at(value, "Payload");
  return (
    typeof at(value, "SignedEntryTimestamp") === "string" &&
    typeof at(payload, "body") === "string" &&
    Number.isSafeInteger(at(payload, "integratedTime")) &&
    Number.isSafeInteger(at(payload, "logIndex")) &&
    /^[0-9a-f]+$/i.test(String(at(payload, "logID")))
  );
}
