/** Reads manifests and blobs from OCI registries (distribution specification 1.1; spec kubewarden.md 1.6 and 1.9). */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { isJsonObject } from "../data/same-value.js";
import type { CredentialStore, Credentials, Login } from "./docker-credentials.js";
import { FetchError, TOO_LARGE } from "./fetch-error.js";
import type { HttpAnswer, HttpClient } from "./http-client.js";
import { formatImageReference, type ImageReference, isDockerHub } from "./image-reference.js";
import { DEFAULT_TOKEN_SECONDS, MAX_MANIFEST_BYTES, MAX_TOKEN_BYTES, MAX_TOKENS } from "./limits.js";

/** Manifests and indexes, OCI's and Docker's. */
const MANIFEST_TYPES = [
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
].join(", ");
/** Seconds before its end that a token is no longer used. */
const TOKEN_MARGIN_SECONDS = 5;

/** A part of an artifact. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A manifest or index as the registry has it. */
export interface Manifest {
  /** `sha256:<hex>` of `bytes`; equals the reference's digest when it has one. */
  readonly digest: string;
  readonly bytes: Buffer;
  /** A JSON object; what is in it is unchecked. */
  readonly content: Readonly<Record<string, unknown>>;
}

/** A client for any number of registries. Tokens are kept until they end, at most {@link MAX_TOKENS}. */
export class RegistryClient {
  readonly #http: HttpClient;
  readonly #credentials: CredentialStore;
  readonly #tokens: LRUCache<string, string>;

  /** @param now milliseconds of any clock that only goes forward */
  constructor(http: HttpClient, credentials: CredentialStore, now: () => number) {
    this.#http = http;
    this.#credentials = credentials;
    this.#tokens = new LRUCache({ max: MAX_TOKENS, ttl: DEFAULT_TOKEN_SECONDS * 1000, perf: { now } });
  }

  /**
   * The manifest or index that a reference names.
   * @throws FetchError also when the bytes don't have the digest of the reference
   */
  async manifest(image: ImageReference, signal: AbortSignal, maxBytes = MAX_MANIFEST_BYTES): Promise<Manifest> {
    const name = image.digest ?? image.tag ?? "latest";
    const answer = await this.#get(image, `manifests/${name}`, { accept: MANIFEST_TYPES }, maxBytes, signal);
    const digest = digestOf(answer.body, image.digest);
    if (image.digest !== undefined && digest !== image.digest) {
      throw new FetchError(`the manifest of ${formatImageReference(image)} has the digest ${digest}`, {
        stage: "integrity",
      });
    }
    const content = jsonObject(answer.body);
    if (content === undefined)
      throw new FetchError(`the manifest of ${formatImageReference(image)} is not a JSON object`);
    return { digest, bytes: answer.body, content };
  }

  /**
   * A blob of an image's repository.
   * @throws FetchError also when its bytes don't have the digest, or are more than `maxBytes`
   */
  async blob(
    image: ImageReference,
    { digest, size }: Descriptor,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<Buffer> {
    if (size > maxBytes) {
      throw new FetchError(`the layer of ${formatImageReference(image)} has ${size} bytes, more than ${maxBytes}`, {
        shown: TOO_LARGE,
      });
    }
    const { body } = await this.#get(image, `blobs/${digest}`, {}, Math.min(size, maxBytes), signal);
    const found = digestOf(body, digest);
    if (found !== digest) {
      throw new FetchError(`the layer of ${formatImageReference(image)} has the digest ${found} instead of ${digest}`, {
        stage: "integrity",
      });
    }
    return body;
  }

  /** GET below `/v2/<repository>/`, with a token when the registry wants one. */
  async #get(
    image: ImageReference,
    path: string,
    headers: Readonly<Record<string, string>>,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    const host = isDockerHub(image.host) ? "registry-1.docker.io" : image.host;
    const url = new URL(`https://${host}/v2/${image.repository}/${path}`);
    const key = `${image.host}/${image.repository}`;
    const known = this.#tokens.get(key);
    const ask = (authorization: string | undefined) =>
      this.#http.get(url, { headers: { ...headers, ...(authorization && { authorization }) }, maxBytes, signal });
    let answer = await ask(known);
    let asked = "";
    if (answer.status === 401) {
      const login = await this.#credentials(image.host);
      asked = `, asked ${login.as}`;
      const authorization = await this.#authorize(image, answer, login, signal);
      if (authorization !== undefined) answer = await ask(authorization);
    }
    if (answer.status >= 200 && answer.status < 300) return answer;
    this.#tokens.delete(key);
    const told = registryMessage(answer.body);
    throw new FetchError(
      `${formatImageReference(image)}: the registry answers ${answer.status}${told === "" ? "" : ` (${told})`} to GET ${url.pathname}${asked}`,
      { status: answer.status },
    );
  }

  /** The `authorization` header that the challenge of a 401 asks for; undefined when there is nothing to offer. */
  async #authorize(
    image: ImageReference,
    answer: HttpAnswer,
    { credentials, as }: Login,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const challenge = answer.headers["www-authenticate"] ?? "";
    if (/^basic\b/i.test(challenge)) return credentials && basic(credentials);
    if (!/^bearer\b/i.test(challenge)) return undefined;
    const values = new Map(
      [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name!.toLowerCase(), value!]),
    );
    const realm = values.get("realm") ?? "";
    const url = URL.canParse(realm) ? new URL(realm) : undefined;
    if (
      url === undefined ||
      (url.protocol !== "https:" && !(url.protocol === "http:" && this.#http.isInsecure(answer.url)))
    ) {
      throw new FetchError(`${image.host} names no usable token service: ${JSON.stringify(realm)}`);
    }
    const service = values.get("service");
    if (service !== undefined) url.searchParams.set("service", service);
    url.searchParams.set("scope", values.get("scope") ?? `repository:${image.repository}:pull`);
    const headers = credentials === undefined ? {} : { authorization: basic(credentials) };
    const told = await this.#http.get(url, { headers, maxBytes: MAX_TOKEN_BYTES, signal });
    const content = jsonObject(told.body);
    const token = content?.token ?? content?.access_token;
    if (told.status !== 200 || typeof token !== "string") {
      throw new FetchError(
        `the token service of ${image.host} at ${url.host} answers ${told.status} without a token, asked ${as}`,
        { status: told.status, shown: `the registry's token service answers ${told.status} without a token` },
      );
    }
    const lasts = typeof content?.expires_in === "number" ? content.expires_in : DEFAULT_TOKEN_SECONDS;
    const ttl = (lasts - TOKEN_MARGIN_SECONDS) * 1000;
    const authorization = `Bearer ${token}`;
    if (ttl > 0) this.#tokens.set(`${image.host}/${image.repository}`, authorization, { ttl });
    return authorization;
  }
}

/** The descriptors of a manifest's layers; what isn't one is left out. */
export function layersOf({ content }: Manifest): readonly Descriptor[] {
  return Array.isArray(content.layers) ? content.layers.filter(isDescriptor) : [];
}

function isDescriptor(value: unknown): value is Descriptor {
  if (typeof value !== "object" || value === null) return false;
  const { mediaType, digest, size, annotations } = value as Record<string, unknown>;
  const plain = typeof mediaType === "string" && Number.isSafeInteger(size) && (size as number) >= 0;
  if (!plain || typeof digest !== "string" || !/^sha(256:[0-9a-f]{64}|512:[0-9a-f]{128})$/.test(digest)) return false;
  if (annotations === undefined || annotations === null) return true;
  return typeof annotations === "object" && Object.values(annotations).every((text) => typeof text === "string");
}

/** `sha256:<hex>`, or by the algorithm of a digest to be compared with. */
export function digestOf(bytes: Uint8Array, like = "sha256:"): string {
  const algorithm = like.startsWith("sha512:") ? "sha512" : "sha256";
  return `${algorithm}:${createHash(algorithm).update(bytes).digest("hex")}`;
}

function basic({ username, password }: Credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/** The JSON object that the bytes are; undefined when they are something else. */
export function jsonObject(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The first error of a registry's error document, in its words. */
function registryMessage(body: Buffer): string {
  const errors = jsonObject(body)?.errors;
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  if (typeof first !== "object" || first === null) return "";
  const { code, message } = first as Record<string, unknown>;
  return [code, message]
    .filter((part) => typeof part === "string" && part !== "")
    .join(": ")
    .slice(0, 300);
}
