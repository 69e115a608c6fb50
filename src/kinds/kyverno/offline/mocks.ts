/** Answers of HTTP servers that a test defines (spec kyverno.md 8.5 and 8.6). */

import { withDoubles } from "../../../data/doubles.js";
import { quote } from "../../../data/go/quote.js";
import { isObject, type JsonObject } from "../../../kubernetes/object.js";
import { failed, type Read, read } from "./read.js";

/** One of a test's `apiCallResponses`. */
export interface MockedResponse {
  readonly url?: string;
  readonly urlPath?: string;
  /** `GET`, `POST`, or absent for both. */
  readonly method?: string;
  readonly response?: { readonly statusCode?: number; readonly body?: unknown };
}

/** The answers by `METHOD:url`, or by `url` where no method is named: `{body, statusCode}`, whatever the body (spec kyverno.md 8.6). */
export function mockedAnswers(entries: readonly MockedResponse[]): Read<ReadonlyMap<string, JsonObject>> {
  const answers = new Map<string, JsonObject>();
  for (const [i, entry] of entries.entries()) {
    const mistake = mistakeOf(entry);
    if (mistake !== undefined) return failed(`apiCallResponses[${i}]${mistake}`);
    const target = targetOf(entry);
    const method = methodOf(entry);
    const key = method === "" ? target : `${method}:${target}`;
    if (answers.has(key)) {
      const names = `${quoted(target)} (key ${quoted(key)})`;
      return failed(`apiCallResponses: duplicate entry for ${names} — each method+url combination must be unique`);
    }
    const { body, statusCode = 0 } = entry.response ?? {};
    answers.set(key, { body: withDoubles(body), statusCode: statusCode === 0 ? 200 : statusCode });
  }
  return read(answers);
}

const quoted = (text: string): string => quote(text, false);
const methodOf = ({ method = "" }: MockedResponse): string => method.trim().toUpperCase();
const targetOf = ({ url = "", urlPath = "" }: MockedResponse): string => url.trim() || urlPath.trim();

/** The error's text behind the entry's number. */
function mistakeOf(entry: MockedResponse): string | undefined {
  const [url, urlPath] = [(entry.url ?? "").trim(), (entry.urlPath ?? "").trim()];
  if (url === "" && urlPath === "") return ": either url or urlPath is required";
  if (url !== "" && urlPath !== "") return ": url and urlPath are mutually exclusive";
  if (url !== "") {
    if (!/^https?:/i.test(url)) return `: url ${quoted(url)} must be an absolute https/http URL`;
    if (!/^https?:\/\/[^/?#]/i.test(url)) return `: url ${quoted(url)} has scheme but no host`;
  } else if (!urlPath.startsWith("/")) {
    return `: urlPath ${quoted(urlPath)} must be an absolute path starting with '/'`;
  }
  if (!["", "GET", "POST"].includes(methodOf(entry))) return ": method must be GET or POST";
  const { body, statusCode = 0 } = entry.response ?? {};
  const label = quoted(targetOf(entry));
  if (body === undefined || body === null) return ` ${label}: response.body is required`;
  if (!isObject(body)) return ` ${label}: response.body must be a JSON object`;
  if (statusCode !== 0 && (statusCode < 100 || statusCode > 599)) {
    return ` ${label}: statusCode ${statusCode} must be between 100 and 599`;
  }
  return undefined;
}
