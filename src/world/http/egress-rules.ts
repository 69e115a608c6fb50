/** The servers that policies may send requests to: a list of what is blocked, and one of what is allowed (spec kyverno.md 4.5). */
import { isIP } from "node:net";
import { posix } from "node:path";
import { UsageError } from "../../data/command-io.js";
import { quote } from "../../data/go/quote.js";
import { AddressRange } from "./address.js";

/** The default block list: a cluster's own machine, and the metadata services of clouds, which give out credentials. */
export const DEFAULT_BLOCKLIST: readonly string[] = [
  "169.254.169.254/32",
  "169.254.169.253/32",
  "fd00:ec2::254/128",
  "metadata.google.internal",
  "127.0.0.0/8",
  "::1/128",
];

/** Blocked in addition to the list for questions to registries: no registry has a link-local address, and other services there are the machine's own. */
export const LINK_LOCAL: readonly string[] = ["169.254.0.0/16", "fe80::/10"];

/** Lists that are known to be valid. */
const KNOWN: ReadonlySet<string> = new Set([DEFAULT_BLOCKLIST, [...DEFAULT_BLOCKLIST, ...LINK_LOCAL]].map(String));

/** The lists as they are written. */
export interface EgressLists {
  /** Ranges of addresses (with a slash) and names of hosts. */
  readonly blocklist: readonly string[];
  /** Beginnings of addresses, with scheme and host; none: everything that is not blocked. */
  readonly allowlist: readonly string[];
}

/** The lists, read. */
export class EgressRules {
  readonly #lists: EgressLists;
  #read: ReadLists | undefined;

  /** @throws UsageError that names the entry which can't be read */
  constructor(lists: EgressLists) {
    this.#lists = lists;
    // Known lists are parsed at the first request: the pattern of addresses alone takes 8 ms to compile.
    if (!KNOWN.has(String(lists.blocklist)) || lists.allowlist.length > 0) this.#read = readLists(lists);
  }

  get #rules(): ReadLists {
    this.#read ??= readLists(this.#lists);
    return this.#read;
  }

  /**
   * Why no request is sent to an address whatever its host resolves to; `undefined` when it is not refused.
   * @param written the address for the text of the answer
   */
  refusal(url: URL, written: string): string | undefined {
    const { hosts, allowed } = this.#rules;
    if (allowed.length > 0 && !allowed.some((entry) => covers(entry, url))) {
      return `URL ${quote(written, false)} is not permitted: no matching allowlist entry`;
    }
    if (!hosts.has(hostKey(url.hostname))) return undefined;
    return `URL ${quote(written, false)} is blocked: hostname ${quote(hostAsWritten(written) ?? url.hostname, false)} is on the blocklist`;
  }

  /** The range for which connections to an address are blocked. */
  blockedRange(address: Uint8Array): string | undefined {
    return this.#rules.ranges.find((range) => range.has(address))?.toString();
  }
}

interface ReadLists {
  readonly ranges: readonly AddressRange[];
  readonly hosts: ReadonlySet<string>;
  readonly allowed: readonly URL[];
}

function readLists({ blocklist, allowlist }: EgressLists): ReadLists {
  const blocked = entriesOf(blocklist);
  const hosts = blocked.filter((entry) => !entry.includes("/")).map(hostOf);
  // An address in the list is blocked also where a name leads to it.
  const addresses = hosts.filter((host) => isIP(host) !== 0).map((host) => `${host}/${isIP(host) === 4 ? 32 : 128}`);
  return {
    ranges: [...blocked.filter((entry) => entry.includes("/")), ...addresses].map(rangeOf),
    hosts: new Set(hosts),
    allowed: entriesOf(allowlist).map(prefixOf),
  };
}

const entriesOf = (list: readonly string[]): readonly string[] =>
  list.map((entry) => entry.trim()).filter((entry) => entry !== "");

function rangeOf(entry: string): AddressRange {
  const range = AddressRange.parse(entry);
  if (range === undefined) throw new UsageError(`invalid CIDR ${JSON.stringify(entry)} in the HTTP blocklist`);
  return range;
}

/** The host of an entry as URLs spell it, so that a different spelling does not make it ineffective; throws for an entry that is not exactly a host. */
function hostOf(entry: string): string {
  const address = `http://${isIP(entry) === 6 ? `[${entry}]` : entry}`;
  const bare = entry.replace(/^\[.*\]$/, "");
  const host =
    /[:@?#*\\\s]/.test(isIP(entry) === 6 ? "" : bare) || !URL.canParse(address)
      ? ""
      : hostKey(new URL(address).hostname);
  if (host !== "") return host;
  throw new UsageError(
    `invalid host ${JSON.stringify(entry)} in the HTTP blocklist: only a name or an address, without a port`,
  );
}

function prefixOf(entry: string): URL {
  const url = URL.canParse(entry) ? new URL(entry) : undefined;
  if (url === undefined || !entry.includes("://") || url.hostname === "") {
    throw new UsageError(
      `the entry ${JSON.stringify(entry)} of the HTTP allowlist must include scheme and host (e.g. https://api.example.com)`,
    );
  }
  if (url.search !== "" || url.hash !== "" || cleanPath(url) === undefined) {
    throw new UsageError(
      `the entry ${JSON.stringify(entry)} of the HTTP allowlist must end with a path: queries are not looked at`,
    );
  }
  return url;
}

/** A host in one spelling: case has no meaning, nor have a dot at its end and the brackets around an address. */
const hostKey = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.+$/, "");

/** The host as written, for texts. */
const hostAsWritten = (url: string): string | undefined =>
  /^[a-z][a-z\d+.-]*:\/\/(?:[^/?#@]*@)?(\[[^\]]*\]|[^:/?#]*)/i.exec(url)?.[1]?.replace(/^\[|\]$/g, "");

/** Scheme, host and port are equal (the URL parser leaves out a scheme's own port), and the path begins with whole segments. */
function covers(entry: URL, url: URL): boolean {
  if (entry.protocol !== url.protocol || hostKey(entry.hostname) !== hostKey(url.hostname) || entry.port !== url.port) {
    return false;
  }
  const [wanted, path] = [cleanPath(entry), cleanPath(url)];
  if (wanted === "/") return true;
  return path !== undefined && wanted !== undefined && (path === wanted || path.startsWith(`${wanted}/`));
}

/** Parts that servers understand in different ways: backslashes as slashes, parameters behind dots, doubly encoded characters. */
const AMBIGUOUS = /\\|(?:^|\/)\.{1,2};|%(?:2e|2f|5c)/i;

/** The path as a server may understand it: decoded, then without dots and doubled slashes; `undefined` if it cannot be decoded, or is ambiguous. */
function cleanPath({ pathname }: URL): string | undefined {
  try {
    const path = decodeURIComponent(pathname);
    return AMBIGUOUS.test(path) ? undefined : posix.normalize(`/${path}`).replace(/(?<=.)\/$/, "");
  } catch {
    return undefined;
  }
}
