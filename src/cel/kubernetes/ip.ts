/** IP addresses (spec kubernetes-cel.md 4.8). */
import type { Library } from "../declarations.js";
import { added, fn, method, overload } from "../declare.js";
import { BOOL, INT, opaqueType, STRING } from "../types.js";

/** The type of IP addresses. */
export const IP_TYPE = opaqueType("net.IP");

/** `ip`, `isIP`, `ip.isCanonical`, the tests on an address and its text. */
export const ipLibrary: Library = {
  name: "ip",
  typeNames: new Map([["net.IP", IP_TYPE]]),
  functions: added(
    130,
    fn("ip", overload("string_to_ip", [STRING], IP_TYPE)),
    fn("family", method("ip_family", [IP_TYPE], INT)),
    fn("ip.isCanonical", overload("ip_is_canonical", [STRING], BOOL)),
    fn("isUnspecified", method("ip_is_unspecified", [IP_TYPE], BOOL)),
    fn("isLoopback", method("ip_is_loopback", [IP_TYPE], BOOL)),
    fn("isLinkLocalMulticast", method("ip_is_link_local_multicast", [IP_TYPE], BOOL)),
    fn("isLinkLocalUnicast", method("ip_is_link_local_unicast", [IP_TYPE], BOOL)),
    fn("isGlobalUnicast", method("ip_is_global_unicast", [IP_TYPE], BOOL)),
    fn("isIP", overload("is_ip", [STRING], BOOL)),
    fn("string", overload("ip_to_string", [IP_TYPE], STRING)),
  ),
};
