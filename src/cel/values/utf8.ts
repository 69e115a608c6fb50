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
