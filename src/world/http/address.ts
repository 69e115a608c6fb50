/** Addresses and ranges of addresses, as bytes: different spellings must not matter. */
import { isIP } from "node:net";

/** The 4 or 16 bytes of an address; an IPv4 address mapped to IPv6 (`::ffff:1.2.3.4`) has 4. `undefined` for any other text. */
export function addressBytes(text: string): Uint8Array | undefined {
  switch (isIP(text)) {
    case 4:
      return Uint8Array.from(text.split("."), Number);
    case 6:
      return unmapped(bytesOfVersion6(text.replace(/%.*$/, "")));
    default:
      return undefined;
  }
}

function bytesOfVersion6(text: string): Uint8Array {
  const bytes = new Uint8Array(16);
  const [head = "", tail] = text.split("::");
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  bytes.set(before);
  bytes.set(after, 16 - after.length);
  return bytes;
}

function groups(text: string): readonly number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (group.includes(".")) return group.split(".").map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
}

const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255];

const unmapped = (bytes: Uint8Array): Uint8Array => (startsWith(bytes, MAPPED) ? bytes.slice(12) : bytes);
const startsWith = (bytes: Uint8Array, start: readonly number[]): boolean =>
  start.every((byte, i) => bytes[i] === byte);

const ZEROS = new Array(8).fill(0);
/** Beginnings of IPv6 addresses that end with an IPv4 one: compatible (`::1.2.3.4`), SIIT's (`::ffff:0:1.2.3.4`, RFC 2765), and NAT64's (`64:ff9b::1.2.3.4`). */
const BEFORE_VERSION4 = [
  [...ZEROS, 0, 0, 0, 0],
  [...ZEROS, 255, 255, 0, 0],
  [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0],
];
/** 6to4 (`2002:102:304::`). */
const SIX_TO_FOUR = [0x20, 0x02];
/** The prefix of NAT64 inside of a network (`64:ff9b:1::/48`, RFC 8215). */
const LOCAL_NAT64 = [0, 0x64, 0xff, 0x9b, 0, 1];
/** The possible places of its IPv4 address: by RFC 6052 the network chooses the length of its prefix. */
const LOCAL_PLACES = [
  [6, 7, 9, 10],
  [7, 9, 10, 11],
  [9, 10, 11, 12],
  [12, 13, 14, 15],
];

/** The IPv4 addresses that an IPv6 one may lead to. */
function embedded(bytes: Uint8Array): readonly Uint8Array[] {
  if (bytes.length !== 16) return [];
  if (BEFORE_VERSION4.some((start) => startsWith(bytes, start))) return [bytes.slice(12)];
  if (startsWith(bytes, SIX_TO_FOUR)) return [bytes.slice(2, 6)];
  if (!startsWith(bytes, LOCAL_NAT64)) return [];
  const inner = LOCAL_PLACES.map((place) => Uint8Array.from(place, (index) => bytes[index] ?? 0));
  // Where an address stands in one place, there are zeros in others.
  const found = inner.filter((address) => !isZero(address));
  return found.length > 0 ? found : inner.slice(-1);
}

/** The shortest text of an address. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  const words = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16),
  );
  // The URL parser writes IPv6 addresses as RFC 5952 wants them.
  return new URL(`http://[${words.join(":")}]`).hostname.slice(1, -1);
}

/** The loopback address: a connection to the unspecified address leads to the machine itself. */
const LOOPBACK = Uint8Array.of(127, 0, 0, 1);

/** The addresses that a connection to an address may lead to. */
function targets(address: Uint8Array): readonly Uint8Array[] {
  const all = [address, ...embedded(address)];
  return all.some(isZero) ? [...all, LOOPBACK] : all;
}

const isZero = (address: Uint8Array): boolean => address.every((byte) => byte === 0);

/** Addresses with the same beginning. */
export class AddressRange {
  readonly #bytes: Uint8Array;
  readonly #bits: number;

  private constructor(bytes: Uint8Array, bits: number) {
    this.#bytes = bytes;
    this.#bits = bits;
  }

  /** `10.0.0.0/8`, `::1/128`; `undefined` for any other text. */
  static parse(text: string): AddressRange | undefined {
    const [address = "", prefix = "", ...rest] = text.split("/");
    const bytes = isIP(address) === 0 ? undefined : addressBytes(address);
    if (bytes === undefined || rest.length > 0 || !/^\d{1,3}$/.test(prefix)) return undefined;
    const mapped = isIP(address) === 6 && bytes.length === 4 ? 96 : 0;
    const bits = Number(prefix) - mapped;
    if (bits < 0 || bits > bytes.length * 8) return undefined;
    return new AddressRange(
      bytes.map((byte, i) => byte & maskByte(bits, i)),
      bits,
    );
  }

  /** Whether the address, or another one that it leads to, is one of these. */
  has(address: Uint8Array): boolean {
    return targets(address).some((target) => this.#contains(target));
  }

  #contains(address: Uint8Array): boolean {
    return (
      address.length === this.#bytes.length &&
      address.every((byte, i) => (byte & maskByte(this.#bits, i)) === this.#bytes[i])
    );
  }

  toString(): string {
    return `${addressText(this.#bytes)}/${this.#bits}`;
  }
}

/** The part of a byte that belongs to the first bits of an address. */
const maskByte = (bits: number, index: number): number =>
  (0xff << (8 - Math.min(8, Math.max(0, bits - index * 8)))) & 0xff;
