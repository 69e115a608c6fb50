/** Parses URLs as Go's net/url does (spec kubernetes-cel.md 4.7). Texts are strings of octets (see url-escape.ts). */
import { AddressError, parseAddress } from "./ip.js";
import { fromOctets, quotedOctets, UrlError, unescapeText } from "./url-escape.js";

/** The parts of a URL. Path, user, password and fragment are unescaped; `rawPath` and `rawFragment` are as written. */
export interface UrlParts {
  readonly scheme: string;
  /** The part behind the scheme of a URL such as `mailto:x`; `""` for others. */
  readonly opaque: string;
  readonly user: { readonly name: string; readonly password: string | undefined } | undefined;
  readonly host: string;
  readonly path: string;
  readonly rawPath: string;
  readonly rawQuery: string;
  /** Whether it has a question mark with nothing behind it. */
  readonly forceQuery: boolean;
  /** Whether it has a scheme and a path without `//`. */
  readonly omitHost: boolean;
  readonly fragment: string;
  readonly rawFragment: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
const CONTROL = /[\0-\x1f\x7f]/;

/**
 * Parses a URL without its fragment.
 *
 * @param viaRequest only absolute URIs and absolute paths, and a fragment is part of the path or query
 */
export function parseUrl(text: string, viaRequest: boolean): UrlParts | UrlError {
  if (CONTROL.test(text)) return new UrlError("net/url: invalid control character in URL");
  if (text === "" && viaRequest) return new UrlError("empty url");
  if (text === "*") return urlParts("", "", NO_AUTHORITY, "*", "", "", false, false);
  const split = splitScheme(text);
  if (split instanceof UrlError) return split;
  const scheme = split.scheme.toLowerCase();
  const question = split.rest.indexOf("?");
  const forceQuery = question !== -1 && question === split.rest.length - 1;
  let rest = question === -1 ? split.rest : split.rest.slice(0, question);
  const rawQuery = question === -1 ? "" : split.rest.slice(question + 1);
  if (!rest.startsWith("/")) {
    if (scheme !== "") return urlParts(scheme, rest, NO_AUTHORITY, "", "", rawQuery, forceQuery, false);
    if (viaRequest) return new UrlError("invalid URI for request");
    if (/^[^/]*:/.test(rest)) return new UrlError("first path segment in URL cannot contain colon");
  }
  let authority = NO_AUTHORITY;
  let omitHost = false;
  if (rest.startsWith("//") && (scheme !== "" || (!viaRequest && !rest.startsWith("///")))) {
    const slash = rest.indexOf("/", 2);
    const parsed = parseAuthority(scheme, slash === -1 ? rest.slice(2) : rest.slice(2, slash));
    if (parsed instanceof UrlError) return parsed;
    authority = parsed;
    rest = slash === -1 ? "" : rest.slice(slash);
  } else omitHost = scheme !== "" && rest.startsWith("/");
  const path = unescapeText(rest, "path");
  if (path instanceof UrlError) return path;
  return urlParts(scheme, "", authority, path, rest, rawQuery, forceQuery, omitHost);
}

/** Parts without a fragment. */
function urlParts(
  scheme: string,
  opaque: string,
  { user, host }: Authority,
  path: string,
  rawPath: string,
  rawQuery: string,
  forceQuery: boolean,
  omitHost: boolean,
): UrlParts {
  return { scheme, opaque, user, host, path, rawPath, rawQuery, forceQuery, omitHost, fragment: "", rawFragment: "" };
}

function splitScheme(text: string): { scheme: string; rest: string } | UrlError {
  if (text.startsWith(":")) return new UrlError("missing protocol scheme");
  const match = /^([A-Za-z][-+.0-9A-Za-z]*):/.exec(text);
  if (match === null) return { scheme: "", rest: text };
  return { scheme: match[1] as string, rest: text.slice(match[0].length) };
}

type Authority = Pick<UrlParts, "user" | "host">;

const NO_AUTHORITY: Authority = { user: undefined, host: "" };

function parseAuthority(scheme: string, text: string): Authority | UrlError {
  const at = text.lastIndexOf("@");
  const host = parseHost(scheme, text.slice(at + 1));
  if (host instanceof UrlError) return host;
  if (at === -1) return { user: undefined, host };
  const userinfo = text.slice(0, at);
  if (!/^[-A-Za-z0-9._:~!$&'()*+,;=%@]*$/.test(userinfo)) return new UrlError("net/url: invalid userinfo");
  const colon = userinfo.indexOf(":");
  const name = unescapeText(colon === -1 ? userinfo : userinfo.slice(0, colon), "user");
  if (name instanceof UrlError) return name;
  const password = colon === -1 ? undefined : unescapeText(userinfo.slice(colon + 1), "user");
  return password instanceof UrlError ? password : { user: { name, password }, host };
}

/** A port with its colon, or nothing. */
export const isOptionalPort = (text: string): boolean => /^(?::[0-9]*)?$/.test(text);

function parseHost(scheme: string, text: string): string | UrlError {
  const bracket = text.lastIndexOf("[");
  if (bracket > 0) return new UrlError("invalid IP-literal");
  if (bracket === 0) return parseIpLiteral(text);
  let colon = text.indexOf(":");
  if (colon !== -1) {
    // Of several colons the last one starts the port, but not in the URLs of the web.
    if (scheme !== "http" && scheme !== "https") colon = text.lastIndexOf(":");
    const port = text.slice(colon);
    if (!isOptionalPort(port)) return badPort(port);
  }
  return unescapeText(text, "host");
}

const badPort = (port: string): UrlError => new UrlError(`invalid port ${quotedOctets(port)} after host`);

function parseIpLiteral(text: string): string | UrlError {
  const closing = text.lastIndexOf("]");
  if (closing === -1) return new UrlError("missing ']' in host");
  const port = text.slice(closing + 1);
  if (!isOptionalPort(port)) return badPort(port);
  const literal = text.slice(1, closing);
  const zoneStart = literal.indexOf("%25");
  const address = unescapeText(zoneStart === -1 ? literal : literal.slice(0, zoneStart), "host");
  if (address instanceof UrlError) return address;
  const zone = zoneStart === -1 ? "" : unescapeText(literal.slice(zoneStart), "zone");
  if (zone instanceof UrlError) return zone;
  const parsed = parseAddress(fromOctets(address + zone));
  if (parsed instanceof AddressError) return new UrlError(`invalid host: ${parsed.message}`);
  if (parsed.octets.length === 4) return new UrlError("invalid IP-literal");
  return `[${address}${zone}]${port}`;
}
