/** The files of the page: read once, when first asked for, and kept as browsers take them. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** A file as it is sent. */
export interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly identity: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

/** Where the build puts the page: beside the folder of the server. */
export const PAGE_FOLDER = new URL("../../page/", import.meta.url);

/** Largest file that is sent: the page has 200 KiB at most, a mistaken folder may hold anything. */
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
export class Assets {
  readonly #folder: URL;
  readonly #kept = new Map<string, Asset>();

  constructor(folder: URL) {
    this.#folder = folder;
  }

  /** A file; undefined when it is not there, which is looked for again. */
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

/** What a content is told apart by. */
export const etagOf = (content: Buffer | string): string =>
  `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;

/** The encoding that a client takes, of those there are. */
export function encodingFor(accepted: string | undefined): "br" | "gzip" | "identity" {
  const offers = (accepted ?? "")
    .toLowerCase()
    .split(",")
    .map((each) => each.trim());
  const takes = (name: string): boolean =>
    offers.some((offer) => (offer === name || offer.startsWith(`${name};`)) && !/;\s*q=0(?:\.0*)?$/.test(offer));
  return takes("br") ? "br" : takes("gzip") ? "gzip" : "identity";
}
