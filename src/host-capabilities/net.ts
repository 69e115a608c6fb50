/** `net/v1/dns_lookup_host`, spec kubewarden.md 7.2. */
import type { Capability } from "./host.js";
import { textOf } from "./payload.js";

/** Resolves a host name to its addresses. Rejects when it has none. */
export type LookupHost = (host: string) => Promise<readonly string[]>;

/**
 * Look-ups under way at a time. The system's resolver occupies one of the runtime's four threads for each, which also read files and find the
 * addresses of registries and of the cluster; requests choose names whose servers never answer.
 */
const LOOKUPS = 2;

/** The capability. Answers are not cached: the resolver does that. */
export function netCapability(lookup: LookupHost): Capability {
  let free = LOOKUPS;
  const waiting: (() => void)[] = [];
  const inTurn = async (host: string, signal: AbortSignal): Promise<readonly string[]> => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free--;
    try {
      // Nobody waits for it any more: the next in line may be more lucky.
      signal.throwIfAborted();
      return await lookup(host);
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
  return {
    namespace: "net",
    operations: {
      "v1/dns_lookup_host": {
        run: async (payload, { signal }) => ({ ips: await inTurn(textOf(payload, "the host"), signal) }),
      },
    },
  };
}
