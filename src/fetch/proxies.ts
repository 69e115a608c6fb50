/** Proxies from the environment (spec kubewarden.md 1.7): upper case wins over lower case, as in the reference server. */
import { BlockList, isIP } from "node:net";
import { FetchError } from "./fetch-error.js";

/** Variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for a URL; undefined is a direct connection.
 * @throws FetchError when the environment's text is not a URL
 */
export function proxyFor(url: URL, environment: Environment): string | undefined {
  const proxy = url.protocol === "https:" ? variable(environment, "HTTPS_PROXY") : variable(environment, "HTTP_PROXY");
  if (proxy === undefined || isExcepted(url, variable(environment, "NO_PROXY") ?? "")) return undefined;
  const address = /^[a-z]+:\/\//i.test(proxy) ? proxy : `http://${proxy}`;
  if (URL.canParse(address)) return address;
  // Without its text, which may contain a password.
  throw new FetchError(`the environment's proxy for ${url.protocol.slice(0, -1)} is not a URL`);
}

function variable(environment: Environment, name: string): string | undefined {
  return environment[name] || environment[name.toLowerCase()] || undefined;
}

/** `NO_PROXY`: names (with all names below them), addresses, ranges such as 10.0.0.0/8, each with a port or not, or `*`. */
function isExcepted(url: URL, list: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return list
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== "" && matches(entry, host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  if (isIP(host) !== 0 && entry.includes("/")) return inRange(entry, host);
  const withPort = /^(.*?):(\d+)$/.exec(entry);
  const portFits = withPort === null || isIP(entry) !== 0 || withPort[2] === port;
  const name = withPort === null || isIP(entry) !== 0 ? entry : withPort[1]!;
  const bare = name.replace(/^\*?\./, "").replace(/^\[|\]$/g, "");
  return portFits && (host === bare || (isIP(host) === 0 && host.endsWith(`.${bare}`)));
}

function inRange(range: string, address: string): boolean {
  const [network = "", prefix = ""] = range.split("/");
  const family = isIP(network);
  if (family === 0 || family !== isIP(address) || !/^\d{1,3}$/.test(prefix)) return false;
  const bits = Number(prefix);
  if (bits > (family === 4 ? 32 : 128)) return false;
  const blocks = new BlockList();
  const type = family === 4 ? "ipv4" : "ipv6";
  blocks.addSubnet(network, bits, type);
  return blocks.check(address, type);
}
