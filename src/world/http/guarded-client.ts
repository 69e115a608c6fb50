/** HTTP to servers that policies name, within the rules of egress (spec kyverno.md 4.5). */
import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { GatheredBytes } from "../../data/gathered-bytes.js";
import { quote } from "../../data/go/quote.js";
import { endWithin } from "../../kubernetes/client/abort.js";
import { Clients } from "./clients.js";
import { literalRefusal, type Resolve, systemResolve } from "./connector.js";
import type { EgressRules } from "./egress-rules.js";
import { connectionWords, HttpFailure, isBlocked } from "./http-failure.js";
import type { HttpQuestion } from "./http-source.js";
import { ANSWER_MS, MAX_BODY_BYTES, MAX_REDIRECTS } from "./limits.js";

/** A request. */
export interface HttpRequest extends Pick<HttpQuestion, "url" | "headers" | "ca"> {
  /** The method in upper case. */
  readonly method: string;
  readonly body: string | Uint8Array | undefined;
}

/** Options of a request. */
export interface RequestOptions {
  /** Largest body; default {@link MAX_BODY_BYTES}. */
  readonly maxBytes?: number;
  /** The address for texts; default: as it is written, without its password. */
  readonly shown?: string;
  /** Whether a redirect to an address is followed, beside the rules of egress; default: any. */
  readonly permits?: (url: URL) => boolean;
  /** Aborted when the caller waits no longer. */
  readonly signal?: AbortSignal;
}

/** An answer, whatever its status. */
export interface HttpReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The error of an answer with too large a body. */
export class BodyTooLarge extends HttpFailure {
  constructor(
    readonly reply: Omit<HttpReply, "body">,
    { message, cause, reason }: HttpFailure,
  ) {
    super(message, { cause, ...(reason !== undefined && { reason }) });
  }
}

/** One request of a chain of redirects. */
interface Hop {
  readonly url: URL;
  /** The policy's own address for texts, without a password. */
  readonly asked: string;
  /** This request's own address; after a redirect it is for the log only: it may contain secrets of the server. */
  readonly shown: string;
  readonly redirected: boolean;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  readonly permits: ((url: URL) => boolean) | undefined;
}

/** Headers about the transfer of a message: policies cannot set them. */
const OWN_HEADERS: ReadonlySet<string> = new Set(
  "connection content-length expect host keep-alive proxy-connection te trailer transfer-encoding upgrade".split(" "),
);
/** Headers that are for one server only. */
const SECRET_HEADERS: ReadonlySet<string> = new Set(["authorization", "cookie", "cookie2", "www-authenticate"]);

/** A client; its connections are kept. */
export class GuardedClient {
  readonly #rules: EgressRules;
  readonly #clients: Clients;
  readonly #ended = new AbortController();

  /** @param resolve default: as the system does */
  constructor(rules: EgressRules, resolve: Resolve = systemResolve) {
    this.#rules = rules;
    this.#clients = new Clients(rules, resolve);
  }

  /**
   * Sends a request, and follows redirects.
   * @throws HttpFailure when there is no answer: a refused request, and a body that is too large (BodyTooLarge), count as none
   */
  async request(
    { method, url: written, headers, body, ca }: HttpRequest,
    options: RequestOptions = {},
  ): Promise<HttpReply> {
    const { maxBytes = MAX_BODY_BYTES, shown = withoutPassword(written), permits, signal } = options;
    const operation = operationOf(method);
    const url = parse(written, shown, operation);
    const refusal = this.#rules.refusal(url, shown);
    if (refusal !== undefined) throw new HttpFailure(refusal);
    let hop: Hop = {
      url,
      asked: shown,
      shown,
      redirected: false,
      method,
      headers: usable(headers, operation, shown),
      body,
      permits,
    };
    const limit = endWithin(this.#ended.signal, ANSWER_MS, signal);
    try {
      for (let redirects = 0; ; redirects++) {
        const answer = await this.#send(hop, operation, ca, limit.signal);
        const location = redirectOf(answer);
        if (location === undefined) {
          const { statusCode: status, headers: received } = answer;
          return { status, headers: received, body: await read(answer, maxBytes, operation, hop) };
        }
        await answer.body.dump();
        hop = this.#next(hop, answer.statusCode, location, operation, redirects);
      }
    } catch (error) {
      if (error instanceof HttpFailure) throw error;
      if (limit.signal.aborted) throw failed(operation, hop, "context deadline exceeded", error);
      throw unreached(operation, hop, error);
    } finally {
      limit.done();
    }
  }

  /** Ends requests under way, and all connections. */
  async close(): Promise<void> {
    this.#ended.abort();
    await this.#clients.close();
  }

  async #send(hop: Hop, operation: string, ca: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { url, method, headers, body } = hop;
    const refusal = literalRefusal(url.hostname, this.#rules);
    if (refusal !== undefined) throw blocked(operation, hop, `connection to ${placeOf(url)} blocked: ${refusal}`);
    const sent = { "user-agent": "policy-group-gateway", ...authorization(url), ...headers };
    const path = `${url.pathname}${url.search}`;
    return this.#clients.request(
      {
        origin: url.origin,
        path,
        method: method as Dispatcher.HttpMethod,
        headers: sent,
        signal,
        ...(body !== undefined && { body }),
      },
      ca,
    );
  }

  /** The next request of a chain: checked as the first one is; its address is checked when it is connected to. */
  #next(hop: Hop, status: number, location: string, operation: string, redirects: number): Hop {
    const there = { ...hop, shown: withoutPassword(location), redirected: true };
    if (redirects + 1 >= MAX_REDIRECTS) throw failed(operation, there, `stopped after ${MAX_REDIRECTS} redirects`);
    if (!URL.canParse(location, hop.url.href)) throw failed(operation, there, "failed to parse Location header");
    const url = new URL(location, hop.url.href);
    const shown = withoutPassword(url.href);
    if (!isHttp(url)) throw failed(operation, there, unsupported(url.protocol.slice(0, -1)));
    const refusal = this.#rules.refusal(url, shown);
    if (refusal !== undefined) throw blocked(operation, there, refusal);
    if (hop.permits?.(url) === false) throw blocked(operation, there, `the host ${url.hostname} is not permitted`);
    const keeps = keepsMethod(status, hop.method);
    return {
      ...there,
      url,
      shown,
      method: keeps ? hop.method : "GET",
      headers: url.origin === hop.url.origin ? hop.headers : withoutSecrets(hop.headers),
      body: keeps ? hop.body : undefined,
    };
  }
}

/** Whether a redirect keeps the method: after "moved", only a POST becomes a GET, as in browsers (Fetch, 4.4); after "see other", every method with a body does. */
function keepsMethod(status: number, method: string): boolean {
  if (method === "GET" || method === "HEAD") return true;
  return status === 303 ? false : status === 307 || status === 308 || method !== "POST";
}

/** The method as Go prints it in errors: `Get`. */
const operationOf = (method: string): string => method.slice(0, 1) + method.slice(1).toLowerCase();

const isHttp = ({ protocol }: URL): boolean => protocol === "http:" || protocol === "https:";
const unsupported = (scheme: string): string => `unsupported protocol scheme ${quote(scheme, false)}`;

/** A URL that cannot be read in two ways: no control characters, and a host behind two slashes. */
function parse(written: string, shown: string, operation: string): URL {
  const [, scheme = ""] = /^([a-z][a-z\d+.-]*):/i.exec(written) ?? [];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are refused
  if (/[\x00-\x1f\x7f]|^ /.test(written)) {
    throw new HttpFailure(`invalid URL: parse ${quote(shown, false)}: net/url: invalid control character in URL`);
  }
  const about = `${operation} ${quote(shown, false)}`;
  if (!/^https?$/i.test(scheme)) throw HttpFailure.begun(`${about}: ${unsupported(scheme.toLowerCase())}`);
  if (!/^https?:\/\/[^/?#\\]/i.test(written)) {
    throw HttpFailure.begun(`${about}: http: no Host in request URL`);
  }
  if (!URL.canParse(written)) throw new HttpFailure(`invalid URL: parse ${quote(shown, false)}`);
  return new URL(written);
}

/** The address as Go prints it in errors. */
const withoutPassword = (url: string): string => url.replace(/^([a-z][a-z\d+.-]*:\/\/[^/?#@:]*:)[^/?#@]*@/i, "$1***@");

function authorization({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {};
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(login).toString("base64")}` };
}

/** The policy's headers, by names in lower case. */
function usable(
  headers: Readonly<Record<string, string>>,
  operation: string,
  shown: string,
): Readonly<Record<string, string>> {
  const kept: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    const about = `${operation} ${quote(shown, false)}: net/http: invalid header field`;
    if (!/^[!#$%&'*+\-.^`|~\w]+$/.test(name)) throw HttpFailure.begun(`${about} name ${quote(name, false)}`);
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw HttpFailure.begun(`${about} value for ${quote(name, false)}`);
    if (!OWN_HEADERS.has(name.toLowerCase())) kept.push([name.toLowerCase(), value]);
  }
  return Object.fromEntries(kept);
}

const withoutSecrets = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !SECRET_HEADERS.has(name)));

/** `host:port`, the port also where it is the scheme's own. */
const placeOf = ({ hostname, port, protocol }: URL): string =>
  `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;

function redirectOf({ statusCode, headers }: Dispatcher.ResponseData): string | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode)) return undefined;
  const { location } = headers;
  const first = Array.isArray(location) ? location[0] : location;
  return first === undefined || first === "" ? undefined : first;
}

async function read(
  { body, statusCode, headers }: Dispatcher.ResponseData,
  maxBytes: number,
  operation: string,
  hop: Hop,
): Promise<Buffer> {
  const bytes = new GatheredBytes();
  for await (const chunk of body) {
    bytes.add(chunk as Uint8Array);
    if (bytes.size > maxBytes) {
      body.destroy();
      const reason = `response length must be less than max allowed response length of ${maxBytes}`;
      throw new BodyTooLarge({ status: statusCode, headers }, failed(operation, hop, reason));
    }
  }
  return bytes.take();
}

/** The failure of a request that was begun, in the words of Go's client, without a redirect's address. @param reason names no address */
function failed(operation: string, { asked, shown, redirected }: Hop, reason: string, cause?: unknown): HttpFailure {
  const about = `${operation} ${quote(asked, false)}: ${reason}`;
  return HttpFailure.begun(about, redirected ? new Error(`redirected to ${quote(shown, false)}`, { cause }) : cause);
}

/** A failure whose reason names an address, which only a policy that has named it gets. */
const blocked = (operation: string, hop: Hop, reason: string, cause?: unknown): HttpFailure =>
  hop.redirected
    ? failed(operation, hop, "it is redirected to where nothing may be sent", new Error(reason, { cause }))
    : failed(operation, hop, reason, cause);

function unreached(operation: string, hop: Hop, error: unknown): HttpFailure {
  const words = connectionWords(error, placeOf(hop.url));
  return isBlocked(error) ? blocked(operation, hop, words, error) : failed(operation, hop, words, error);
}
