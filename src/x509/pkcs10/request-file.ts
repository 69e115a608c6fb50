/** Files with a certification request, in PEM or in DER. */
import { firstPemBlock } from "../pem.js";
import { MalformedRequest } from "./certification-request.js";
import { ElementReader, IDENTIFIER, onlyElement, Source } from "./element.js";

/** The labels that tools use; older ones say NEW. */
const LABELS: ReadonlySet<string> = new Set(["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"]);
const BEGIN = "-----BEGIN ";
/** The second octet of DER sequences of 128 octets and more; no text begins so. */
const LONG_SEQUENCE = [0x81, 0x82, 0x83];
/** Characters in a line of PEM. */
const LINE = /.{1,64}/g;

/** Whether a file with this beginning is PEM or DER, whatever its contents. */
export function isPemOrDer(head: Buffer): boolean {
  if (head.subarray(0, BEGIN.length).toString("latin1") === BEGIN) return true;
  return head[0] === IDENTIFIER.sequence && LONG_SEQUENCE.includes(head[1] ?? 0);
}

/**
 * The text of a file in PEM, or its DER content as such a text. The request itself is not checked here: that is left to the decision.
 * @returns why the file has no request
 */
export function requestPem(content: Buffer): Buffer | MalformedRequest {
  const block = firstPemBlock(content);
  if (block !== undefined) {
    // cert-manager ignores the label; here it distinguishes a broken request from a file of something else.
    if (LABELS.has(block.label) || isRequestDer(block.content)) return content;
    const label = /^[A-Z0-9 ]{1,40}$/.test(block.label) ? block.label : "something else";
    return new MalformedRequest(`its first block of PEM is not a CERTIFICATE REQUEST, but ${label}`);
  }
  if (content.includes(BEGIN)) return new MalformedRequest("it has no block of PEM that is whole");
  if (isRequestDer(content)) return Buffer.from(pemOf(content));
  return new MalformedRequest("it is neither PEM nor DER of a certification request");
}

/** Whether DER is a request: its signed part comes first, and in it a version, unlike in certificates and keys. */
function isRequestDer(content: Buffer): boolean {
  const request = onlyElement(new ElementReader(new Source(content)), IDENTIFIER.sequence);
  const info = request instanceof MalformedRequest ? request : request.inside().expect(IDENTIFIER.sequence);
  return !(info instanceof MalformedRequest) && info.inside().peek(IDENTIFIER.integer);
}

function pemOf(der: Buffer): string {
  const lines = der.toString("base64").match(LINE) ?? [];
  return ["-----BEGIN CERTIFICATE REQUEST-----", ...lines, "-----END CERTIFICATE REQUEST-----", ""].join("\n");
}
