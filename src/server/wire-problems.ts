/** The problems of a request whatever its path: its message is not HTTP/1.1, or has something that this server does not accept (RFC 9110 and 9112). */
import type { IncomingMessage } from "node:http";
import type { RequestProblem } from "../admission/request-problem.js";

/** Time for the headers of a request, and before that for the handshake of TLS: an API server is never slower. */
export const HEADERS_TIMEOUT_MS = 10_000;
/** Time for a whole request, body included: as long as a webhook call may take at all. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** Bytes of a request's headers: real ones need less than 2 KiB. */
export const MAX_HEADER_BYTES = 16 * 1024;

/** A port of RFC 3986, or none, behind a name or an address. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;
const CONTINUE = /^100-continue$/i;
const CHUNKED = /^chunked$/i;
const CHUNKED_LAST = /,[ \t]*chunked$/i;
const SPEAKS = "this server speaks HTTP/1.1";

const notTaken = (status: number, text: string): RequestProblem => ({
  kind: "problem",
  status,
  text,
  form: "json",
  closes: true,
});

/** The problem for which a request with readable headers is refused. */
export function headerProblem({ headers, rawHeaders, httpVersion }: IncomingMessage): RequestProblem | undefined {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return notTaken(505, SPEAKS);
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && !CHUNKED.test(coding)) {
    return CHUNKED_LAST.test(coding)
      ? notTaken(501, "Transfer-Encoding: this server takes chunked, and no other coding")
      : notTaken(400, "Transfer-Encoding: the last coding must be chunked");
  }
  // A proxy that knows no codings may have cut the messages elsewhere.
  if (coding !== undefined && httpVersion !== "1.1") return notTaken(400, "HTTP/1.0 has no Transfer-Encoding");
  const { host } = headers;
  if (host === undefined) return httpVersion === "1.1" ? notTaken(400, "the request has no Host header") : undefined;
  if (!HOST.test(host)) return notTaken(400, "the Host header is not a name or an address with or without a port");
  if (isRepeated(rawHeaders)) return notTaken(400, "the request has more than one Host header");
  const { expect } = headers;
  if (expect !== undefined && httpVersion === "1.1" && !CONTINUE.test(expect))
    return notTaken(417, "Expect: this server knows 100-continue only");
  return undefined;
}

/** Whether more than one of the headers, which have a name and a value each, is the host. */
function isRepeated(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts > 1;
}

/** The answer to a message that could not be read; `undefined`: the connection itself has failed. */
export function readingProblem({
  code,
  reason,
}: NodeJS.ErrnoException & { reason?: string }): RequestProblem | undefined {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return notTaken(431, `the headers of a request have ${MAX_HEADER_BYTES} bytes at most`);
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return notTaken(413, "the extensions of the body's chunks are too long");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return notTaken(
        408,
        `the headers of a request have ${HEADERS_TIMEOUT_MS / 1000} s, and all of it ${REQUEST_TIMEOUT_MS / 1000} s`,
      );
    case "HPE_PAUSED_H2_UPGRADE":
      return notTaken(505, SPEAKS);
    default:
      if (code?.startsWith("HPE_") !== true) return undefined;
      return notTaken(400, `the request is not HTTP/1.1: ${reason ?? "it cannot be read"}`);
  }
}
