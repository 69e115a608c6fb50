/** Certificates and requests for them as data (spec kyverno.md 4.6). */
import { CelError, DYN, type FunctionDeclaration, type Result, STRING, type Value } from "../../../cel/index.js";
import { withDoubles } from "../../../data/doubles.js";
import { CertificateProblem } from "../../../x509/problem.js";
import { functions, growing } from "./declare.js";
import { certificateFields, requestFields } from "./x509-fields.js";

/** Characters of a text that is read: a certificate has some two thousand. */
export const LONGEST_PEM = 2 ** 16;

const BEGIN = "-----BEGIN ";
const DASHES = "-----";
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

interface Block {
  readonly type: string;
  readonly content: Buffer;
}

/** Lines with a colon in front of a block's content; what may begin another block is none, so that no line is read for two blocks. */
const HEADERS = /(?:(?![^\n]*-----BEGIN )[^\n:]*:[^\n]*\n)*/y;

/** The first block that is one. */
function firstBlock(text: string): Block | undefined {
  for (let at = text.indexOf(BEGIN); at !== -1; at = text.indexOf(BEGIN, at + 1)) {
    const lineStart = at === 0 || text[at - 1] === "\n";
    const lineEnd = text.indexOf("\n", at);
    if (!lineStart || lineEnd === -1) continue;
    const line = text.slice(at + BEGIN.length, lineEnd).trimEnd();
    if (!line.endsWith(DASHES)) continue;
    const type = line.slice(0, -DASHES.length);
    HEADERS.lastIndex = lineEnd + 1;
    HEADERS.exec(text);
    const start = HEADERS.lastIndex;
    // Content has no dash.
    const end = text.indexOf("-", start);
    if (end === -1 || !endsAt(text, end, type)) continue;
    const body = text.slice(start, end).replace(/[ \t\r\n]/g, "");
    if (BASE64.test(body) && body.length % 4 === 0) return { type, content: Buffer.from(body, "base64") };
  }
  return undefined;
}

/** Whether that is the last line of a block. */
function endsAt(text: string, at: number, type: string): boolean {
  const last = `-----END ${type}-----`;
  if (text[at - 1] !== "\n" || !text.startsWith(last, at)) return false;
  const lineEnd = text.indexOf("\n", at);
  return text.slice(at + last.length, lineEnd === -1 ? undefined : lineEnd).trim() === "";
}

function decode(text: string): Result {
  if (text.length > LONGEST_PEM) return new CelError("too large to be read as PEM", "too-large");
  const block = firstBlock(text);
  if (block === undefined) return new CelError("failed to decode PEM block", "conversion");
  const { type, content } = block;
  if (type !== "CERTIFICATE" && type !== "CERTIFICATE REQUEST") {
    return new CelError("PEM block neither contains a CERTIFICATE or CERTIFICATE REQUEST", "conversion");
  }
  const isCertificate = type === "CERTIFICATE";
  try {
    const fields = isCertificate ? certificateFields(content) : requestFields(content);
    if (fields === undefined) return new CelError("certificate should use rsa algorithm", "conversion");
    return withDoubles(fields) as Value;
  } catch (error) {
    if (!(error instanceof CertificateProblem) && !(error instanceof RangeError) && !(error instanceof TypeError))
      throw error;
    return new CelError(`x509: malformed certificate${isCertificate ? "" : " request"}`, "conversion");
  }
}

/** `x509.decode`. */
export const X509_FUNCTIONS: readonly FunctionDeclaration[] = functions(
  ["x509.decode"],
  "x509_decode_string",
  [STRING],
  DYN,
  decode,
  { ...growing(100), fixed: 100_000 },
);
