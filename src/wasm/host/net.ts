/** `net/v1/dns_lookup_host`, spec kubewarden.md 7.2. */
import { errorText } from "../../data/error-text.js";
import { limiter } from "../../data/limiter.js";
import { PublicError } from "../../data/public-text.js";
import type { Capability } from "./host.js";
import { textOf } from "./payload.js";

/** Resolves a host name to its addresses. Rejects when it has none. */
export type LookupHost = (host: string) => Promise<readonly string[]>;

/**
 * Look-ups under way at a time. The system's resolver occupies one of the runtime's four threads for each, which also read files and find the
 * addresses of registries and of the cluster; requests choose names whose servers never answer.
 */
const MAX_LOOKUPS = 2;

/** The capability. Answers are not cached: the resolver does that. */
export function netCapability(lookup: LookupHost): Capability {
  const inTurn = limiter(MAX_LOOKUPS);
  return {
    namespace: "net",
    operations: {
      "v1/dns_lookup_host": {
        async run(payload, { signal }) {
          const host = textOf(payload, "the host");
          const ips = await inTurn(async () => {
            // The caller may have gone while it waited for its turn.
            signal.throwIfAborted();
            return lookup(host).catch((error: unknown) => {
              // The name in the message is the guest's own.
              throw new PublicError(errorText(error));
            });
          });
          return { ips };
        },
      },
    },
  };
}
