/** URLs (spec kubernetes-cel.md 4.7). */
import type { Library } from "../declarations.js";
import { fn, method, overload } from "../declare.js";
import { BOOL, listType, mapType, opaqueType, STRING } from "../types.js";
import { requestUriError, UrlValue } from "./url-value.js";

const URL_TYPE = opaqueType("kubernetes.URL");

/** `url`, `isURL` and the getters of a URL. */
export const urlLibrary: Library = {
  name: "url",
  functions: [
    fn("url", overload("string_to_url", [STRING], URL_TYPE, UrlValue.parse)),
    fn(
      "getScheme",
      method("url_get_scheme", [URL_TYPE], STRING, ({ scheme }: UrlValue) => scheme),
    ),
    fn(
      "getHost",
      method("url_get_host", [URL_TYPE], STRING, ({ host }: UrlValue) => host),
    ),
    fn(
      "getHostname",
      method("url_get_hostname", [URL_TYPE], STRING, ({ hostname }: UrlValue) => hostname),
    ),
    fn(
      "getPort",
      method("url_get_port", [URL_TYPE], STRING, ({ port }: UrlValue) => port),
    ),
    fn(
      "getEscapedPath",
      method("url_get_escaped_path", [URL_TYPE], STRING, ({ escapedPath }: UrlValue) => escapedPath),
    ),
    fn(
      "getQuery",
      method("url_get_query", [URL_TYPE], mapType(STRING, listType(STRING)), ({ query }: UrlValue) => query),
    ),
    fn(
      "isURL",
      overload("is_url_string", [STRING], BOOL, (text: string) => requestUriError(text) === undefined),
    ),
  ],
};
