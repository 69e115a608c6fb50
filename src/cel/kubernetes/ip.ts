/** IP addresses (spec kubernetes-cel.md 4.8). */
import type { Library } from "../declarations.js";
import { added, isParsed, methodFn, overloadFn } from "../declare.js";
import { BOOL, INT, opaqueType, STRING } from "../types.js";
import { CelError } from "../values/cel-error.js";
import type { Result } from "../values/value.js";
import { IpValue } from "./ip-value.js";

/** The type of IP addresses. */
export const IP_TYPE = opaqueType("net.IP");

type Octets = Uint8Array;

const first = (octets: Octets): number => octets[0] ?? 0;
const isIpv4 = (octets: Octets): boolean => octets.length === 4;

const isUnspecified = (octets: Octets): boolean => octets.every((octet) => octet === 0);

const isLoopback = (octets: Octets): boolean =>
  isIpv4(octets) ? first(octets) === 127 : octets.every((octet, i) => octet === (i === 15 ? 1 : 0));

const isMulticast = (octets: Octets): boolean =>
  isIpv4(octets) ? (first(octets) & 0xf0) === 0xe0 : first(octets) === 0xff;

const isLinkLocalMulticast = (octets: Octets): boolean =>
  isIpv4(octets)
    ? first(octets) === 224 && octets[1] === 0 && octets[2] === 0
    : first(octets) === 0xff && ((octets[1] ?? 0) & 0x0f) === 2;

const isLinkLocalUnicast = (octets: Octets): boolean =>
  isIpv4(octets)
    ? first(octets) === 169 && octets[1] === 254
    : first(octets) === 0xfe && ((octets[1] ?? 0) & 0xc0) === 0x80;

const isBroadcast = (octets: Octets): boolean => isIpv4(octets) && octets.every((octet) => octet === 255);

const NOT_GLOBAL = [isUnspecified, isLoopback, isMulticast, isLinkLocalUnicast, isBroadcast];

/** Whether an address is global unicast; private addresses count too. */
const isGlobalUnicast = (octets: Octets): boolean => !NOT_GLOBAL.some((test) => test(octets));

const testOf = (name: string, id: string, test: (octets: Octets) => boolean) =>
  methodFn(name, id, [IP_TYPE], BOOL, ({ octets }: IpValue) => test(octets));

function isCanonical(text: string): Result {
  const address = IpValue.parse(text);
  return address instanceof CelError ? address : address.toString() === text;
}

/** `ip`, `isIP`, `ip.isCanonical`, the tests on an address and its text. */
export const ipLibrary: Library = {
  name: "ip",
  typeNames: new Map([["net.IP", IP_TYPE]]),
  functions: added(
    "1.30",
    overloadFn("ip", "string_to_ip", [STRING], IP_TYPE, IpValue.parse),
    methodFn("family", "ip_family", [IP_TYPE], INT, ({ family }: IpValue) => family),
    overloadFn("ip.isCanonical", "ip_is_canonical", [STRING], BOOL, isCanonical),
    testOf("isUnspecified", "ip_is_unspecified", isUnspecified),
    testOf("isLoopback", "ip_is_loopback", isLoopback),
    testOf("isLinkLocalMulticast", "ip_is_link_local_multicast", isLinkLocalMulticast),
    testOf("isLinkLocalUnicast", "ip_is_link_local_unicast", isLinkLocalUnicast),
    testOf("isGlobalUnicast", "ip_is_global_unicast", isGlobalUnicast),
    overloadFn("isIP", "is_ip", [STRING], BOOL, isParsed(IpValue.parse)),
    overloadFn("string", "ip_to_string", [IP_TYPE], STRING, String),
  ),
};
