/** Where policies may send HTTP requests to, from the options of the command line. */
import type { EgressOptions } from "../loader/index.js";

/** The options `http-blocklist`, `http-allowlist` and `allow-http-in-namespaced-policies`. */
export function egressOptions(values: Readonly<Record<string, unknown>>): EgressOptions {
  const { httpBlocklist, httpAllowlist, allowHttpInNamespacedPolicies } = values;
  return {
    forNamespaced: allowHttpInNamespacedPolicies === true,
    ...(typeof httpBlocklist === "string" && { blocklist: httpBlocklist.split(",") }),
    ...(typeof httpAllowlist === "string" && { allowlist: httpAllowlist.split(",") }),
  };
}
