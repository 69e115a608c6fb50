/** URLs as values (spec kubernetes-cel.md 4.7). */

import { quoted } from "../../data/go/quoted-text.js";
import { fromOctets, toOctets, UrlError, unescapeText } from "../../data/go/url-escape.js";
import { isOptionalPort, parseUrl, type UrlParts } from "../../data/go/url-parse.js";
import { escapedPath, parseUrlReference, urlText } from "../../data/go/url-reference.js";
import { CelError, noSuchOverload } from "../values/cel-error.js";
import { MAX_READ_LENGTH, tooLarge } from "../values/limits.js";
import { BUCKET } from "../values/map-key.js";
import { MapValue, OpaqueValue, type Value } from "../values/value.js";

const parseError = (text: string, error: UrlError): CelError =>
  new CelError(`URL parse error during conversion from string: parse ${quoted(text)}: ${error.message}`);

/** The error of a text that is neither an absolute URI nor an absolute path: `parse "…": …`; `undefined` when it is one. */
export function requestUriError(text: string): string | undefined {
  if (text.length > MAX_READ_LENGTH) return tooLarge();
  const parsed = parseUrl(toOctets(text), true);
  return parsed instanceof UrlError ? `parse ${quoted(text)}: ${parsed.message}` : undefined;
}

/** Most parameters of a query; with more, none is read. */
const MAX_PARAMETERS = 10_000;

/** A URL. */
export class UrlValue extends OpaqueValue {
  readonly typeName = "kubernetes.URL";

  readonly #parts: UrlParts;

  private constructor(parts: UrlParts) {
    super();
    this.#parts = parts;
  }

  /** `url(text)`: it must be an absolute URI or path, and is then read once more, with its fragment split off. */
  static parse(text: string): UrlValue | CelError {
    if (text.length > MAX_READ_LENGTH) return tooLarge();
    const octets = toOctets(text);
    const asRequest = parseUrl(octets, true);
    if (asRequest instanceof UrlError) return parseError(text, asRequest);
    const parts = parseUrlReference(octets);
    if (!(parts instanceof UrlError)) return new UrlValue(parts);
    return parseError(parts.text === undefined ? text : fromOctets(parts.text), parts);
  }

  /** In lower case; `""` for a path. */
  get scheme(): string {
    return fromOctets(this.#parts.scheme);
  }

  /** Host and port, without user. */
  get host(): string {
    return fromOctets(this.#parts.host);
  }

  /** The host alone, without brackets. */
  get hostname(): string {
    const [host] = this.#hostAndPort();
    return fromOctets(host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host);
  }

  /** The port; `""` for none. */
  get port(): string {
    return this.#hostAndPort()[1];
  }

  #hostAndPort(): readonly [string, string] {
    const { host } = this.#parts;
    const colon = host.lastIndexOf(":");
    if (colon === -1 || !isOptionalPort(host.slice(colon))) return [host, ""];
    return [host.slice(0, colon), host.slice(colon + 1)];
  }

  /** The path, as written where that is properly escaped. */
  get escapedPath(): string {
    return fromOctets(escapedPath(this.#parts));
  }

  /** The query's parameters: a map of string to list of strings. Pairs that are malformed or have a semicolon are left out. */
  get query(): MapValue {
    const values = new Map<string, string[]>();
    const pairs = this.#parts.rawQuery.split("&");
    for (const pair of pairs.length > MAX_PARAMETERS ? [] : pairs) {
      if (pair === "" || pair.includes(";")) continue;
      const equalsSign = pair.indexOf("=");
      const name = unescapeText(equalsSign === -1 ? pair : pair.slice(0, equalsSign), "query");
      const value = unescapeText(equalsSign === -1 ? "" : pair.slice(equalsSign + 1), "query");
      if (name instanceof UrlError || value instanceof UrlError) continue;
      const key = fromOctets(name);
      const before = values.get(key);
      if (before === undefined) values.set(key, [fromOctets(value)]);
      else before.push(fromOctets(value));
    }
    const query = new MapValue();
    for (const [key, list] of values) query.set(key, list);
    return query;
  }

  equals(other: Value): boolean | CelError {
    return other instanceof UrlValue ? this.toString() === other.toString() : noSuchOverload();
  }

  /** A new key for each: the reference makes one value for each call, so none is found again. */
  override get [BUCKET](): symbol {
    return Symbol("key");
  }

  override get identity(): string {
    return this.toString();
  }

  toString(): string {
    return urlText(this.#parts);
  }
}
