/** Writes answers: one write each, with its length. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { encodeProblem } from "../admission/encode.js";
import type { RequestProblem } from "../admission/request-problem.js";
import { escapedLines } from "../data/printable.js";
import type { RequestOrigin } from "../policy/served/verdict.js";

const JSON_TYPE = "application/json";
const TEXT_TYPE = "text/plain; charset=utf-8";
/** Bytes that a client may still send of a refused body while it reads the answer, before the connection is cut. */
const LINGER_BYTES = 16 * 1024 * 1024;
/** Most time for that. */
const LINGER_MS = 2000;
/** Seconds after which a refused client should try again. */
const RETRY_AFTER = "1";

/** Sends a JSON text. */
export function sendJson(response: ServerResponse, status: number, text: string): void {
  send(response, status, JSON_TYPE, text);
}

/** Sends a request error: JSON on `/validate`, elsewhere plain text for some of them (spec kubewarden.md 3.5). */
export function sendProblem(
  request: IncomingMessage,
  response: ServerResponse,
  problem: RequestProblem,
  origin?: RequestOrigin,
): void {
  if (response.headersSent) return;
  const { status } = problem;
  if (status === 429 || status === 503) response.setHeader("Retry-After", RETRY_AFTER);
  const plain = problem.form === "text" || (problem.form === "by-route" && origin !== "validate");
  const text = plain ? escapedLines(problem.text) : encodeProblem(problem);
  const type = plain ? TEXT_TYPE : JSON_TYPE;
  if (problem.closes) sendBeforeBodyEnds(request, response, status, type, text);
  else send(response, status, type, text);
}

/** Answers bytes that could not be read as a request, and ends the connection: nothing after them can be read. */
export function writeLast(socket: Socket, problem: RequestProblem): void {
  if (!socket.writable) return;
  const text = encodeProblem(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    `Content-Type: ${JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
  // A client that is still writing when the connection is reset would never see the answer.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
}

/** Sends a status without a body. */
export function sendEmpty(response: ServerResponse, status: number): void {
  response.writeHead(status, { "Content-Length": 0 });
  response.end();
}

/** Sends a plain text, which is read on terminals. */
export const sendText = (response: ServerResponse, status: number, text: string): void =>
  send(response, status, TEXT_TYPE, escapedLines(text));

/**
 * Sends headers and text to the socket as one string in one write. `end(text)` would hold both back and then write a list of two, the second of them
 * empty: that takes a tenth of a small request's processor time.
 */
function send(response: ServerResponse, status: number, type: string, text: string): void {
  const length = Buffer.byteLength(text);
  response.writeHead(status, ["Content-Type", type, "Content-Length", String(length)]);
  // A text with as many octets as characters is ASCII, which is Latin-1, too: that is copied rather than encoded.
  response.write(text, length === text.length ? "latin1" : "utf8");
  // The socket waits for more until it is told that there is none. A response behind another one on its connection has no socket yet.
  response.socket?.uncork();
  response.end();
}

/**
 * Answers at once and closes the connection, but continues reading for a while: a client that is still writing when the connection is reset
 * would never see the answer.
 */
function sendBeforeBodyEnds(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
): void {
  response.writeHead(status, {
    "Content-Type": type,
    "Content-Length": Buffer.byteLength(text),
    Connection: "close",
  });
  response.write(text);
  if (request.complete) {
    response.end();
    return;
  }
  let left = LINGER_BYTES;
  const finish = (): void => {
    clearTimeout(timer);
    request.off("data", discard);
    response.end();
  };
  const discard = (chunk: Buffer): void => {
    left -= chunk.length;
    if (left < 0) finish();
  };
  const timer = setTimeout(finish, LINGER_MS);
  request.on("data", discard);
  request.once("end", finish);
  request.once("close", finish);
  request.resume();
}
