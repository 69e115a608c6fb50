/** Requests to OCI registries, with a log-in when one is wanted (distribution specification 1.1; spec kubewarden.md 1.9). */
import { LRUCache } from "lru-cache";
import { parsePlainJson } from "../data/json.js";
import { printable } from "../data/printable.js";
import { isJsonObject } from "../data/same-value.js";
import type { CredentialStore, Credentials, Login } from "./docker-credentials.js";
import { FetchError } from "./fetch-error.js";
import type { HttpAnswer, HttpClient, HttpRequest } from "./http-client.js";
import { formatImageReference, type ImageReference, isDockerHub } from "./image-reference.js";
import { DEFAULT_TOKEN_SECONDS, MAX_TOKEN_BYTES, MAX_TOKENS } from "./limits.js";

/** Seconds before its end that a token is no longer used. */
const TOKEN_MARGIN_SECONDS = 5;

/** A request about a repository. */
export interface RegistryRequest extends HttpRequest {
  /** What the token must allow. */
  readonly actions: "pull" | "pull,push";
  /** Statuses that are answers beside those of success. */
  readonly alsoAnswers?: readonly number[];
}

/** A connection to any number of registries. Tokens are kept until they end, at most {@link MAX_TOKENS}. */
export class RegistryConnection {
  readonly #http: HttpClient;
  readonly #credentials: CredentialStore;
  readonly #tokens: LRUCache<string, string>;

  /** @param now milliseconds of any clock that only goes forward */
  constructor(http: HttpClient, credentials: CredentialStore, now: () => number) {
    this.#http = http;
    this.#credentials = credentials;
    this.#tokens = new LRUCache({ max: MAX_TOKENS, ttl: DEFAULT_TOKEN_SECONDS * 1000, perf: { now } });
  }

  /** The address of something below `/v2/<repository>/`. */
  address({ host, repository }: ImageReference, path: string): URL {
    return new URL(`https://${isDockerHub(host) ? "registry-1.docker.io" : host}/v2/${repository}/${path}`);
  }

  /**
   * Asks, with a token when the registry wants one.
   * @throws FetchError also for a status that is no answer
   */
  async ask(image: ImageReference, url: URL, request: RegistryRequest): Promise<HttpAnswer> {
    const { actions, alsoAnswers = [], headers = {}, method = "GET" } = request;
    const key = `${image.host}/${image.repository} ${actions}`;
    // Storage that a registry sends somebody to knows nothing of its log-ins, and is not to see them.
    const isRegistry = url.host === this.address(image, "").host;
    const known = isRegistry ? this.#tokens.get(key) : undefined;
    const ask = (authorization: string | undefined) =>
      this.#http.request(url, { ...request, headers: { ...headers, ...(authorization && { authorization }) } });
    let answer = await ask(known);
    let asked = "";
    // Nor is somebody to say where to log in whom the registry has redirected to.
    if (answer.status === 401 && isRegistry && answer.url.host === url.host) {
      const login = await this.#credentials(image.host);
      asked = `, asked ${login.as}`;
      const authorization = await this.#authorize(image, answer, login, request);
      if (authorization !== undefined) answer = await ask(authorization);
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

  /** The `authorization` header that the challenge of a 401 asks for; undefined when there is nothing to offer. */
  async #authorize(
    image: ImageReference,
    answer: HttpAnswer,
    { credentials, as }: Login,
    { actions, signal }: RegistryRequest,
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
    const own = `repository:${image.repository}:${actions}`;
    // Who is to write asks for that from the start, whatever the first request wants.
    url.searchParams.set("scope", actions === "pull" ? (values.get("scope") ?? own) : own);
    const headers = credentials === undefined ? {} : { authorization: basic(credentials) };
    const told = await this.#http.request(url, { headers, maxBytes: MAX_TOKEN_BYTES, signal });
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
    if (ttl > 0) this.#tokens.set(`${image.host}/${image.repository} ${actions}`, authorization, { ttl });
    return authorization;
  }
}

function basic({ username, password }: Credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/** The JSON object that the bytes are; undefined when they are something else. */
export function jsonObject(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parsePlainJson(bytes.toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Longest text of a registry that is repeated. */
const MAX_TOLD = 300;

/** The first error of a registry's error document, in its words. */
function registryMessage(body: Buffer): string {
  const errors = jsonObject(body)?.errors;
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  if (typeof first !== "object" || first === null) return "";
  const { code, message } = first as Record<string, unknown>;
  const told = [code, message].filter((part) => typeof part === "string" && part !== "").join(": ");
  return printable(told.slice(0, MAX_TOLD));
}
