/** Reading a request's body up to a limit, and what makes a body acceptable (spec kubewarden.md 3.5). */
import type { IncomingMessage, ServerResponse } from "node:http";
import { bodyTooLarge, encodedBody, type RequestProblem, unsupportedMediaType } from "../admission/request-problem.js";

/** Whether a content type announces JSON: `application/json` or `application/*+json`, in any case, with any parameters. */
export function isJsonContentType(contentType: string | undefined): boolean {
  // The two spellings that the API server and command lines send need no pattern.
  if (contentType === "application/json") return true;
  return contentType !== undefined && /^\s*application\/(?:[\w!#$&^.+-]+\+)?json\s*(?:;|$)/i.test(contentType);
}

/** The encoding of a body that is not sent as it is; undefined for one that is. */
export function foreignEncoding(encoding: string | undefined): string | undefined {
  return encoding === undefined || /^\s*(?:identity)?\s*$/i.test(encoding) ? undefined : encoding;
}

/** Whether a body announces that it is longer than the limit. */
export function announcesTooMuch(request: IncomingMessage, limit: number): boolean {
  return Number(request.headers["content-length"]) > limit;
}

/**
 * Reads the whole body and hands it over, or the problem that answers the request. When the client goes away before the end, nobody
 * is called.
 * @param limit most bytes of a body
 */
export function readBody(request: IncomingMessage, limit: number, done: (body: Buffer | RequestProblem) => void): void {
  if (announcesTooMuch(request, limit)) {
    done(bodyTooLarge);
    return;
  }
  let first: Buffer | undefined;
  let chunks: Buffer[] | undefined;
  let size = 0;
  let finished = false;
  request.on("data", (chunk: Buffer) => {
    if (finished) return;
    size += chunk.length;
    if (size > limit) {
      finished = true;
      first = undefined;
      chunks = undefined;
      done(bodyTooLarge);
    } else if (first === undefined) first = chunk;
    else if (chunks === undefined) chunks = [first, chunk];
    else chunks.push(chunk);
  });
  request.on("end", () => {
    if (finished) return;
    finished = true;
    done(chunks === undefined ? (first ?? EMPTY) : Buffer.concat(chunks, size));
  });
}

/** The same for a body that must be JSON and sent as it is. */
export function receiveJson(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
  done: (body: Buffer | RequestProblem) => void,
): void {
  const encoding = foreignEncoding(request.headers["content-encoding"]);
  if (!isJsonContentType(request.headers["content-type"])) {
    done(unsupportedMediaType);
  } else if (encoding !== undefined) {
    // What would be taken, as RFC 9110 has it for 415.
    response.setHeader("Accept-Encoding", "identity");
    done(encodedBody(encoding));
  } else {
    readBody(request, limit, done);
  }
}

const EMPTY = Buffer.alloc(0);
