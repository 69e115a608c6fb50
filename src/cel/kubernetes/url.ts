/** URLs (spec kubernetes-cel.md 4.7). */
import type { Library } from "../declarations.js";
import { methodFn, overloadFn } from "../declare.js";
import { BOOL, listType, mapType, opaqueType, STRING } from "../types.js";
import { requestUriError, UrlValue } from "./url-value.js";

const URL_TYPE = opaqueType("kubernetes.URL");
const QUERY_TYPE = mapType(STRING, listType(STRING));

/** `url`, `isURL` and the getters of a URL. */
export const urlLibrary: Library = {
  name: "url",
  functions: [
    overloadFn("url", "string_to_url", [STRING], URL_TYPE, UrlValue.parse),
    methodFn("getScheme", "url_get_scheme", [URL_TYPE], STRING, ({ scheme }: UrlValue) => scheme),
    methodFn("getHost", "url_get_host", [URL_TYPE], STRING, ({ host }: UrlValue) => host),
    methodFn("getHostname", "url_get_hostname", [URL_TYPE], STRING, ({ hostname }: UrlValue) => hostname),
    methodFn("getPort", "url_get_port", [URL_TYPE], STRING, ({ port }: UrlValue) => port),
    methodFn("getEscapedPath", "url_get_escaped_path", [URL_TYPE], STRING, ({ escapedPath }: UrlValue) => escapedPath),
    methodFn("getQuery", "url_get_query", [URL_TYPE], QUERY_TYPE, ({ query }: UrlValue) => query),
    overloadFn("isURL", "is_url_string", [STRING], BOOL, (text: string) => requestUriError(text) === undefined),
  ],
};
