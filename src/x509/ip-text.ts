/** IP addresses in certificates. */
import { addressText } from "../data/go/ip.js";

const IPV4_OCTETS = 4;
const IPV6_OCTETS = 16;
/** The prefix of an IPv4 address that is written as one of IPv6. */
const MAPPED = Buffer.from("00000000000000000000ffff", "hex");

/** An address as Go's net.IP prints it: one of IPv4 dotted, in either encoding, others by RFC 5952. `undefined` when it does not have 4 or 16 octets. */
export function ipText(octets: Buffer): string | undefined {
  if (octets.length !== IPV4_OCTETS && octets.length !== IPV6_OCTETS) return undefined;
  return addressText(octets.subarray(0, MAPPED.length).equals(MAPPED) ? octets.subarray(MAPPED.length) : octets);
}
