/** What a scan needs of its surroundings, made from the command line: the same in every thread. */
import type { PolicyLoader } from "../../loader/index.js";
import type { ScanTools } from "../../scan/open-scan.js";
import { openNetwork } from "../egress-options.js";
import type { CommandIo } from "../io.js";
import { createLoader } from "../load.js";

/** Surroundings, to be closed. */
export interface OpenTools extends ScanTools {
  close(): Promise<void>;
}

/** @param values of the options of loading */
export function scanTools(values: Readonly<Record<string, unknown>>, env: CommandIo["env"]): OpenTools {
  const network = openNetwork(values);
  let opened: { readonly policyTimeout: number; readonly loader: PolicyLoader } | undefined;
  const policyTimeout = Number(values.policyTimeout ?? 2) * 1000;
  return {
    loader: () => {
      opened ??= createLoader(values, env);
      return opened.loader;
    },
    policyTimeout: values.disableTimeoutProtection === true ? Number.POSITIVE_INFINITY : policyTimeout,
    http: network.http,
    now: () => performance.now(),
    async close() {
      opened?.loader.close();
      await network.close();
    },
  };
}
