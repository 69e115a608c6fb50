/**
 * Checks the origin of requests for the page. A browser sends requests on behalf of any site, also to servers of its own machine: drafts are accepted from the
 * page itself only, and where drafts are accepted, the server must be addressed by its own name (against DNS rebinding).
 */
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";

/** Addresses that stand for all addresses of the machine. */
const ANY = new Set(["0.0.0.0", "::"]);

/**
 * Why the host name of a request is not one of the server's; undefined: it is.
 * @param address the address that it listens on
 */
export function hostProblem(host: string | undefined, address: string): string | undefined {
  const name = hostName(host);
  if (name === "localhost" || name.endsWith(".localhost") || isLoopback(name)) return undefined;
  if (isIP(name) !== 0 && (name === address || ANY.has(address))) return undefined;
  return "this page is asked by the name localhost or the server's own address: the request names another host";
}

/** Why a request does not come from the page; undefined: it does, or not from a browser. */
export function originProblem(headers: IncomingHttpHeaders, isTls: boolean): string | undefined {
  const { origin, host } = headers;
  const site = headers["sec-fetch-site"];
  const isOther =
    (site !== undefined && site !== "same-origin" && site !== "none") ||
    (origin !== undefined && origin.toLowerCase() !== `${isTls ? "https" : "http"}://${host}`.toLowerCase());
  return isOther ? "the request comes from a page of another site" : undefined;
}

/** Whether an address is a loopback address. */
export const isLoopback = (address: string): boolean =>
  (isIP(address) === 4 && address.startsWith("127.")) || address === "::1" || address === "::ffff:127.0.0.1";

/** The host without the port, and without the brackets of an IPv6 address. */
function hostName(host = ""): string {
  const [, bracketed] = /^\[([^\]]*)\](?::\d*)?$/.exec(host) ?? [];
  return (bracketed ?? host.replace(/:\d*$/, "")).toLowerCase();
}
