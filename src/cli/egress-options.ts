/** Where policies may send HTTP requests to, from the options of the command line. */
import { EgressListError, type EgressOptions, type OpenHttp, openHttp } from "../loader/index.js";
import { UsageError } from "./io.js";

/** The options `http-blocklist`, `http-allowlist` and `allow-http-in-namespaced-policies`. */
export function egressOptions(values: Readonly<Record<string, unknown>>): EgressOptions {
  const { httpBlocklist, httpAllowlist, allowHttpInNamespacedPolicies } = values;
  return {
    forNamespaced: allowHttpInNamespacedPolicies === true,
    ...(typeof httpBlocklist === "string" && { blocklist: httpBlocklist.split(",") }),
    ...(typeof httpAllowlist === "string" && { allowlist: httpAllowlist.split(",") }),
  };
}

/**
 * What is opened with lists of these options.
 * @throws UsageError for lists that can't be read
 */
export function withEgress<T>(values: Readonly<Record<string, unknown>>, open: (egress: EgressOptions) => T): T {
  try {
    return open(egressOptions(values));
  } catch (error) {
    throw error instanceof EgressListError ? new UsageError(error.message) : error;
  }
}

/**
 * HTTP servers for policies whose other data come from files.
 * @throws UsageError for lists that can't be read
 */
export const openNetwork = (values: Readonly<Record<string, unknown>>): OpenHttp => withEgress(values, openHttp);
