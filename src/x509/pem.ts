/** PEM as Go's encoding/pem reads it. */

/** The contents between the lines BEGIN and END. */
export interface PemBlock {
  /** The label of the line BEGIN, such as `CERTIFICATE REQUEST`: a string of octets. */
  readonly label: string;
  readonly content: Buffer;
}

const BEGIN = "-----BEGIN ";
const END = "\n-----END ";
const DASHES = "-----";
/** Base64 with required padding, and nothing behind it; surplus bits of the last octet may be set. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * The first block of a text; `undefined` for none. A block is searched by its line END, and begins at the last line BEGIN in front of that; text around it
 * is ignored, and invalid blocks are skipped. In time linear in the text's length.
 */
export function firstPemBlock(pem: Buffer): PemBlock | undefined {
  // One character for an octet.
  const text = pem.toString("latin1");
  for (let from = 0; ; ) {
    const end = text.indexOf(END, from);
    if (end === -1) return undefined;
    const trailer = end + END.length;
    const block = blockBefore(text, from, end);
    if (block === "no more") return undefined;
    if (block !== undefined) return block;
    from = trailer;
  }
}

/** The block before the line END that follows the newline at `end`. */
function blockBefore(text: string, from: number, end: number): PemBlock | "no more" | undefined {
  const begin = text.slice(from, end).lastIndexOf(BEGIN);
  if (begin === -1 || (begin > 0 && text[from + begin - 1] !== "\n")) return undefined;
  const labelStart = from + begin + BEGIN.length;
  // There is a newline: the one in front of the line END.
  const labelEnd = text.indexOf("\n", labelStart);
  const line = lineOf(text, labelStart, labelEnd);
  if (!line.endsWith(DASHES)) return undefined;
  const label = line.slice(0, -DASHES.length);
  const trailer = end + END.length;
  const start = afterHeaders(text, labelEnd + 1);
  // Headers that continue to the end of the text, or beyond the line END's dashes, leave no content.
  if (start >= text.length || start > trailer) return "no more";
  if (start > labelEnd + 1 && start > end) return undefined;
  const last = label + DASHES;
  if (!text.startsWith(last, trailer)) return undefined;
  const rest = trailer + last.length;
  if (lineOf(text, rest, text.indexOf("\n", rest)) !== "") return undefined;
  const body = text.slice(start, end).replace(/[ \t\r\n]+/g, "");
  return body.length % 4 === 0 && BASE64.test(body) ? { label, content: Buffer.from(body, "base64") } : undefined;
}

/** A line without the blanks at its end; a carriage return belongs to the newline at `end`, which is -1 for the last line. */
function lineOf(text: string, start: number, end: number): string {
  let last = end === -1 ? text.length : end;
  if (end !== -1 && last > start && text[last - 1] === "\r") last--;
  while (last > start && (text[last - 1] === " " || text[last - 1] === "\t")) last--;
  return text.slice(start, last);
}

/** The end of the lines with a colon. */
function afterHeaders(text: string, start: number): number {
  let at = start;
  for (;;) {
    const newline = text.indexOf("\n", at);
    const lineEnd = newline === -1 ? text.length : newline;
    if (!text.slice(at, lineEnd).includes(":")) return at;
    at = newline === -1 ? text.length : newline + 1;
  }
}
