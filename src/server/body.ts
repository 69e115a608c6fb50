/** Reads a request's body up to a limit, and checks that it is acceptable (spec kubewarden.md 3.5). */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import {
  bodyTooLarge,
  encodedBody,
  type RequestProblem,
  tooManyUnfinishedBodies,
  unsupportedMediaType,
} from "../admission/request-problem.js";
import { GatheredBytes } from "../data/gathered-bytes.js";
import type { BodyMemory, CountedBody } from "./body-memory.js";

/** Whether a content type announces JSON: `application/json` or `application/*+json`, in any case, with any parameters. */
export function isJsonContentType(contentType: string | undefined): boolean {
  // The two spellings that the API server and command lines send need no pattern.
  if (contentType === "application/json") return true;
  return contentType !== undefined && /^\s*application\/(?:[\w!#$&^.+-]+\+)?json\s*(?:;|$)/i.test(contentType);
}

/** The content encoding of a body; undefined for one that is sent as it is. */
export function foreignEncoding(encoding: string | undefined): string | undefined {
  return encoding === undefined || /^\s*(?:identity)?\s*$/i.test(encoding) ? undefined : encoding;
}

/** Whether a body announces that it is longer than the limit. */
export function announcesTooMuch(request: IncomingMessage, limit: number): boolean {
  return Number(request.headers["content-length"]) > limit;
}

/** The options of reading bodies. */
export interface BodyReading {
  readonly memory: BodyMemory;
  /** Called with a connection on which a body comes in many small pieces. */
  readonly crumbles: (socket: Socket) => void;
}

/**
 * Number of pieces of a body after which their size is checked, and the mean size from which on they do not count as small: API servers send pieces of 4 KiB
 * and more.
 */
const CRUMBS = 64;
const CRUMB_BYTES = 512;

/**
 * Reads the whole body and passes it on, or the problem with which the request is answered. When the client closes the connection before the end, no callback
 * is called.
 * @param limit most bytes of a body
 * @param reading absent where few bodies are read at a time
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  done: (body: Buffer | RequestProblem) => void,
  { memory, crumbles }: Partial<BodyReading> = {},
): void {
  if (announcesTooMuch(request, limit)) {
    done(bodyTooLarge);
    return;
  }
  const bytes = new GatheredBytes();
  let pieces = 0;
  let counted: CountedBody | undefined;
  let finished = false;
  const finish = (body: Buffer | RequestProblem): void => {
    finished = true;
    counted?.leave();
    bytes.clear();
    done(body);
  };
  /** Whether there is room for the bytes so far; a body in one piece does not keep others waiting. */
  const hasRoom = (piece: Buffer): boolean => {
    if (counted === undefined) {
      if (memory === undefined || String(piece.length) === request.headers["content-length"]) return true;
      counted = memory.begin();
      request.once("close", counted.leave);
    }
    return counted.grow(piece.length);
  };
  request.on("data", (piece: Buffer) => {
    if (finished) return;
    bytes.add(piece);
    pieces += 1;
    if (bytes.size > limit) finish(bodyTooLarge);
    else if (!hasRoom(piece)) finish(tooManyUnfinishedBodies);
    else if (pieces === CRUMBS && bytes.size < CRUMBS * CRUMB_BYTES) crumbles?.(request.socket);
  });
  request.on("end", () => {
    if (!finished) finish(bytes.take());
  });
}

/** The same for a body that must be JSON and sent as it is. */
export function receiveJson(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
  done: (body: Buffer | RequestProblem) => void,
  reading?: BodyReading,
): void {
  const encoding = foreignEncoding(request.headers["content-encoding"]);
  if (!isJsonContentType(request.headers["content-type"])) {
    done(unsupportedMediaType);
  } else if (encoding !== undefined) {
    // The accepted encoding, as RFC 9110 defines it for 415.
    response.setHeader("Accept-Encoding", "identity");
    done(encodedBody(encoding));
  } else {
    readBody(request, limit, done, reading);
  }
}
