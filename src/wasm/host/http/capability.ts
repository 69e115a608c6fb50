/** HTTP requests of Extism plugins: only to the hosts in their policy's `allowedHosts`. */
import { PublicError } from "../../../data/public-text.js";
import type { Caller, Capability } from "../host.js";
import { objectOf, optionalText, optionalTexts, PayloadError, textOf } from "../payload.js";
import type { HttpGrant } from "./grant.js";
import { HTTP_CALL, type HttpAnswer } from "./wire.js";

/** A request, checked. */
export interface HttpRequest {
  readonly method: string;
  /** An address of `http` or `https`. */
  readonly url: string;
  /** The URL for messages: without user name, password and query, which may be secrets. */
  readonly shownUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  /** Whether a redirect may lead there. */
  readonly permits: (url: URL) => boolean;
  readonly maxBytes: number;
  /** Aborted when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

/** A response, whatever its status. */
export interface HttpReply {
  readonly status: number;
  /** Names in lower case; of several values one text. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: it has more than `maxBytes`. */
  readonly body: Uint8Array | undefined;
}

/** Sends a request, within the rules of egress. Rejects, with a message for the guest, when there is no answer. */
export type SendHttp = (request: HttpRequest) => Promise<HttpReply>;

/** Fails for lack of a network. */
export const NO_HTTP: SendHttp = () => Promise.reject(new PublicError("the policy server offers no HTTP"));

/** Valid HTTP methods. */
const METHOD = /^[!#$%&'*+\-.^`|~\w]+$/;
/** Methods that fetch refuses. */
const FORBIDDEN: ReadonlySet<string> = new Set(["CONNECT", "TRACE", "TRACK"]);

/** The capability. */
export function httpCapability(send: SendHttp, reported: (caller: Caller, host: string) => void): Capability {
  return {
    namespace: HTTP_CALL.namespace,
    operations: {
      [HTTP_CALL.operation]: {
        gate(payload, caller) {
          const url = urlOf(payload);
          if (caller.http?.hosts.allows(url.hostname)) return undefined;
          reported(caller, url.hostname);
          return `Call error: HTTP request to "${shownUrl(url)}" is not allowed (no allowedHosts match "${url.hostname}")`;
        },
        async run(payload, { caller, signal }): Promise<HttpAnswer> {
          const { http } = caller;
          if (http === undefined) throw new PublicError("the policy may not send HTTP requests");
          const reply = await send(requestOf(payload, http, signal));
          const { status, headers, body } = reply;
          return body === undefined
            ? { status, headers, problem: `Response body exceeded ${http.maxResponseBytes} bytes` }
            : { status, headers, body: Buffer.from(body).toString("base64") };
        },
      },
    },
  };
}

function urlOf(payload: unknown): URL {
  const text = textOf(objectOf(payload, "the HTTP request").url, "url");
  if (!URL.canParse(text)) throw new PayloadError("Invalid URL");
  const url = new URL(text);
  if (url.protocol === "http:" || url.protocol === "https:") return url;
  throw new PayloadError(`an HTTP request needs an address of http or https, not ${JSON.stringify(url.protocol)}`);
}

function shownUrl(url: URL): string {
  return `${url.origin}${url.pathname}${url.search === "" ? "" : "?…"}`;
}

function requestOf(payload: unknown, { hosts, maxResponseBytes }: HttpGrant, signal: AbortSignal): HttpRequest {
  const url = urlOf(payload);
  const { method: named, headers, body: encoded } = objectOf(payload, "the HTTP request");
  const method = (optionalText(named, "method") ?? "GET").toUpperCase();
  if (!METHOD.test(method) || FORBIDDEN.has(method))
    throw new PayloadError(
      `${JSON.stringify(method.slice(0, 64))} is not a method of HTTP requests that a policy may send`,
    );
  const text = optionalText(encoded, "body");
  const hasBody = text !== undefined && method !== "GET" && method !== "HEAD";
  return {
    method,
    url: url.href,
    shownUrl: shownUrl(url),
    headers: optionalTexts(headers, "headers") ?? {},
    body: hasBody ? Buffer.from(text, "base64") : undefined,
    permits: ({ hostname }) => hosts.allows(hostname),
    maxBytes: maxResponseBytes,
    signal,
  };
}
