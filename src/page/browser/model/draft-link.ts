/** The user's texts, as the browser keeps them and a link holds them. */
export interface Written {
  readonly draft: string;
  readonly payload: string;
  readonly operation: string;
  readonly raw: boolean;
}

/** Whether a value from outside has these texts. */
export function isWritten(value: unknown): value is Written {
  if (typeof value !== "object" || value === null) return false;
  const { draft, payload, operation, raw } = value as Record<keyof Written, unknown>;
  return [draft, payload, operation].every((text) => typeof text === "string") && typeof raw === "boolean";
}

/** Longest text of a link, in characters: browsers take more, but programs that pass links on often cut them. */
export const LONGEST_LINK = 32_768;
/** Longest texts that a link stands for: a question to the server has at most as many bytes. */
const LONGEST_TEXT = 1024 * 1024;
/** How the texts are written; another version does not read it. */
const VERSION = "1.";

async function bytesOf(stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(chunks).arrayBuffer());
    length += value.length;
    // A few bytes may stand for a thousand times as many.
    if (length > most) throw new RangeError("the texts are too long");
    chunks.push(new Uint8Array(value));
  }
}

/** The texts as a part of an address: JSON, compressed, in base64url. It may be longer than {@link LONGEST_LINK}. */
export async function linkOf(written: Written): Promise<string> {
  const json = new Blob([JSON.stringify(written)]).stream();
  const bytes = await bytesOf(json.pipeThrough(new CompressionStream("deflate")), Number.POSITIVE_INFINITY);
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return VERSION + text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The texts of a link; undefined: it is too long, was cut off or changed, or is of another version. */
export async function readLink(text: string): Promise<Written | undefined> {
  if (text.length > LONGEST_LINK || !text.startsWith(VERSION)) return undefined;
  try {
    const letters = atob(text.slice(VERSION.length).replaceAll("-", "+").replaceAll("_", "/"));
    const packed = new Blob([Uint8Array.from(letters, (letter) => letter.charCodeAt(0))]).stream();
    const bytes = await bytesOf(packed.pipeThrough(new DecompressionStream("deflate")), LONGEST_TEXT);
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isWritten(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
