/** Reads manifests and blobs from OCI registries (distribution specification 1.1; spec kubewarden.md 1.6 and 1.9). */
import { createHash, type Hash } from "node:crypto";
import type { Places } from "../config/places.js";
import { FetchError, TOO_LARGE } from "./fetch-error.js";
import type { HttpAnswer, TakesPieces } from "./http-client.js";
import { formatImageReference, type ImageReference } from "./image-reference.js";
import { MAX_ANSWER_BYTES } from "./limits.js";
import type { Descriptor, Manifest, Registry } from "./registry.js";
import { type RegistryConnection, type RegistryRequest, readObject } from "./registry-connection.js";

/** Manifests and indexes, OCI's and Docker's. */
const MANIFEST_TYPES = [
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
].join(", ");

const INDEX_TYPE = "application/vnd.oci.image.index.v1+json";
/** Answers of registries without the API for referrers: 404, and what older ones say to an unknown address. */
const WITHOUT_REFERRERS: readonly number[] = [400, 404, 405, 406];

/** Decides whether an image may be used; see `signatures/`. */
export interface ImageVerifier {
  /**
   * @returns the digest of the verified manifest
   * @throws FetchError with stage `verify`
   */
  verify(image: ImageReference, signal: AbortSignal): Promise<string>;
}

/** A client for any number of registries. */
export class RegistryClient implements Registry {
  readonly #connection: RegistryConnection;
  readonly #places: Places | undefined;

  /** @param places permitted prefixes of redirects and token services; absent: any */
  constructor(connection: RegistryConnection, places?: Places) {
    this.#connection = connection;
    this.#places = places;
  }

  /** The same client, limited to these places. */
  within(places: Places): RegistryClient {
    return new RegistryClient(this.#connection, places);
  }

  /**
   * Reads the manifest or index of a reference.
   * @throws FetchError also when the bytes don't have the digest of the reference
   */
  async manifest(image: ImageReference, signal: AbortSignal, maxBytes = MAX_ANSWER_BYTES): Promise<Manifest> {
    const name = image.digest ?? image.tag ?? "latest";
    const headers = { accept: MANIFEST_TYPES };
    const { body: bytes } = await this.#get(image, `manifests/${name}`, { headers, maxBytes, signal });
    const digest = digestOf(bytes, image.digest);
    if (image.digest !== undefined && digest !== image.digest) {
      throw new FetchError(`the manifest of ${formatImageReference(image)} has the digest ${digest}`, {
        stage: "integrity",
      });
    }
    return manifestOf(bytes, digest, `the manifest of ${formatImageReference(image)}`);
  }

  /**
   * The artifacts that refer to a manifest, a list at a time, as the registry gives them (distribution specification 1.1, "Listing Referrers").
   * A registry without this API has them in an index under a tag.
   * @throws FetchError for every other answer, and for a list that is not an index
   */
  async *referrers(image: ImageReference, digest: string, signal: AbortSignal): AsyncGenerator<readonly Descriptor[]> {
    const name = `the list of what refers to ${formatImageReference(image)}`;
    const request = {
      headers: { accept: INDEX_TYPE },
      maxBytes: MAX_ANSWER_BYTES,
      signal,
      alsoAnswers: WITHOUT_REFERRERS,
    };
    const first = this.#connection.address(image, `referrers/${digest}`);
    for (let url: URL | undefined = first; url !== undefined; ) {
      const { status, headers, body } = await this.#ask(image, url, request);
      const type = (headers["content-type"] ?? "").split(";")[0]!.trim();
      // GitHub's registry leads to a web page, for example.
      if (url === first && (WITHOUT_REFERRERS.includes(status) || type === "text/html")) {
        const tag = { host: image.host, repository: image.repository, tag: digest.replace(":", "-") };
        const index = await this.manifest(tag, signal).catch((error: unknown) => {
          if (error instanceof FetchError && error.status === 404) return undefined;
          throw error;
        });
        if (index !== undefined) yield manifestsOf(index.content, name);
        return;
      }
      if (status !== 200) throw new FetchError(`the registry answers ${status} for ${name}`, { status });
      yield manifestsOf(readObject(body, name), name);
      url = nextOf(headers.link, url, first);
    }
  }

  /**
   * Reads a blob of an image's repository.
   * @param into receives it piece by piece, valid once this resolves, with an empty result
   * @throws FetchError also when its bytes don't have the digest, or are more than `most`
   */
  async blob(
    image: ImageReference,
    { digest, size }: Descriptor,
    most: number,
    signal: AbortSignal,
    into?: TakesPieces,
  ): Promise<Buffer> {
    const name = `the layer of ${formatImageReference(image)}`;
    if (size > most) throw new FetchError(`${name} has ${size} bytes, more than ${most}`, { shown: TOO_LARGE });
    const [algorithm, hash] = hashLike(digest);
    const take = (piece: Uint8Array) => {
      hash.update(piece);
      return into?.(piece);
    };
    const request = { maxBytes: size, signal, isKnown: true, into: into && take };
    const { body } = await this.#get(image, `blobs/${digest}`, request);
    const found = `${algorithm}:${hash.update(body).digest("hex")}`;
    if (found === digest) return body;
    throw new FetchError(`${name} has the digest ${found} instead of ${digest}`, { stage: "integrity" });
  }

  #get(image: ImageReference, path: string, request: Omit<RegistryRequest, "actions" | "places">): Promise<HttpAnswer> {
    return this.#ask(image, this.#connection.address(image, path), request);
  }

  #ask(image: ImageReference, url: URL, request: Omit<RegistryRequest, "actions" | "places">): Promise<HttpAnswer> {
    return this.#connection.ask(image, url, { ...request, actions: "pull", places: this.#places });
  }
}

/** A manifest of these bytes, which are parsed at first use: its digest needs no parsing. */
export function manifestOf(bytes: Buffer, digest: string, name: string): Manifest {
  let content: Manifest["content"] | undefined;
  return {
    digest,
    bytes,
    get content() {
      content ??= readObject(bytes, name);
      return content;
    },
  };
}

/** The descriptors of a manifest's layers; others are left out. */
export function layersOf({ content }: Pick<Manifest, "content">): readonly Descriptor[] {
  return Array.isArray(content.layers) ? content.layers.filter(isDescriptor) : [];
}

/**
 * The manifests of an index.
 * @throws FetchError for a list that is not an index: it must not count as an empty one
 */
export function manifestsOf(
  { manifests, schemaVersion }: Readonly<Record<string, unknown>>,
  name: string,
): readonly Descriptor[] {
  if (schemaVersion === 2 && Array.isArray(manifests) && manifests.every(isDescriptor)) return manifests;
  throw new FetchError(`${name} is not an image index`, { shown: "the registry's list of signatures can't be read" });
}

/**
 * The address of the next list; undefined at the end.
 * @throws FetchError for one that is not about the same artifact
 */
function nextOf(link: string | undefined, url: URL, first: URL): URL | undefined {
  if (link === undefined) return undefined;
  const [, target] = /^\s*<([^>]*)>\s*;(?:.*;)?\s*rel="?next"?\s*(?:[;,]|$)/i.exec(link) ?? [];
  const next = target !== undefined && URL.canParse(target, url.href) ? new URL(target, url) : undefined;
  // Some registries write the colon of the digest as an escape.
  if (next !== undefined) next.pathname = next.pathname.replace(/%3a/gi, ":");
  if (next?.origin === first.origin && next.pathname === first.pathname) return next;
  const shown = "the registry's list of signatures is cut";
  throw new FetchError(`${shown}: ${JSON.stringify(link)} does not lead to the rest of ${first.pathname}`, { shown });
}

/** Whether a value has all members of a descriptor, each of its type. */
export function isDescriptor(value: unknown): value is Descriptor {
  if (typeof value !== "object" || value === null) return false;
  const { mediaType, digest, size, annotations, artifactType } = value as Record<string, unknown>;
  if (artifactType !== undefined && typeof artifactType !== "string") return false;
  const plain = typeof mediaType === "string" && Number.isSafeInteger(size) && (size as number) >= 0;
  if (!plain || typeof digest !== "string" || !/^sha(256:[0-9a-f]{64}|512:[0-9a-f]{128})$/.test(digest)) return false;
  if (annotations === undefined || annotations === null) return true;
  return typeof annotations === "object" && Object.values(annotations).every((text) => typeof text === "string");
}

/** `sha256:<hex>`, or with the algorithm of `like`. */
export function digestOf(bytes: Uint8Array, like = "sha256:"): string {
  const [algorithm, hash] = hashLike(like);
  return `${algorithm}:${hash.update(bytes).digest("hex")}`;
}

/** The algorithm of a digest, and a new hash of it. */
export function hashLike(digest: string): readonly [string, Hash] {
  const algorithm = digest.startsWith("sha512:") ? "sha512" : "sha256";
  return [algorithm, createHash(algorithm)];
}
