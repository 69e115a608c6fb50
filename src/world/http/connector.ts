/** Connections only to allowed addresses: a name is resolved first, and the checked address is the one that is connected to. */
import { type LookupAddress, lookup as systemLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { addressBytes, addressText } from "./address.js";
import type { EgressRules } from "./egress-rules.js";

/** Resolves a name: all of its addresses. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** Resolves by the system. */
export const systemResolve: Resolve = (hostname) =>
  new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true, verbatim: true }, (error, addresses) =>
      error === null ? resolve(addresses) : reject(error),
    );
  });

/** The error of a name that leads to a blocked address. */
export class BlockedAddress extends Error {
  override readonly name = "BlockedAddress";
  /** `resolved IP I falls in blocked range C`. */
  readonly reason: string;

  constructor(address: string, range: string) {
    const reason = `resolved IP ${address} falls in blocked range ${range}`;
    super(reason);
    this.reason = reason;
  }
}

/** Why a host that is written as an address is not connected to; `undefined` for names, and for addresses that are not blocked. */
export function literalRefusal(hostname: string, rules: EgressRules): string | undefined {
  const bytes = addressBytes(hostname.replace(/^\[|\]$/g, ""));
  const range = bytes && rules.blockedRange(bytes);
  return range === undefined || bytes === undefined
    ? undefined
    : `IP ${addressText(bytes)} falls in blocked range ${range}`;
}

/** Resolves names for connections: one blocked address among several blocks all of them. */
export const guardedLookup =
  (resolve: Resolve, rules: EgressRules): LookupFunction =>
  (hostname, options, callback) => {
    const fail = (error: Error): void => callback(error, []);
    resolve(hostname).then((addresses) => {
      for (const { address } of addresses) {
        const bytes = addressBytes(address);
        const range = bytes && rules.blockedRange(bytes);
        if (bytes === undefined) return fail(new Error(`${hostname} has no usable address`));
        if (range !== undefined) return fail(new BlockedAddress(addressText(bytes), range));
      }
      const [first] = addresses;
      if (first === undefined) return fail(new Error(`no usable addresses resolved for ${hostname}`));
      if (options.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    }, fail);
  };
