/** Writing DER, as much of it as certificates need: the other half of `der.ts`. */
import { TAG } from "./der.js";

/** From this length on the length has bytes of its own. */
const SHORT_LENGTHS = 0x80;
/** Of the numbers of an object identifier: seven bits in an octet, this one says that more follow. */
const MORE = 0x80;
/** From this year on times have four digits for it (RFC 5280, 4.1.2.5). */
const FIRST_GENERALIZED_YEAR = 2050;

/** An element with its tag and length around parts that are complete already. */
export function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const value = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(value.length)]), value]);
}

/** A sequence of elements. */
export const sequence = (...parts: readonly Buffer[]): Buffer => element(TAG.sequence, ...parts);

/** An integer of these octets, the first of which has to say the sign: two's complement in the fewest octets. */
export const integer = (octets: Uint8Array): Buffer => element(TAG.integer, octets);

/** An object identifier, of which the first two numbers share one. */
export function identifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split(".").map(Number);
  return element(TAG.oid, Buffer.from([first * 40 + second, ...others].flatMap(sevenBits)));
}

/** Bits. @param unused how many of the last octet do not count, which must be zero */
export const bitString = (octets: Uint8Array, unused: number = 0): Buffer =>
  element(TAG.bitString, Buffer.from([unused]), octets);

/** A text. */
export const utf8String = (text: string): Buffer => element(TAG.utf8String, Buffer.from(text));

/** True; false is left out. */
export const yes = (): Buffer => element(TAG.boolean, Buffer.from([0xff]));

/** A time of whole seconds. @param time milliseconds since 1970 */
export function time(time: number): Buffer {
  const date = new Date(time);
  const digits = `${date.toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`;
  return date.getUTCFullYear() < FIRST_GENERALIZED_YEAR
    ? element(TAG.utcTime, Buffer.from(digits.slice(2)))
    : element(TAG.generalizedTime, Buffer.from(digits));
}

function lengthOf(length: number): readonly number[] {
  if (length < SHORT_LENGTHS) return [length];
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return [SHORT_LENGTHS + octets.length, ...octets];
}

function sevenBits(number: number): readonly number[] {
  const octets = [number % MORE];
  for (let rest = Math.floor(number / MORE); rest > 0; rest = Math.floor(rest / MORE)) {
    octets.unshift((rest % MORE) + MORE);
  }
  return octets;
}
