/** Base64 by the rules of Go's standard encoding: line ends anywhere, padding required, surplus bits ignored. */

const LINE_ENDS = /[\r\n]/g;
const WELL_FORMED = /^[A-Za-z0-9+/]*={0,2}$/;
const PADDING = "=";
/** Characters that make three octets. */
const GROUP = 4;

/** The text as Go prints it again, or the error of an invalid one. */
export function normalBase64(text: string): { readonly text: string } | { readonly error: string } {
  const written = text.replace(LINE_ENDS, "");
  if (WELL_FORMED.test(written) && written.length % GROUP === 0) {
    return { text: Buffer.from(written, "base64").toString("base64") };
  }
  return { error: `illegal base64 data at input byte ${firstWrong(Buffer.from(text))}` };
}

/** The octet at which Go stops. */
function firstWrong(octets: Buffer): number {
  let inGroup = 0;
  for (let at = 0; at < octets.length; at++) {
    const character = String.fromCharCode(octets[at] ?? 0);
    if (/[\r\n]/.test(character)) continue;
    if (character === PADDING) return afterPadding(octets, at, inGroup);
    if (!/[A-Za-z0-9+/]/.test(character)) return at;
    inGroup = (inGroup + 1) % GROUP;
  }
  return octets.length - inGroup;
}

function afterPadding(octets: Buffer, at: number, inGroup: number): number {
  if (inGroup < 2) return at;
  let next = skipLineEnds(octets, at + 1);
  if (inGroup === 2) {
    if (next === octets.length) return next;
    if (String.fromCharCode(octets[next] ?? 0) !== PADDING) return next - 1;
    next = skipLineEnds(octets, next + 1);
  }
  return next;
}

function skipLineEnds(octets: Buffer, from: number): number {
  let at = from;
  while (at < octets.length && (octets[at] === 0x0a || octets[at] === 0x0d)) at++;
  return at;
}
