/** Requests to OCI registries, with a log-in where one is required (distribution specification 1.1; spec kubewarden.md 1.9). */
import { LRUCache } from "lru-cache";
import type { Places } from "../config/places.js";
import { parsePlainJson } from "../data/json.js";
import { hasMoreValues } from "../data/json-values.js";
import { printable } from "../data/printable.js";
import { isJsonObject } from "../data/same-value.js";
import type { CredentialStore, Credentials, Login } from "./docker-credentials.js";
import { FetchError, TOO_LARGE } from "./fetch-error.js";
import type { HttpAnswer, HttpClient, HttpRequest } from "./http-client.js";
import { formatImageReference, type ImageReference, isDockerHub } from "./image-reference.js";
import { DEFAULT_TOKEN_SECONDS, MAX_ANSWER_BYTES, MAX_ANSWER_VALUES, MAX_TOKENS } from "./limits.js";

/** Seconds before its end that a token is no longer used. */
const TOKEN_MARGIN_SECONDS = 5;

/** A request about a repository. */
export interface RegistryRequest extends Omit<HttpRequest, "permits"> {
  /** The actions that the token must allow. */
  readonly actions: "pull" | "pull,push";
  /** Statuses that are answers, beside successful ones. */
  readonly alsoAnswers?: readonly number[];
  /** Permitted prefixes of redirects and token services; absent: any. */
  readonly places?: Places | undefined;
  /** Whether the digest of the content is known: then a redirect may lead anywhere. */
  readonly isKnown?: boolean;
}

/** A connection to any number of registries. Tokens are kept until they expire, at most {@link MAX_TOKENS}. */
export class RegistryConnection {
  readonly #http: HttpClient;
  readonly #credentials: CredentialStore;
  readonly #tokens: LRUCache<string, string>;

  /** @param now monotonic milliseconds */
  constructor(http: HttpClient, credentials: CredentialStore, now: () => number) {
    this.#http = http;
    this.#credentials = credentials;
    this.#tokens = new LRUCache({ max: MAX_TOKENS, ttl: DEFAULT_TOKEN_SECONDS * 1000, perf: { now } });
  }

  /** An address below `/v2/<repository>/`. */
  address({ host, repository }: ImageReference, path: string): URL {
    return new URL(`https://${isDockerHub(host) ? "registry-1.docker.io" : host}/v2/${repository}/${path}`);
  }

  /**
   * Sends a request, with a token when the registry requires one.
   * @throws FetchError also for a status that is not an answer
   */
  async ask(image: ImageReference, url: URL, request: RegistryRequest): Promise<HttpAnswer> {
    const { actions, alsoAnswers = [], headers = {}, method = "GET", places, isKnown = false } = request;
    const permits = isKnown || places === undefined ? undefined : (next: URL) => places.leadsTo(next);
    const key = `${image.host}/${image.repository} ${actions}`;
    // Storage that a registry redirects to has other log-ins, and must not see the registry's.
    const isRegistry = url.host === this.address(image, "").host;
    const known = isRegistry ? this.#tokens.get(key) : undefined;
    const ask = (authorization: string | undefined, isSecret = true) =>
      this.#http.request(url, {
        ...request,
        permits,
        ...(authorization && { isSecret, headers: { ...headers, authorization } }),
      });
    let answer = await ask(known);
    let asked = "";
    // A redirect's target must not choose the token service either.
    if (answer.status === 401 && isRegistry && answer.url.host === url.host) {
      const isSecret = answer.url.protocol === "https:";
      const login = await this.#credentials(image.host, image.repository, isSecret);
      asked = `, asked ${login.as}`;
      const authorization = await this.#authorize(image, answer, login, request);
      if (authorization !== undefined) answer = await ask(authorization, isSecret);
    }
    const { status } = answer;
    if ((status >= 200 && status < 300) || alsoAnswers.includes(status)) return answer;
    this.#tokens.delete(key);
    const told = registryMessage(answer.body);
    throw new FetchError(
      `${formatImageReference(image)}: the registry answers ${status}${told === "" ? "" : ` (${told})`} to ${method} ${isRegistry ? "" : url.origin}${url.pathname}${asked}`,
      { status },
    );
  }

  /** The `authorization` header for the challenge of a 401; undefined without credentials or token. */
  async #authorize(
    image: ImageReference,
    answer: HttpAnswer,
    { credentials, as }: Login,
    { actions, signal, places }: RegistryRequest,
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
      throw new FetchError(`${image.host} names no usable token service: ${JSON.stringify(realm)}`, { unasked: true });
    }
    const permits = places && ((next: URL) => places.hasTokens(image.host, next));
    if (permits?.(url) === false) {
      throw new FetchError(
        `${image.host} names the token service ${url.origin}${url.pathname}, which is not below a place for modules of namespaced policies`,
        { shown: "the registry names a token service where no module may come from", unasked: true },
      );
    }
    const service = values.get("service");
    if (service !== undefined) url.searchParams.set("service", service);
    const own = `repository:${image.repository}:${actions}`;
    // A writer requests a token for writing at once, whatever the first request needs.
    url.searchParams.set("scope", actions === "pull" ? (values.get("scope") ?? own) : own);
    const headers = credentials === undefined ? {} : { authorization: basic(credentials) };
    const isSecret = url.protocol === "https:";
    const told = await this.#http.request(url, { headers, maxBytes: MAX_ANSWER_BYTES, signal, permits, isSecret });
    const content = objectIn(told.body);
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
    // A kept one is only sent as a secret.
    const isKept = ttl > 0 && (answer.url.protocol === "https:" || this.#http.isListed(answer.url));
    if (isKept) this.#tokens.set(`${image.host}/${image.repository} ${actions}`, authorization, { ttl });
    return authorization;
  }
}

function basic({ username, password }: Credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/**
 * Parses an answer as a JSON object.
 * @param what its origin, for messages
 * @throws FetchError also when it has more than `most` values
 */
export function readObject(bytes: Buffer, what: string, most = MAX_ANSWER_VALUES): Readonly<Record<string, unknown>> {
  const text = bytes.toString("utf8");
  if (hasMoreValues(text, most)) throw new FetchError(`${what} has more than ${most} values`, { shown: TOO_LARGE });
  const value = jsonOf(text);
  if (isJsonObject(value)) return value;
  throw new FetchError(`${what} is not a JSON object`, { shown: "the registry's answer is not a JSON object" });
}

/** Parses a text as JSON; undefined for any other text. */
export function jsonOf(text: string): unknown {
  try {
    return parsePlainJson(text);
  } catch {
    return undefined;
  }
}

/** {@link readObject} for an optional answer. */
export function objectIn(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    return readObject(bytes, "the answer");
  } catch {
    return undefined;
  }
}

/** Characters of a registry's message that are repeated. */
const MAX_TOLD = 300;

/** The first error of a registry's error document, in its words. */
function registryMessage(body: Buffer): string {
  const errors = objectIn(body)?.errors;
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  if (typeof first !== "object" || first === null) return "";
  const { code, message } = first as Record<string, unknown>;
  const told = [code, message].filter((part) => typeof part === "string" && part !== "").join(": ");
  return printable(told.slice(0, MAX_TOLD));
}
