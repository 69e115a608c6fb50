/** Reading and printing IP addresses and CIDR blocks, with Go's error texts (spec kubernetes-cel.md 4.8). */
import { quoted } from "./quoted-text.js";

/** An address: 4 or 16 octets, and its zone (`""` for none). */
export interface Address {
  readonly octets: Uint8Array;
  readonly zone: string;
}

/** The error of a text that is not an address or block, with its message. */
export class AddressError {
  constructor(readonly message: string) {}
}

function addressError(text: string, reason: string, at?: string): AddressError {
  const place = at === undefined || at === "" ? "" : ` (at ${quoted(at)})`;
  return new AddressError(`ParseAddr(${quoted(text)}): ${reason}${place}`);
}

/** Parses an address; the first `.`, `:` or `%` decides which kind it is. */
export function parseAddress(text: string): Address | AddressError {
  switch (/[.:%]/.exec(text)?.[0]) {
    case ".": {
      const octets = new Uint8Array(4);
      return parseOctets(text, text, octets, 0) ?? { octets, zone: "" };
    }
    case ":":
      return parseIpv6(text);
    case "%":
      return addressError(text, "missing IPv6 address");
    default:
      return addressError(text, "unable to parse IP");
  }
}

/** Four decimal octets, which `part` is, written into `octets` from `index` on. */
function parseOctets(text: string, part: string, octets: Uint8Array, index: number): AddressError | undefined {
  let value = 0;
  let field = 0;
  let digits = 0;
  for (let i = 0; i < part.length; i++) {
    const code = part.charCodeAt(i);
    if (code >= 0x30 && code <= 0x39) {
      if (digits === 1 && value === 0) return addressError(text, "IPv4 field has octet with leading zero");
      value = value * 10 + code - 0x30;
      digits++;
      if (value > 255) return addressError(text, "IPv4 field has value >255");
    } else if (part[i] === ".") {
      if (i === 0 || i === part.length - 1 || part[i - 1] === ".") {
        return addressError(text, "IPv4 field must have at least one digit", part.slice(i));
      }
      if (field === 3) return addressError(text, "IPv4 address too long");
      octets[index + field++] = value;
      value = 0;
      digits = 0;
    } else return addressError(text, "unexpected character", part.slice(i));
  }
  if (field < 3) return addressError(text, "IPv4 address too short");
  octets[index + 3] = value;
  return undefined;
}

/** The 4 or 16 octets of an address without a zone; `undefined` for any other text. */
export function addressOctets(text: string): Uint8Array | undefined {
  const address = parseAddress(text);
  return address instanceof AddressError || address.zone !== "" ? undefined : address.octets;
}

const FIELD = /^[0-9a-fA-F]*/;

function parseIpv6(text: string): Address | AddressError {
  const percent = text.indexOf("%");
  let rest = percent === -1 ? text : text.slice(0, percent);
  const zone = percent === -1 ? "" : text.slice(percent + 1);
  if (percent !== -1 && zone === "") return addressError(text, "zone must be a non-empty string");
  const octets = new Uint8Array(16);
  let ellipsis = -1;
  let used = 0;
  if (rest.startsWith("::")) {
    ellipsis = 0;
    rest = rest.slice(2);
    if (rest === "") return { octets, zone };
  }
  while (used < 16) {
    const field = FIELD.exec(rest)?.[0] ?? "";
    if (field.length > 4) return addressError(text, "each group must have 4 or less digits", rest);
    if (field === "") return addressError(text, "each colon-separated field must have at least one digit", rest);
    if (rest[field.length] === ".") {
      if (ellipsis < 0 && used !== 12) {
        return addressError(text, "embedded IPv4 address must replace the final 2 fields of the address", rest);
      }
      if (used + 4 > 16) {
        return addressError(text, "too many hex fields to fit an embedded IPv4 at the end of the address", rest);
      }
      const error = parseOctets(text, rest, octets, used);
      if (error !== undefined) return error;
      rest = "";
      used += 4;
      break;
    }
    const value = Number.parseInt(field, 16);
    octets[used] = value >> 8;
    octets[used + 1] = value & 0xff;
    used += 2;
    rest = rest.slice(field.length);
    if (rest === "") break;
    if (rest[0] !== ":") return addressError(text, "unexpected character, want colon", rest);
    if (rest.length === 1) return addressError(text, "colon must be followed by more characters", rest);
    rest = rest.slice(1);
    if (rest[0] === ":") {
      if (ellipsis >= 0) return addressError(text, "multiple :: in address", rest);
      ellipsis = used;
      rest = rest.slice(1);
      if (rest === "") break;
    }
  }
  if (rest !== "") return addressError(text, "trailing garbage after address", rest);
  if (used === 16) {
    if (ellipsis >= 0) return addressError(text, "the :: must expand to at least one field of zeros");
    return { octets, zone };
  }
  if (ellipsis < 0) return addressError(text, "address string too short");
  octets.copyWithin(ellipsis + 16 - used, ellipsis, used);
  octets.fill(0, ellipsis, ellipsis + 16 - used);
  return { octets, zone };
}

/** The canonical text of an address: dotted, or by RFC 5952. */
export function addressText(octets: Uint8Array): string {
  if (octets.length === 4) return octets.join(".");
  const groups: string[] = [];
  for (let i = 0; i < 16; i += 2) groups.push((((octets[i] ?? 0) << 8) | (octets[i + 1] ?? 0)).toString(16));
  const [start, length] = longestRunOfZeros(groups);
  if (length < 2) return groups.join(":");
  return `${groups.slice(0, start).join(":")}::${groups.slice(start + length).join(":")}`;
}

/** The beginning and the length of the first of the longest runs. */
function longestRunOfZeros(groups: readonly string[]): readonly [number, number] {
  let [best, length, run] = [0, 0, 0];
  for (let i = 0; i < groups.length; i++) {
    run = groups[i] === "0" ? run + 1 : 0;
    if (run > length) [best, length] = [i + 1 - run, run];
  }
  return [best, length];
}

/** An address with the number of its leading bits that make a block. */
export interface Prefix {
  readonly octets: Uint8Array;
  readonly bits: number;
}

/** Parses `address/bits`; the error is that of the wrong part. */
export function parsePrefix(text: string): Prefix | AddressError {
  const error = (reason: string): AddressError => new AddressError(`netip.ParsePrefix(${quoted(text)}): ${reason}`);
  const slash = text.lastIndexOf("/");
  if (slash === -1) return error("no '/'");
  const address = parseAddress(text.slice(0, slash));
  if (address instanceof AddressError) return error(address.message);
  if (address.zone !== "") return error("IPv6 zones cannot be present in a prefix");
  const bitsText = text.slice(slash + 1);
  // A single sign or an overlong number is not a number; a number of one digit may be zero.
  if (!/^(?:[0-9]|[1-9][0-9]*)$/.test(bitsText) || bitsText.length > 18) {
    return error(`bad bits after slash: ${quoted(bitsText)}`);
  }
  const bits = Number(bitsText);
  if (bits > address.octets.length * 8) return error("prefix length out of range");
  return { octets: address.octets, bits };
}
