/** CIDR blocks (spec kubernetes-cel.md 4.8). */
import type { Library } from "../declarations.js";
import { added, fn, isParsed, method, methodFn, overloadFn } from "../declare.js";
import { BOOL, INT, opaqueType, STRING } from "../types.js";
import { CelError, noSuchOverload } from "../values/cel-error.js";
import type { Result } from "../values/value.js";
import { IP_TYPE } from "./ip.js";
import { CidrValue, IpValue } from "./ip-value.js";

const CIDR_TYPE = opaqueType("net.CIDR");

/** `containsIP(text)`; an invalid address is not an error of its own here. */
function containsIpText(block: CidrValue, text: string): Result {
  const address = IpValue.parse(text);
  return address instanceof CelError ? noSuchOverload() : block.containsIp(address);
}

function containsCidrText(block: CidrValue, text: string): Result {
  const other = CidrValue.parse(text);
  return other instanceof CelError ? other : block.containsCidr(other);
}

/** `cidr`, `isCIDR`, containment and the parts of a block. */
export const cidrLibrary: Library = {
  name: "cidr",
  typeNames: new Map([["net.CIDR", CIDR_TYPE]]),
  functions: [
    ...added(
      "1.30",
      overloadFn("cidr", "string_to_cidr", [STRING], CIDR_TYPE, CidrValue.parse),
      fn(
        "containsIP",
        method("cidr_contains_ip_string", [CIDR_TYPE, STRING], BOOL, containsIpText),
        method("cidr_contains_ip_ip", [CIDR_TYPE, IP_TYPE], BOOL, (block: CidrValue, address: IpValue) =>
          block.containsIp(address),
        ),
      ),
      fn(
        "containsCIDR",
        method("cidr_contains_cidr_string", [CIDR_TYPE, STRING], BOOL, containsCidrText),
        method("cidr_contains_cidr", [CIDR_TYPE, CIDR_TYPE], BOOL, (block: CidrValue, other: CidrValue) =>
          block.containsCidr(other),
        ),
      ),
      methodFn("ip", "cidr_ip", [CIDR_TYPE], IP_TYPE, ({ ip }: CidrValue) => ip),
      methodFn("masked", "cidr_masked", [CIDR_TYPE], CIDR_TYPE, (block: CidrValue) => block.masked()),
      methodFn("prefixLength", "cidr_prefix_length", [CIDR_TYPE], INT, ({ bits }: CidrValue) => bits),
      overloadFn("isCIDR", "is_cidr", [STRING], BOOL, isParsed(CidrValue.parse)),
      overloadFn("string", "cidr_to_string", [CIDR_TYPE], STRING, String),
    ),
    ...added(
      "1.38",
      methodFn("isMask", "cidr_is_mask", [CIDR_TYPE], BOOL, (block: CidrValue) => block.isMask),
    ),
  ],
};
