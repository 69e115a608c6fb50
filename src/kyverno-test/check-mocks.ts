/** What can be wrong with mocks in a test file, in Kyverno's words (spec kyverno.md 8.6). */
import { quote } from "../data/go-quote.js";
import { isJsonObject } from "../data/same-value.js";
import type { CallResponse, ContextEntry } from "./test-file.js";

/** Status codes that HTTP knows. */
const LEAST_STATUS = 100;
const MOST_STATUS = 599;

/** Blanks around are not part of an address. */
const trimmed = (text: string | undefined): string => (text ?? "").trim();
const goQuote = (text: string): string => quote(text, false);

/** The address that a response is for. */
export const addressOf = ({ url, urlPath }: CallResponse): string => trimmed(url) || trimmed(urlPath);

/** Whose requests a response is for: `METHOD:address`, or the address whatever the method. */
export function callKey(response: CallResponse): string {
  const method = trimmed(response.method).toUpperCase();
  return method === "" ? addressOf(response) : `${method}:${addressOf(response)}`;
}

/** The first thing wrong with `apiCallResponses`. */
export function callResponsesError(responses: readonly CallResponse[]): string | undefined {
  const keys = new Set<string>();
  for (const [i, response] of responses.entries()) {
    const error = callResponseError(response);
    if (error !== undefined) return `apiCallResponses[${i}]${error}`;
    const key = callKey(response);
    if (keys.has(key))
      return `apiCallResponses: duplicate entry for ${goQuote(addressOf(response))} (key ${goQuote(key)}) — each method+url combination must be unique`;
    keys.add(key);
  }
  return undefined;
}

function callResponseError({ url, urlPath, method, response = {} }: CallResponse): string | undefined {
  const address = trimmed(url);
  const path = trimmed(urlPath);
  if (address === "" && path === "") return ": either url or urlPath is required";
  if (address !== "" && path !== "") return ": url and urlPath are mutually exclusive";
  const wrong = address === "" ? undefined : addressError(address);
  if (wrong !== undefined) return `: url ${goQuote(address)} ${wrong}`;
  if (path !== "" && !path.startsWith("/"))
    return `: urlPath ${goQuote(path)} must be an absolute path starting with '/'`;
  if (!["", "GET", "POST"].includes(trimmed(method).toUpperCase())) return ": method must be GET or POST";
  const label = goQuote(address || path);
  const { body, statusCode = 0 } = response;
  if (body === undefined || body === null) return ` ${label}: response.body is required`;
  if (!isJsonObject(body)) return ` ${label}: response.body must be a JSON object`;
  if (statusCode !== 0 && (statusCode < LEAST_STATUS || statusCode > MOST_STATUS))
    return ` ${label}: statusCode ${statusCode} must be between ${LEAST_STATUS} and ${MOST_STATUS}`;
  return undefined;
}

function addressError(address: string): string | undefined {
  const [, authority] = /^https?:\/\/([^/?#]*)/i.exec(address) ?? [];
  if (authority === undefined) return "must be an absolute https/http URL";
  const host = authority.slice(authority.lastIndexOf("@") + 1).replace(/:\d*$/, "");
  if (host === "") return "has scheme but no host";
  return URL.canParse(address) ? undefined : "is not a valid URL";
}

/** The first thing wrong with `globalContextEntries`. */
export function contextEntriesError(entries: readonly ContextEntry[]): string | undefined {
  const names = new Set<string>();
  for (const entry of entries) {
    const name = trimmed(entry.name);
    if (name === "") return "globalContextEntries: name is required";
    if (names.has(name)) return `globalContextEntries: duplicate name ${goQuote(name)}`;
    names.add(name);
    const error = contextEntryError(entry);
    if (error !== undefined) return `globalContextEntries entry ${goQuote(entry.name ?? "")}${error}`;
  }
  return undefined;
}

function contextEntryError({ data, resources, resourceFiles, projections = [] }: ContextEntry): string | undefined {
  for (const { name, path } of projections) {
    if (trimmed(name) === "") return ": projection name is required";
    if (trimmed(path) === "") return ` projection ${goQuote(name ?? "")}: path is required`;
  }
  const sources = [data ?? undefined, resources, resourceFiles].filter((source) => source !== undefined);
  if (sources.length > 1) return ": data, resources, and resourceFiles are mutually exclusive";
  if (sources.length === 0) return ": one of data, resources, or resourceFiles is required";
  if (data !== undefined && data !== null && !isJsonObject(data)) return ": data must be a JSON object";
  for (const [i, resource] of (resources ?? []).entries()) {
    if (!isJsonObject(resource)) return ` resources[${i}]: must be a JSON object (Kubernetes resource manifest)`;
  }
  for (const [i, file] of (resourceFiles ?? []).entries()) {
    const error = fileError(file.trim());
    if (error !== undefined) return ` resourceFiles[${i}]: file path must not ${error}`;
  }
  return undefined;
}

function fileError(path: string): string | undefined {
  if (path === "") return "be empty";
  if (path.startsWith("/")) return "be absolute";
  let depth = 0;
  for (const part of path.split("/")) {
    if (part === "..") depth--;
    else if (part !== "" && part !== ".") depth++;
    if (depth < 0) return "escape the test directory";
  }
  return undefined;
}
