/** Signatures as cosign stores them: layers of an artifact tagged `sha256-<digest>.sig` beside the image (spec kubewarden.md 1.8). */
import { createHash, type X509Certificate } from "node:crypto";
import { hasEscapedKeys, parsePlainJson, readJsonInSteps, scanJson } from "../../data/json.js";
import { hasMoreValues } from "../../data/json-values.js";
import { isJsonObject } from "../../data/same-value.js";
import { FetchError, TOO_LARGE } from "../fetch-error.js";
import type { ImageReference } from "../image-reference.js";
import type { Descriptor, Registry } from "../registry.js";
import { layersOf } from "../registry-client.js";
import { jsonOf } from "../registry-connection.js";

/** Media type of a layer with a signed payload. */
const PAYLOAD_LAYER = "application/vnd.dev.cosign.simplesigning.v1+json";
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

/** A signature with what it signs, unverified: of a layer or of a bundle. */
export interface Signature extends Claimed {
  /** The signed bytes. */
  readonly payload: Buffer;
  readonly signature: Buffer;
  /** The digest of the image that it is about. */
  readonly imageDigest: string;
  /** The signer's annotations. */
  readonly annotations: Readonly<Record<string, unknown>>;
  /**
   * The Sigstore bundle in JSON, with this key material in place of its own.
   * @throws an error for an unreadable log entry
   */
  readonly bundle: (material: KeyMaterial) => object;
  /** Whether it stands in a bundle, where a certificate excludes keys. */
  readonly isBundle: boolean;
}

/** The part of a Sigstore bundle that says how a signature was made: with a key that the verifier knows, or with a certificate. */
export type KeyMaterial = "key" | { readonly certificate: X509Certificate };

/** The artifact that holds the signatures of an image. */
export function signaturesOf({ host, repository }: ImageReference, digest: string): ImageReference {
  return { host, repository, tag: `${digest.replace(":", "-")}.sig` };
}

/**
 * The layers of an artifact that are signatures.
 * @param maxBytes a larger artifact is an error
 * @param turn awaited between two steps of parsing
 * @throws FetchError when the registry is not available, or the artifact is invalid; an image without signatures has an empty list
 */
export async function signatureDescriptors(
  registry: Registry,
  artifact: ImageReference,
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
  return affordable(layers.filter(({ mediaType }) => mediaType === PAYLOAD_LAYER));
}

/** The signatures without those whose payloads are too large: by themselves, or together with all smaller ones. */
function affordable(listed: readonly Descriptor[]): readonly Descriptor[] {
  let room = MAX_PAYLOADS_BYTES;
  const bySize = listed.toSorted((left, right) => left.size - right.size);
  const tooMuch = bySize.find(({ size }) => {
    room -= size;
    return room < 0 || size > MAX_PAYLOAD_BYTES;
  });
  return tooMuch === undefined ? listed : listed.filter(({ size }) => size < tooMuch.size);
}

/** The signature of a layer; undefined when it is not readable. */
export function listedSignature({ annotations = {} }: Descriptor): ListedSignature | undefined {
  const signature = annotations["dev.cosignproject.cosign/signature"];
  const certificate = annotations["dev.sigstore.cosign/certificate"];
  const bundleText = annotations["dev.sigstore.cosign/bundle"];
  const texts = [signature, certificate, bundleText];
  if (signature === undefined || texts.some((text) => (text?.length ?? 0) > MAX_ANNOTATION_CHARACTERS))
    return undefined;
  const bundle = bundleText === undefined ? undefined : jsonOf(bundleText);
  if (bundleText !== undefined && !isBundle(bundle)) return undefined;
  return {
    signature: Buffer.from(signature, "base64"),
    ...(certificate && { certificate }),
    ...(isBundle(bundle) && { bundle }),
  };
}

/** A signature with its payload; undefined when that is not readable. */
export function signatureLayer(listed: ListedSignature, payload: Buffer): Signature | undefined {
  const content = jsonOf(payload.toString("utf8"));
  const imageDigest = at(content, "critical", "image", "docker-manifest-digest");
  if (typeof imageDigest !== "string") return undefined;
  const added = at(content, "optional");
  const { signature, bundle } = listed;
  return {
    ...claimedBy(listed),
    payload,
    signature,
    imageDigest,
    annotations: typeof added === "object" && added !== null ? (added as Record<string, unknown>) : {},
    bundle: (material) => bundleJson({ payload, signature }, bundle, material),
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

/** Cosign's annotations in the form of a Sigstore bundle. */
function bundleJson(
  { payload, signature }: Pick<Signature, "payload" | "signature">,
  bundle: LogBundle | undefined,
  material: KeyMaterial,
) {
  return {
    mediaType: "application/vnd.dev.sigstore.bundle+json;version=0.1",
    verificationMaterial: {
      ...(material === "key"
        ? { publicKey: { hint: "configured" } }
        : { x509CertificateChain: { certificates: [{ rawBytes: material.certificate.raw.toString("base64") }] } }),
      tlogEntries: bundle === undefined ? [] : [logEntry(bundle)],
    },
    messageSignature: {
      messageDigest: { algorithm: "SHA2_256", digest: createHash("sha256").update(payload).digest("base64") },
      signature: signature.toString("base64"),
    },
  };
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

function at(value: unknown, ...path: readonly string[]): unknown {
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
