/** UTF-8. */

const STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of octets; `undefined` when they are not UTF-8. */
export function decodeUtf8(octets: Uint8Array): string | undefined {
  try {
    return STRICT.decode(octets);
  } catch {
    return undefined;
  }
}

const ENCODER = new TextEncoder();

/** The octets of a text. */
export const encodeUtf8 = (text: string): Uint8Array => ENCODER.encode(text);

/** Length above which the built-in function finds out sooner that each character is one octet. */
const SHORT = 12;

/** The number of octets of a text. */
export function utf8Length(text: string): number {
  let count = text.length;
  // If it differs, lone halves of surrogate pairs have to be counted in another way.
  if (count > SHORT && Buffer.byteLength(text) === count) return count;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // Each half of a surrogate pair takes two of the pair's four octets.
    if (unit >= 0x80) count += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return count;
}
