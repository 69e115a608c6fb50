/** The address at which the server answers, as it is typed. */
import { isIPv6 } from "node:net";
import type { ServeSettings } from "./settings.js";

/** Addresses that stand for all of the machine's. */
const EVERYWHERE: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** `http://127.0.0.1:3000`; of a server that listens on every address, the name of the machine for itself. */
export function urlOf({ address, tls }: Pick<ServeSettings, "address" | "tls">, port: number): string {
  const host = EVERYWHERE.has(address) ? "localhost" : isIPv6(address) ? `[${address}]` : address;
  return `${tls === undefined ? "http" : "https"}://${host}:${port}`;
}

/** The line for the person who has started the server. */
export function servingLine(settings: Pick<ServeSettings, "address" | "tls" | "page">, port: number): string {
  const page = settings.page === "off" ? "" : " (in a browser: the page)";
  const elsewhere = EVERYWHERE.has(settings.address) ? ", and on all addresses of this machine" : "";
  return `Serving on ${urlOf(settings, port)}${page}${elsewhere}. Ctrl+C stops it.`;
}
