/** CIDR blocks (spec kubernetes-cel.md 4.8). */
import type { Library } from "../declarations.js";
import { added, fn, method, overload } from "../declare.js";
import { BOOL, INT, opaqueType, STRING } from "../types.js";
import { IP_TYPE } from "./ip.js";

const CIDR_TYPE = opaqueType("net.CIDR");

/** `cidr`, `isCIDR`, containment and the parts of a block. */
export const cidrLibrary: Library = {
  name: "cidr",
  typeNames: new Map([["net.CIDR", CIDR_TYPE]]),
  functions: added(
    130,
    fn("cidr", overload("string_to_cidr", [STRING], CIDR_TYPE)),
    fn(
      "containsIP",
      method("cidr_contains_ip_string", [CIDR_TYPE, STRING], BOOL),
      method("cidr_contains_ip_ip", [CIDR_TYPE, IP_TYPE], BOOL),
    ),
    fn(
      "containsCIDR",
      method("cidr_contains_cidr_string", [CIDR_TYPE, STRING], BOOL),
      method("cidr_contains_cidr", [CIDR_TYPE, CIDR_TYPE], BOOL),
    ),
    fn("ip", method("cidr_ip", [CIDR_TYPE], IP_TYPE)),
    fn("masked", method("cidr_masked", [CIDR_TYPE], CIDR_TYPE)),
    fn("prefixLength", method("cidr_prefix_length", [CIDR_TYPE], INT)),
    fn("isCIDR", overload("is_cidr", [STRING], BOOL)),
    fn("string", overload("cidr_to_string", [CIDR_TYPE], STRING)),
  ),
};
