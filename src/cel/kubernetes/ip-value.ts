/** IP addresses and CIDR blocks as values (spec kubernetes-cel.md 4.8). */

import { AddressError, addressText, type Prefix, parseAddress, parsePrefix } from "../../data/go/ip.js";
import { quoted } from "../../data/go/quoted-text.js";
import { CelError, noSuchOverload } from "../values/cel-error.js";
import { BUCKET } from "../values/map-key.js";
import { OpaqueValue, type Value } from "../values/value.js";

const sameOctets = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((octet, i) => octet === b[i]);

/** Whether an IPv6 address stands for an IPv4 one: `::ffff:1.2.3.4`. */
const isMapped = (octets: Uint8Array): boolean =>
  octets.length === 16 && octets.every((octet, i) => i >= 12 || octet === (i < 10 ? 0 : 0xff));

/** An IP address. */
export class IpValue extends OpaqueValue {
  readonly typeName = "net.IP";

  constructor(readonly octets: Uint8Array) {
    super();
  }

  /** `ip(text)`: zones and mapped IPv4 addresses are refused. */
  static parse(text: string): IpValue | CelError {
    if (text.length > MAX_ADDRESS_LENGTH) return tooLong("IP Address", text);
    const address = parseAddress(text);
    if (address instanceof AddressError) {
      return new CelError(`IP Address ${quoted(text)} parse error during conversion from string: ${address.message}`);
    }
    if (address.zone !== "") return new CelError(`IP address ${quoted(text)} with zone value is not allowed`);
    if (isMapped(address.octets)) return new CelError(`IPv4-mapped IPv6 address ${quoted(text)} is not allowed`);
    return new IpValue(address.octets);
  }

  /** 4 or 6. */
  get family(): 4 | 6 {
    return this.octets.length === 4 ? 4 : 6;
  }

  equals(other: Value): boolean | CelError {
    return other instanceof IpValue ? sameOctets(this.octets, other.octets) : noSuchOverload();
  }

  override get identity(): string {
    return this.toString();
  }

  /** Equal addresses have the same key. */
  override get [BUCKET](): string {
    return `\u0000${this.typeName} ${this.toString()}`;
  }

  toString(): string {
    return addressText(this.octets);
  }

  override get costSize(): number {
    return this.octets.length;
  }
}

const PARSE_ERROR = "network address parse error during conversion from string: ";

/** Length of the longest text that is parsed: longer ones have a zone, and zones are refused. */
const MAX_ADDRESS_LENGTH = 1_024;
const SHOWN_LENGTH = 100;

const tooLong = (name: string, text: string): CelError =>
  new CelError(`${name} ${quoted(text.slice(0, SHOWN_LENGTH))} parse error during conversion from string: too long`);

/** A CIDR block: an address, host bits and all, and the number of its leading bits. */
export class CidrValue extends OpaqueValue {
  readonly typeName = "net.CIDR";

  readonly #prefix: Prefix;

  private constructor(prefix: Prefix) {
    super();
    this.#prefix = prefix;
  }

  /** `cidr(text)`. */
  static parse(text: string): CidrValue | CelError {
    if (text.length > MAX_ADDRESS_LENGTH) return tooLong("CIDR", text);
    const prefix = parsePrefix(text);
    if (prefix instanceof AddressError) return new CelError(PARSE_ERROR + PARSE_ERROR + prefix.message);
    if (isMapped(prefix.octets)) {
      return new CelError(`${PARSE_ERROR}IPv4-mapped IPv6 address ${quoted(text)} is not allowed`);
    }
    return new CidrValue(prefix);
  }

  /** The number of leading bits. */
  get bits(): number {
    return this.#prefix.bits;
  }

  /** The address as written. */
  get ip(): IpValue {
    return new IpValue(this.#prefix.octets);
  }

  /** The block with the host bits cleared. */
  masked(): CidrValue {
    const { octets, bits } = this.#prefix;
    return new CidrValue({ octets: octets.map((octet, i) => octet & maskOctet(bits - 8 * i)), bits });
  }

  /** Whether all host bits are clear. */
  get isMask(): boolean {
    const { octets, bits } = this.#prefix;
    return octets.every((octet, i) => (octet & maskOctet(bits - 8 * i)) === octet);
  }

  /** Whether an address is in the block; families must match. */
  containsIp({ octets }: IpValue): boolean {
    return this.#sharesBits(octets, this.bits);
  }

  /** Whether all of another block is in this one. */
  containsCidr(other: CidrValue): boolean {
    return this.bits <= other.bits && this.#sharesBits(other.#prefix.octets, this.bits);
  }

  #sharesBits(octets: Uint8Array, bits: number): boolean {
    const own = this.#prefix.octets;
    if (own.length !== octets.length) return false;
    return own.every((octet, i) => ((octet ^ (octets[i] ?? 0)) & maskOctet(bits - 8 * i)) === 0);
  }

  equals(other: Value): boolean | CelError {
    if (!(other instanceof CidrValue)) return noSuchOverload();
    return this.bits === other.bits && sameOctets(this.#prefix.octets, other.#prefix.octets);
  }

  override get identity(): string {
    return this.toString();
  }

  /** Equal blocks have the same key. */
  override get [BUCKET](): string {
    return `\u0000${this.typeName} ${this.toString()}`;
  }

  toString(): string {
    return `${addressText(this.#prefix.octets)}/${this.bits}`;
  }

  override get costSize(): number {
    return Math.ceil(this.bits / 8);
  }
}

/** The mask of an octet of which the first `bits` count: none below 1, all from 8 on. */
const maskOctet = (bits: number): number => (bits <= 0 ? 0 : bits >= 8 ? 0xff : (0xff << (8 - bits)) & 0xff);
