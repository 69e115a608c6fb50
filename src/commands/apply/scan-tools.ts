/** What a scan needs of its surroundings, made from the command line: the same in every thread. */
import type { PolicyLoader } from "../../loader/index.js";
import type { ScanTools } from "../../scan/open-scan.js";
import { DEFAULT_BLOCKLIST, EgressRules } from "../../world/http/egress-rules.js";
import { GuardedClient } from "../../world/http/guarded-client.js";
import { NetworkHttp } from "../../world/http/network-http.js";
import type { CommandIo } from "../io.js";
import { createLoader } from "../load.js";

/** Surroundings, to be closed. */
export interface OpenTools extends ScanTools {
  close(): Promise<void>;
}

/** @param values of the options of loading */
export function scanTools(values: Readonly<Record<string, unknown>>, env: CommandIo["env"]): OpenTools {
  let opened: { readonly policyTimeout: number; readonly loader: PolicyLoader } | undefined;
  const client = new GuardedClient(new EgressRules({ blocklist: DEFAULT_BLOCKLIST, allowlist: [] }));
  const policyTimeout = Number(values.policyTimeout ?? 2) * 1000;
  return {
    loader: () => {
      opened ??= createLoader(values, env);
      return opened.loader;
    },
    policyTimeout: values.disableTimeoutProtection === true ? Number.POSITIVE_INFINITY : policyTimeout,
    http: new NetworkHttp(client, false),
    now: () => performance.now(),
    async close() {
      opened?.loader.close();
      await client.close();
    },
  };
}
