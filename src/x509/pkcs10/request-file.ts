/** Files that hold a certification request, in PEM or in DER. */
import { firstPemBlock } from "../pem.js";
import { MalformedRequest } from "./certification-request.js";
import { ElementReader, IDENTIFIER, onlyElement, Source } from "./element.js";

/** What tools call such a block; older ones say NEW. */
const LABELS: ReadonlySet<string> = new Set(["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"]);
const BEGIN = "-----BEGIN ";
/** The first octets of a DER sequence of 128 octets and more; no text begins so. */
const LONG_SEQUENCE = [0x81, 0x82, 0x83];
/** Characters in a line of PEM. */
const LINE = /.{1,64}/g;

/** Whether a file that begins so is PEM or DER, of whatever it may be. */
export function isPemOrDer(head: Buffer): boolean {
  if (head.subarray(0, BEGIN.length).toString("latin1") === BEGIN) return true;
  return head[0] === IDENTIFIER.sequence && LONG_SEQUENCE.includes(head[1] ?? 0);
}

/**
 * The text of a file in PEM, or what it holds in DER as such a text. Whether the request in it is in order, nobody asks here: that is for who decides it.
 * @returns why the file holds no request
 */
export function requestPem(content: Buffer): Buffer | MalformedRequest {
  const block = firstPemBlock(content);
  if (block !== undefined) {
    // cert-manager looks at no label; here it tells a broken request from a file of something else.
    if (LABELS.has(block.label) || isRequestDer(block.content)) return content;
    const label = /^[A-Z0-9 ]{1,40}$/.test(block.label) ? block.label : "something else";
    return new MalformedRequest(`its first block of PEM is no CERTIFICATE REQUEST, but ${label}`);
  }
  if (content.includes(BEGIN)) return new MalformedRequest("it has no block of PEM that is whole");
  if (isRequestDer(content)) return Buffer.from(pemOf(content));
  return new MalformedRequest("it is neither PEM nor DER of a certification request");
}

/** What is signed comes first, and in it a version: in certificates and keys other things stand there. */
function isRequestDer(content: Buffer): boolean {
  const request = onlyElement(new ElementReader(new Source(content)), IDENTIFIER.sequence);
  const info = request instanceof MalformedRequest ? request : request.inside().expect(IDENTIFIER.sequence);
  return !(info instanceof MalformedRequest) && info.inside().peek(IDENTIFIER.integer);
}

function pemOf(der: Buffer): string {
  const lines = der.toString("base64").match(LINE) ?? [];
  return ["-----BEGIN CERTIFICATE REQUEST-----", ...lines, "-----END CERTIFICATE REQUEST-----", ""].join("\n");
}
