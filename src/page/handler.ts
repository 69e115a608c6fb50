/** Answers the page's routes. */

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { extname } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { receiveJson } from "../server/body.js";
import { hostProblem, originProblem } from "./guard.js";
import type { PageOptions } from "./options.js";
import { CHECK_PATH, EVALUATE_PATH, PAGE_FILES, STATE_PATH } from "./paths.js";
import { PageError, type Playground } from "./playground.js";
import { readCheck, readEvaluate } from "./questions.js";
import { PageStates } from "./state.js";

// The files of the page: read once, when first needed, and kept in the encodings of browsers.

/** A file in all its encodings. */
interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly identity: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

/** The folder of the built page: beside the folder of the server. */
const PAGE_FOLDER = new URL("../../page/", import.meta.url);

/** Largest file that is sent: the page has 200 KiB at most, a mistaken folder may contain anything. */
const MAX_FILE_BYTES = 2 * 1024 * 1024;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

const compressed = {
  // The best takes ten times as long for 5 % less.
  br: (bytes: Buffer): Promise<Buffer> =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes: Buffer): Promise<Buffer> => promisify(gzip)(bytes, { level: 9 }),
};

/** Files of a folder, by name. */
class Assets {
  readonly #folder: URL;
  readonly #kept = new Map<string, Asset>();

  constructor(folder: URL) {
    this.#folder = folder;
  }

  /** A file; undefined when it does not exist, which is checked again each time. */
  async get(name: string): Promise<Asset | undefined> {
    const kept = this.#kept.get(name) ?? (await this.#read(name));
    if (kept !== undefined) this.#kept.set(name, kept);
    return kept;
  }

  async #read(name: string): Promise<Asset | undefined> {
    const identity = await readFile(new URL(name, this.#folder)).catch(() => undefined);
    if (identity === undefined || identity.length > MAX_FILE_BYTES) return undefined;
    const [br, zipped] = await Promise.all([compressed.br(identity), compressed.gzip(identity)]);
    const type = TYPES[extname(name)] ?? "application/octet-stream";
    return { type, etag: etagOf(identity), identity, br, gzip: zipped };
  }
}

/** The tag of a content. */
const etagOf = (content: Buffer | string): string =>
  `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;

/** The best encoding that a client accepts. */
function encodingFor(accepted: string | undefined): "br" | "gzip" | "identity" {
  const offers = (accepted ?? "")
    .toLowerCase()
    .split(",")
    .map((each) => each.trim());
  const takes = (name: string): boolean =>
    offers.some((offer) => (offer === name || offer.startsWith(`${name};`)) && !/;\s*q=0(?:\.0*)?$/.test(offer));
  return takes("br") ? "br" : takes("gzip") ? "gzip" : "identity";
}

/** Most bytes of a question: a draft of 64 KiB and a payload, both escaped as JSON. */
export const MAX_QUESTION_BYTES = 1024 * 1024;
/** Most questions under way at a time: one user asks one after the other. */
export const MAX_QUESTIONS = 4;

/** Headers that allow only the page's own contents, from this server, and no frames. */
const SECURITY: Readonly<Record<string, string>> = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
};

const TOO_LARGE = `a question has at most ${MAX_QUESTION_BYTES} bytes, draft and payload together`;
const READ_ONLY = "this page is for reading: drafts are taken with --page play, or by policy-server play";

/**
 * The app with the page's routes.
 * @param folder the folder of the page's files
 */
export function pageHandler(options: PageOptions, folder: URL = PAGE_FOLDER): RequestListener {
  const page = new Page(options, new Assets(folder));
  return (request, response) => {
    for (const [name, value] of Object.entries(SECURITY)) response.setHeader(name, value);
    page.answer(request, response).catch((error: unknown) => refuse(response, error));
  };
}

class Page {
  readonly #options: PageOptions;
  readonly #assets: Assets;
  readonly #states: PageStates;
  #questions = 0;

  constructor(options: PageOptions, assets: Assets) {
    this.#options = options;
    this.#assets = assets;
    this.#states = new PageStates(options.playground);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { playground, address } = this.#options;
    const path = (request.url ?? "").replace(/[?#].*$/s, "").replace(/^https?:\/\/[^/]*(?=\/)/i, "");
    const problem = playground && hostProblem(request.headers.host, address);
    if (problem !== undefined) throw new PageError(403, problem);
    const file = PAGE_FILES.get(path);
    if (file !== undefined) return this.#file(request, response, file);
    if (path === STATE_PATH) return this.#state(request, response);
    if (playground === undefined) throw new PageError(403, READ_ONLY);
    const other = originProblem(request.headers, "encrypted" in request.socket);
    if (other !== undefined) throw new PageError(403, other);
    if (this.#questions >= MAX_QUESTIONS) {
      response.setHeader("Retry-After", "1");
      throw new PageError(429, `${MAX_QUESTIONS} questions are under way: ask again when one is answered`);
    }
    this.#questions += 1;
    try {
      const body = await bodyOf(request, response);
      if (response.destroyed) return;
      sendJson(request, response, await this.#ask(playground, path, body));
    } finally {
      this.#questions -= 1;
    }
  }

  async #ask(playground: Playground, path: string, body: Buffer): Promise<string> {
    const { generation } = this.#options.policies();
    const answer =
      path === CHECK_PATH
        ? await playground.check(readCheck(body), generation)
        : path === EVALUATE_PATH
          ? await playground.evaluate(readEvaluate(body), generation)
          : undefined;
    if (answer === undefined) throw new PageError(404, "nothing is served here");
    return JSON.stringify(answer);
  }

  async #file(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
    const asset = await this.#assets.get(name);
    if (asset === undefined) throw new PageError(404, "the page is not part of this installation");
    const { type, etag } = asset;
    response.setHeader("ETag", etag);
    response.setHeader("Cache-Control", "no-cache");
    response.setHeader("Vary", "Accept-Encoding");
    if (request.headers["if-none-match"] === etag) return end(request, response, 304, Buffer.alloc(0));
    const encoding = encodingFor(request.headers["accept-encoding"]);
    if (encoding !== "identity") response.setHeader("Content-Encoding", encoding);
    response.setHeader("Content-Type", type);
    end(request, response, 200, asset[encoding]);
  }

  async #state(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await this.#states.text(this.#options.policies());
    const etag = etagOf(text);
    response.setHeader("ETag", etag);
    if (request.headers["if-none-match"] === etag) {
      response.setHeader("Cache-Control", "no-cache");
      end(request, response, 304, Buffer.alloc(0));
    } else sendJson(request, response, text);
  }
}

/** The body of a request. Rejects with a {@link PageError} when it is not JSON or too long. */
function bodyOf(request: IncomingMessage, response: ServerResponse): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // A client that closes the connection before the end.
    response.once("close", () => reject(new PageError(400, "the request was not sent to its end")));
    receiveJson(request, response, MAX_QUESTION_BYTES, (body) => {
      if (Buffer.isBuffer(body)) return resolve(body);
      // The rest of the body is not read.
      if (body.status === 413) response.setHeader("Connection", "close");
      reject(new PageError(body.status, body.status === 413 ? TOO_LARGE : body.text));
    });
  });
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const known = error instanceof PageError;
  const text = JSON.stringify({ error: known ? error.message : "something went wrong: the server's log may say more" });
  response.setHeader("Cache-Control", "no-store");
  response.setHeader("Content-Type", "application/json");
  end(undefined, response, known ? error.status : 500, Buffer.from(text));
}

function sendJson(request: IncomingMessage, response: ServerResponse, text: string): void {
  response.setHeader("Cache-Control", "no-cache");
  response.setHeader("Content-Type", "application/json");
  end(request, response, 200, Buffer.from(text));
}

function end(request: IncomingMessage | undefined, response: ServerResponse, status: number, body: Buffer): void {
  if (response.destroyed) return;
  response.writeHead(status, status === 304 ? {} : { "Content-Length": body.length });
  response.end(request?.method === "HEAD" ? undefined : body);
}
