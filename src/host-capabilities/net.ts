/** `net/v1/dns_lookup_host`, spec kubewarden.md 7.2. */
import type { Capability } from "./host.js";
import { textOf } from "./payload.js";

/** Resolves a host name to its addresses. Rejects when it has none. */
export type LookupHost = (host: string) => Promise<readonly string[]>;

/** The capability. Answers are not cached: the resolver does that. */
export function netCapability(lookup: LookupHost): Capability {
  return {
    namespace: "net",
    operations: {
      "v1/dns_lookup_host": {
        run: async (payload) => ({ ips: await lookup(textOf(payload, "the host")) }),
      },
    },
  };
}
