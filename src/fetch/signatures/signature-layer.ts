/** Signatures as cosign stores them: layers of an artifact tagged `sha256-<digest>.sig` beside the image (spec kubewarden.md 1.8). */
import { parsePlainJson } from "../../data/json.js";
import { FetchError } from "../fetch-error.js";
import type { ImageReference } from "../image-reference.js";
import { type Descriptor, layersOf, type RegistryClient } from "../registry-client.js";

/** Media type of a layer that is a signed payload. */
const PAYLOAD_LAYER = "application/vnd.dev.cosign.simplesigning.v1+json";
/** Largest payload, in bytes; real ones have some hundred. */
const MAX_PAYLOAD_BYTES = 64 * 1024;
/** Most signatures of one image that are looked at. */
const MAX_SIGNATURES = 64;

/** The log entry that came with a signature. */
export interface LogBundle {
  /** Base64. */
  readonly SignedEntryTimestamp: string;
  readonly Payload: {
    /** Base64 of the entry. */
    readonly body: string;
    /** Seconds since 1970. */
    readonly integratedTime: number;
    readonly logIndex: number;
    /** Hexadecimal. */
    readonly logID: string;
  };
}

/** One signature, unverified. */
export interface SignatureLayer {
  /** What was signed. */
  readonly payload: Buffer;
  /** The digest of the image that the payload is about. */
  readonly imageDigest: string;
  /** What the signer added. */
  readonly annotations: Readonly<Record<string, unknown>>;
  readonly signature: Buffer;
  /** PEM; absent for signatures made with a key. */
  readonly certificate?: string;
  readonly bundle?: LogBundle;
}

/**
 * The signatures of an image, those that can't be read left out.
 * @param digest of the image's manifest
 * @throws FetchError when the registry can't be asked; an image without signatures has the empty list
 */
export async function signatureLayers(
  registry: RegistryClient,
  image: ImageReference,
  digest: string,
  signal: AbortSignal,
): Promise<readonly SignatureLayer[]> {
  const { host, repository } = image;
  const signatures: ImageReference = { host, repository, tag: `${digest.replace(":", "-")}.sig` };
  const manifest = await registry.manifest(signatures, signal).catch((error: unknown) => {
    if (error instanceof FetchError && error.status === 404) return undefined;
    throw error;
  });
  if (manifest === undefined) return [];
  const descriptors = layersOf(manifest).filter(({ mediaType }) => mediaType === PAYLOAD_LAYER);
  const layers: SignatureLayer[] = [];
  for (const descriptor of descriptors.slice(0, MAX_SIGNATURES)) {
    if (descriptor.size > MAX_PAYLOAD_BYTES) continue;
    const payload = await registry.blob(signatures, descriptor, MAX_PAYLOAD_BYTES, signal);
    const layer = readLayer(payload, descriptor);
    if (layer !== undefined) layers.push(layer);
  }
  return layers;
}

function readLayer(payload: Buffer, { annotations = {} }: Descriptor): SignatureLayer | undefined {
  const content = parse(payload.toString("utf8"));
  const imageDigest = at(content, "critical", "image", "docker-manifest-digest");
  const signature = annotations["dev.cosignproject.cosign/signature"];
  if (typeof imageDigest !== "string" || signature === undefined) return undefined;
  const bundleText = annotations["dev.sigstore.cosign/bundle"];
  const bundle = bundleText === undefined ? undefined : parse(bundleText);
  if (bundleText !== undefined && !isBundle(bundle)) return undefined;
  const certificate = annotations["dev.sigstore.cosign/certificate"];
  const added = at(content, "optional");
  return {
    payload,
    imageDigest,
    annotations: typeof added === "object" && added !== null ? (added as Record<string, unknown>) : {},
    signature: Buffer.from(signature, "base64"),
    ...(certificate && { certificate }),
    ...(isBundle(bundle) && { bundle }),
  };
}

function parse(text: string): unknown {
  try {
    return parsePlainJson(text);
  } catch {
    return undefined;
  }
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
