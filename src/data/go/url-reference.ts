/** Parses and prints URLs with their fragments as Go's net/url does (spec kubernetes-cel.md 4.7). Texts are strings of octets (see url-escape.ts). */
import { escapeText, fromOctets, isValidEscaped, UrlError, type UrlPart, unescapeText } from "./url-escape.js";
import { parseUrl, type UrlParts } from "./url-parse.js";

/** Parses a URL, or a relative reference: Go's `url.Parse`. */
export function parseUrlReference(octets: string): UrlParts | UrlError {
  const hash = octets.indexOf("#");
  const withoutFragment = hash === -1 ? octets : octets.slice(0, hash);
  const parts = parseUrl(withoutFragment, false);
  if (parts instanceof UrlError) return new UrlError(parts.message, withoutFragment);
  if (hash === -1) return parts;
  const rawFragment = octets.slice(hash + 1);
  const fragment = unescapeText(rawFragment, "fragment");
  return fragment instanceof UrlError ? fragment : { ...parts, fragment, rawFragment };
}

/** A URL as Go prints it, as text. */
export function urlText(parts: UrlParts): string {
  const { scheme, opaque, rawQuery, forceQuery, fragment, rawFragment } = parts;
  let text = scheme === "" ? "" : `${scheme}:`;
  text += opaque === "" ? hierarchy(parts, text) : opaque;
  if (forceQuery || rawQuery !== "") text += `?${rawQuery}`;
  if (fragment !== "") text += `#${escapedAs(rawFragment, fragment, "fragment")}`;
  return fromOctets(text);
}

/** Authority and path. */
function hierarchy(parts: UrlParts, before: string): string {
  const { scheme, user, host, path, omitHost } = parts;
  let text = "";
  if ((scheme !== "" || host !== "" || user !== undefined) && !(omitHost && host === "" && user === undefined)) {
    if (host !== "" || path !== "" || user !== undefined) text += "//";
    if (user !== undefined) {
      text += escapeText(user.name, "user");
      if (user.password !== undefined) text += `:${escapeText(user.password, "user")}`;
      text += "@";
    }
    text += escapeText(host, "host");
  }
  const escaped = escapedPath(parts);
  if (escaped !== "" && !escaped.startsWith("/") && host !== "") text += "/";
  if (before === "" && text === "" && /^[^/]*:/.test(escaped)) text += "./";
  return text + escaped;
}

/** A URL's path, as written where that is properly escaped. */
export const escapedPath = ({ path, rawPath }: UrlParts): string =>
  path === "*" ? "*" : escapedAs(rawPath, path, "path");

/** The escaped form of a text: as it was written, where that needs no more escapes. */
const escapedAs = (raw: string, text: string, part: UrlPart): string =>
  isValidEscaped(raw, part) && raw !== "" ? raw : escapeText(text, part);
