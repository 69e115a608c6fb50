/**
 * Results of bounded size: authors of policies, and of the objects that messages quote, choose how long all of it is, and of one report etcd takes 1.5 MiB. What is cut is each result for
 * itself, so that a long one takes no other's room.
 */
import type { ResultEntry } from "../../offline/reports/result-entry.js";
import {
  MAX_MESSAGE_LENGTH,
  MAX_NAME_LENGTH,
  MAX_PROPERTIES,
  MAX_PROPERTY_LENGTH,
  MAX_RESULT_BYTES,
  MAX_WORD_LENGTH,
} from "./audit-limits.js";

/** A result whose texts are cut where they are too long, to {@link MAX_RESULT_BYTES} in all; whose it is, which the report says once for all results, does not count. */
export function boundedEntry(entry: ResultEntry): ResultEntry {
  const { source, policy, rule, category, message, properties, ...others } = entry;
  const told = {
    ...others,
    source: cut(source, MAX_WORD_LENGTH),
    policy: cut(policy, MAX_NAME_LENGTH),
    ...(rule !== undefined && { rule: cut(rule, MAX_WORD_LENGTH) }),
    ...(category !== undefined && { category: cut(category, MAX_WORD_LENGTH) }),
    // The rest is for properties.
    ...(message !== undefined && { message: cut(message, MAX_MESSAGE_LENGTH, MAX_RESULT_BYTES / 2) }),
  };
  const room = MAX_RESULT_BYTES - storedBytes({ ...told, resources: undefined });
  return properties === undefined ? told : { ...told, properties: boundedProperties(properties, room) };
}

/** @param left bytes for all of them: each has its part of what those before have left */
function boundedProperties(properties: Readonly<Record<string, string>>, left: number) {
  const some = Object.entries(properties).slice(0, MAX_PROPERTIES);
  const bounded = new Map<string, string>();
  for (const [index, [name, value]] of some.entries()) {
    const part = left / (some.length - index);
    const key = cut(name, MAX_WORD_LENGTH, part / 2);
    // Of names that begin alike the first counts.
    if (bounded.has(key)) continue;
    const text = cut(value, MAX_PROPERTY_LENGTH, part - storedBytes(key) - PUNCTUATION);
    bounded.set(key, text);
    left -= storedBytes(key) + storedBytes(text) + PUNCTUATION;
  }
  return Object.fromEntries(bounded);
}

/** A colon and a comma. */
const PUNCTUATION = 2;

/** How many bytes the API server stores for a value: JSON as Go writes it, which escapes more characters than others do. */
export const storedBytes = (value: unknown): number => {
  const text = JSON.stringify(value);
  let bytes = Buffer.byteLength(text);
  for (const character of text.matchAll(ESCAPED_BY_GO)) bytes += ESCAPE_BYTES - Buffer.byteLength(character[0]);
  return bytes;
};

const ESCAPED_BY_GO = /[<>&\u2028\u2029]|\\[bf]/g;
const ESCAPE_BYTES = 6;

/** Cut between characters, an ellipsis behind it: to about the longest beginning that has room. */
function cut(text: string, length: number, bytes = Number.POSITIVE_INFINITY): string {
  if (text.length <= length && storedBytes(text) <= bytes) return text;
  for (let most = length; most > 1; most = Math.floor(most * SHORTER)) {
    const beginning = text.slice(0, most - 1);
    // Without half a character at its end.
    const some = `${/[\ud800-\udbff]$/.test(beginning) ? beginning.slice(0, -1) : beginning}…`;
    if (storedBytes(some) <= bytes) return some;
  }
  return "";
}

const SHORTER = 0.75;
