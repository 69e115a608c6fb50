/** Queries in JMESPath over the data of entries (spec kyverno.md 4.5). */
import { createRequire } from "node:module";
import type { JSONValue } from "@jmespath-community/jmespath";
import { errorText } from "../../data/error-text.js";
import { hasEscapedKeys } from "../../data/json.js";
import { setKey } from "../../data/plain-object.js";
import { LookupFailure } from "../resources/resource-source.js";

/** Loads the library at the first query, which few have: it takes some 20 ms of every start otherwise. */
const load = (): typeof import("@jmespath-community/jmespath") =>
  createRequire(import.meta.url)("@jmespath-community/jmespath");

/** Names and raw strings in quotes, and literals, with their text. */
const TOKENS = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`((?:[^`\\]|\\.)*)`/gs;

/** Evaluates a query over {@link plain} data; null where it finds nothing. Numbers in the result are plain ones. */
export type Query = (data: unknown) => unknown | LookupFailure;

/** Compiles a query, or answers its error. The functions that Kyverno adds to the language are missing. */
export function compileQuery(expression: string): Query | LookupFailure {
  // The library reads literals by the built-in parser.
  for (const [, literal = ""] of expression.matchAll(TOKENS))
    if (hasEscapedKeys(literal.replaceAll("\\`", "`")))
      return new LookupFailure("a literal has a key that is written with an escape, which is not supported");
  try {
    const { compile, TreeInterpreter } = load();
    const tree = compile(expression);
    return (data) => {
      try {
        return TreeInterpreter.search(tree, data as JSONValue) ?? null;
      } catch (error) {
        return new LookupFailure(errorText(error));
      }
    };
  } catch (error) {
    return new LookupFailure(errorText(error));
  }
}

/**
 * Data with numbers in the library's form: the difference between a double and an integer is lost. Parts with plain numbers only are shared with
 * the original, which must not change any more.
 */
export function plain(value: unknown): unknown {
  if (typeof value === "bigint" || value instanceof Number) return Number(value);
  if (Array.isArray(value)) return plainList(value);
  if (typeof value !== "object" || value === null) return value;
  let copy: Record<string, unknown> | undefined;
  for (const key in value) {
    const item = (value as Readonly<Record<string, unknown>>)[key];
    const made = plain(item);
    if (made === item) continue;
    copy ??= { ...value };
    setKey(copy, key, made);
  }
  return copy ?? value;
}

function plainList(list: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const made = plain(list[i]);
    if (made === list[i]) continue;
    copy ??= list.slice();
    copy[i] = made;
  }
  return copy ?? list;
}
