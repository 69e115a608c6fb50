/** An HTTP client with limits, proxies, and the exceptions of sources.yml for single hosts. */
import { readFileSync } from "node:fs";
import type { LookupFunction } from "node:net";
import { createSecureContext, rootCertificates, type SecureContext } from "node:tls";
import { LRUCache } from "lru-cache";
import type { Dispatcher } from "undici";
import type { Sources } from "../config/sources.js";
import { GatheredBytes } from "../data/gathered-bytes.js";
import { CannotKeep, FetchError, reasonOf, TOO_LARGE, UNREACHED } from "./fetch-error.js";
import { DOCKER_HUB, isDockerHub } from "./image-reference.js";
import { CONNECT_TIMEOUT_MS, IDLE_TIMEOUT_MS, MAX_REDIRECTS, UPLOAD_TIMEOUT_MS } from "./limits.js";
import { type Environment, proxyFor } from "./proxies.js";

/** Bytes of an error answer's body that are read: enough for its message. */
const MAX_ERROR_BODY_BYTES = 64 * 1024;
/** Connections kept for hosts at a time; the oldest is closed first. */
const MAX_DISPATCHERS = 32;
/** Milliseconds for which a host that has answered by plain HTTP is asked by it first: each try by TLS costs some 3 ms. */
const PLAIN_KEPT_MS = 60_000;

/** Receives a body piece by piece: the next one comes when this is done. */
export type TakesPieces = (piece: Uint8Array) => Promise<void> | void;

/** An answer with its whole body. */
export interface HttpAnswer {
  readonly status: number;
  /** Lower-case names; of repeated headers the first. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Its URL, after redirects. */
  readonly url: URL;
}

/** A request. */
export interface HttpRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /** A larger body is an error. */
  readonly maxBytes: number;
  /** Ends the request. */
  readonly signal: AbortSignal;
  /** Default GET. */
  readonly method?: "GET" | "HEAD" | "POST" | "PUT";
  /** The body. */
  readonly body?: Uint8Array;
  /** Receives the body of a successful answer, which is then empty. */
  readonly into?: TakesPieces | undefined;
  /** Whether plain HTTP must not take the place of TLS that fails, except for hosts in sources.yml: for log-ins. */
  readonly isSecret?: boolean;
  /** Whether a redirect to a URL is permitted; default: to any that the client may request. */
  readonly permits?: ((url: URL) => boolean) | undefined;
}

/** Addresses that must not be requested where clients choose the URL. Hosts in sources.yml are an operator's choice, and permitted. */
export interface AddressGuard {
  /** The reason why a host is refused whatever it resolves to; `undefined` when it is not. */
  refusal(url: URL): string | undefined;
  /** Resolves names for connections, and fails for refused addresses. */
  readonly lookup: LookupFunction;
  /** Whether an error is such a refusal. */
  isRefusal(error: unknown): boolean;
}

/** One way to connect to a host. */
interface Attempt {
  readonly protocol: "https:" | "http:";
  readonly verified: boolean;
}

/** Loaded at the first download: a server whose modules are all files starts without it. */
const loadUndici = () => import("undici");
type Undici = Awaited<ReturnType<typeof loadUndici>>;

/** A client; close it when it is no longer needed. */
export class HttpClient {
  readonly #dispatchers = new Map<string, Dispatcher>();
  readonly #contexts = new Map<string, SecureContext>();
  #extraRoots: readonly string[] | undefined;
  readonly #sources: Sources;
  readonly #environment: Environment;
  readonly #guard: AddressGuard | undefined;
  readonly #plain: boolean;
  /** Hosts that have answered by plain HTTP, which they may. */
  readonly #plainHosts = new LRUCache<string, true>({ max: MAX_DISPATCHERS, ttl: PLAIN_KEPT_MS });

  /** @param plain whether any host may be asked by plain HTTP where TLS fails */
  constructor(sources: Sources, environment: Environment, guard?: AddressGuard, plain = false) {
    this.#sources = sources;
    this.#environment = environment;
    this.#guard = guard;
    this.#plain = plain;
  }

  /**
   * Follows redirects (without `authorization` when the origin changes). Every HTTP status is an answer.
   * @throws FetchError when there is no answer, or it is too large
   */
  async request(start: URL, request: HttpRequest): Promise<HttpAnswer> {
    let url = start;
    let sent = request.headers ?? {};
    const keepsMethod = request.method === undefined || request.method === "GET" || request.method === "HEAD";
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const answer = await this.#once(url, { ...request, headers: sent });
      // Other redirects turn an upload into a GET: they are for browsers.
      const redirected = keepsMethod ? answer.status >= 300 && answer.status < 400 : [307, 308].includes(answer.status);
      const location = redirected ? answer.headers.location : undefined;
      if (location === undefined) return answer;
      const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
      if (next === undefined || !/^https?:$/.test(next.protocol)) {
        throw new FetchError(`${url.origin} redirects to ${JSON.stringify(location)}, which is not an HTTP address`, {
          unasked: true,
        });
      }
      if (url.protocol === "https:" && next.protocol === "http:" && !this.isInsecure(next)) {
        throw new FetchError(
          `${url.origin} redirects to plain HTTP at ${next.host}, which insecure_sources doesn't list`,
          { unasked: true },
        );
      }
      if (request.permits?.(next) === false) {
        throw new FetchError(
          `${url.origin} redirects to ${next.origin}${next.pathname}, which is not below a place for modules of namespaced policies`,
          { shown: "it is redirected to where modules may not come from", unasked: true },
        );
      }
      if (next.origin !== url.origin) {
        sent = Object.fromEntries(Object.entries(sent).filter(([name]) => name.toLowerCase() !== "authorization"));
      }
      url = next;
    }
    throw new FetchError(`${start.origin}${start.pathname} redirects more than ${MAX_REDIRECTS} times`, {
      unasked: true,
    });
  }

  /** Whether a server that was asked by this URL may lead to plain HTTP, or be asked by it. */
  isInsecure(url: URL): boolean {
    return (this.#plain && url.protocol === "http:") || this.isListed(url);
  }

  /** Whether sources.yml lists the host of a URL as insecure. */
  isListed(url: URL): boolean {
    return hostKeys(url).some((key) => this.#sources.insecure.has(key));
  }

  /** @throws FetchError for a host that is refused whatever it resolves to */
  check(url: URL): void {
    const refusal = this.#guardOf(url)?.refusal(url);
    if (refusal === undefined) return;
    throw new FetchError(`${url.host} is not asked: ${refusal}`, {
      shown: "its registry is at a blocked address",
      unasked: true,
    });
  }

  #guardOf(url: URL): AddressGuard | undefined {
    const { insecure, authorities } = this.#sources;
    return hostKeys(url).some((key) => insecure.has(key) || authorities.has(key)) ? undefined : this.#guard;
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    const open = [...this.#dispatchers.values()];
    this.#dispatchers.clear();
    await Promise.all(open.map((dispatcher) => dispatcher.destroy()));
  }

  async #once(url: URL, request: HttpRequest): Promise<HttpAnswer> {
    const { headers = {}, signal, method = "GET", body, isSecret = false } = request;
    this.check(url);
    const undici = await loadUndici();
    const failures: unknown[] = [];
    const attempts = this.#attempts(url, isSecret);
    // A host that speaks no TLS is not tried by it each time.
    const known =
      this.#plainHosts.get(url.host) === true ? attempts.filter(({ protocol }) => protocol === "http:") : [];
    for (const attempt of [...known, ...attempts.filter((one) => !known.includes(one))]) {
      const target = new URL(url);
      target.protocol = attempt.protocol;
      let answer: Dispatcher.ResponseData;
      try {
        answer = await undici.request(target, {
          method,
          headers: { "user-agent": "policy-group-gateway", ...headers },
          signal,
          // The answer comes after the whole upload.
          ...(body !== undefined && { body, headersTimeout: UPLOAD_TIMEOUT_MS }),
          dispatcher: this.#dispatcher(target, attempt.verified, undici),
        });
      } catch (cause) {
        if (signal.aborted) throw new FetchError(`no answer from ${url.host} in time`, { cause, unanswered: true });
        failures.push(cause);
        continue;
      }
      if (attempts.length > 1 && attempt.protocol === "http:") this.#plainHosts.set(url.host, true);
      return readAnswer(answer, target, request);
    }
    const reasons = failures.map(connectionReason).filter((reason, index, all) => all.indexOf(reason) === index);
    const proxy = proxyFor(url, this.#environment) === undefined ? "" : " through the proxy of the environment";
    throw new FetchError(`cannot reach ${url.host}${proxy}: ${reasons.join("; ")}`, {
      cause: failures[0],
      // Addresses that a name resolves to must not appear in answers.
      ...(failures.some((failure) => this.#guardOf(url)?.isRefusal(failure))
        ? { shown: UNREACHED, unasked: true }
        : { unanswered: true }),
    });
  }

  #attempts(url: URL, isSecret: boolean): readonly Attempt[] {
    if (url.protocol === "http:") return [{ protocol: "http:", verified: false }];
    const verified: Attempt = { protocol: "https:", verified: true };
    const plain: Attempt = { protocol: "http:", verified: false };
    if (this.isListed(url)) return [verified, { protocol: "https:", verified: false }, plain];
    return this.#plain && !isSecret ? [verified, plain] : [verified];
  }

  #dispatcher(url: URL, verified: boolean, { Agent, ProxyAgent }: Undici): Dispatcher {
    const key = `${url.origin} ${verified}`;
    const known = this.#dispatchers.get(key);
    if (known !== undefined) return known;
    const extra = [
      ...hostKeys(url).flatMap((host) => this.#sources.authorities.get(host) ?? []),
      ...this.#systemExtras(),
    ];
    const servername = url.hostname.replace(/^\[.*\]$/, "");
    const tls = {
      timeout: CONNECT_TIMEOUT_MS,
      rejectUnauthorized: verified || url.protocol === "http:",
      ...(extra.length > 0 && { secureContext: this.#contextWith(extra) }),
      ...(servername !== "" && !/^[\d.]+$/.test(servername) && { servername }),
    };
    const limits = { headersTimeout: IDLE_TIMEOUT_MS, bodyTimeout: IDLE_TIMEOUT_MS };
    const proxy = proxyFor(url, this.#environment);
    // A proxy resolves names itself; it may be anywhere.
    const lookup = this.#guardOf(url)?.lookup;
    const dispatcher =
      proxy === undefined
        ? new Agent({ ...limits, connect: { ...tls, ...(lookup && { lookup }) } })
        : new ProxyAgent({ ...limits, uri: proxy, proxyTunnel: url.protocol === "https:", requestTls: tls });
    for (const [oldest, unused] of this.#dispatchers) {
      if (this.#dispatchers.size < MAX_DISPATCHERS) break;
      this.#dispatchers.delete(oldest);
      void unused.close();
    }
    this.#dispatchers.set(key, dispatcher);
    return dispatcher;
  }

  /** The TLS context, made once for all connections: reading a hundred certificates takes 20 ms. There is one for each list of authorities in sources.yml. */
  #contextWith(extra: readonly string[]): SecureContext {
    const key = extra.join("\n");
    let context = this.#contexts.get(key);
    if (context === undefined) {
      context = createSecureContext({ ca: [...rootCertificates, ...extra] });
      this.#contexts.set(key, context);
    }
    return context;
  }

  /** `SSL_CERT_FILE` and `NODE_EXTRA_CA_CERTS`: the usual variables for a company's CAs in container images. */
  #systemExtras(): readonly string[] {
    this.#extraRoots ??= [this.#environment.SSL_CERT_FILE, this.#environment.NODE_EXTRA_CA_CERTS].flatMap((file) => {
      if (!file) return [];
      try {
        return [readFileSync(file, "latin1")];
      } catch (cause) {
        throw new FetchError(`cannot read the certificates of ${file}: ${reasonOf(cause)}`, { cause });
      }
    });
    return this.#extraRoots;
  }
}

/** Remedies in sources.yml, by the codes of TLS failures. */
const REMEDIES: Readonly<Record<string, string>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak TLS (plain HTTP is for hosts in insecure_sources of sources.yml)",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "source_authorities of sources.yml may name its CA",
  SELF_SIGNED_CERT_IN_CHAIN: "source_authorities of sources.yml may name its CA",
  DEPTH_ZERO_SELF_SIGNED_CERT: "source_authorities of sources.yml may name it",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "source_authorities of sources.yml may name its CA",
};

function connectionReason(cause: unknown): string {
  const code = String((cause as NodeJS.ErrnoException | null)?.code);
  const remedy = Object.hasOwn(REMEDIES, code) ? REMEDIES[code] : undefined;
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" && remedy !== undefined) return remedy;
  return `${reasonOf(cause).trim()}${remedy === undefined ? "" : ` (${remedy})`}`;
}

/** The names under which sources.yml may list the host of a URL: with its port, and without one that is the default; Docker Hub by each of its names. */
function hostKeys(url: URL): readonly string[] {
  if (url.port !== "") return [url.host];
  const names = isDockerHub(url.host) ? DOCKER_HUB : [url.host];
  const port = url.protocol === "https:" ? "443" : "80";
  return names.flatMap((name) => [name, `${name}:${port}`]);
}

async function readAnswer(
  answer: Dispatcher.ResponseData,
  url: URL,
  { maxBytes, into, method }: HttpRequest,
): Promise<HttpAnswer> {
  const ok = answer.statusCode >= 200 && answer.statusCode < 300;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined) headers[name] = typeof value === "string" ? value : value[0]!;
  }
  const limit = ok ? maxBytes : MAX_ERROR_BODY_BYTES;
  const announced = ok && method !== "HEAD" ? Number(headers["content-length"]) : Number.NaN;
  const gathered = new GatheredBytes();
  let whole: Buffer | undefined;
  let size = 0;
  try {
    // A body that is announced as too large is not read.
    if (announced > limit) throw tooLarge(url, limit);
    // Not of a shared pool: it should be freed with its last use.
    if (announced > 0 && into === undefined) whole = Buffer.allocUnsafeSlow(announced);
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      const at = size;
      size += chunk.length;
      if (size > limit) {
        if (!ok) break;
        throw tooLarge(url, limit);
      }
      if (ok && into !== undefined) await into(chunk);
      else if (whole === undefined) gathered.add(chunk);
      else whole.set(chunk, at);
    }
  } catch (cause) {
    answer.body.on("error", () => {}).destroy();
    if (cause instanceof FetchError || cause instanceof CannotKeep) throw cause;
    throw new FetchError(`the answer of ${url.host} broke off: ${reasonOf(cause)}`, { cause, unanswered: true });
  }
  return { status: answer.statusCode, headers, body: whole?.subarray(0, size) ?? gathered.take(), url };
}

const tooLarge = (url: URL, limit: number): FetchError =>
  new FetchError(`the answer of ${url.host} is larger than ${limit} bytes`, { shown: TOO_LARGE });
