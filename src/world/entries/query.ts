/** Queries in JMESPath over the data of entries (spec kyverno.md 4.5). */
import { createRequire } from "node:module";
import type { JSONValue } from "@jmespath-community/jmespath";
import { errorText } from "../../data/error-text.js";
import { setKey } from "../../data/plain-object.js";
import { LookupFailure } from "../resources/resource-source.js";

/** Loaded at the first query, which few have: it takes some 20 ms of every start otherwise. */
const load = (): typeof import("@jmespath-community/jmespath") =>
  createRequire(import.meta.url)("@jmespath-community/jmespath");

/** Evaluates a query; null where it finds nothing. Numbers are plain ones in what comes of it. */
export type Query = (data: unknown) => unknown | LookupFailure;

/** Compiles a query, or says what is wrong with it. The functions that Kyverno adds to the language are not there. */
export function compileQuery(expression: string): Query | LookupFailure {
  try {
    const { compile, TreeInterpreter } = load();
    const tree = compile(expression);
    return (data) => {
      try {
        return TreeInterpreter.search(tree, plain(data) as JSONValue) ?? null;
      } catch (error) {
        return new LookupFailure(errorText(error));
      }
    };
  } catch (error) {
    return new LookupFailure(errorText(error));
  }
}

/** Data with numbers as the library knows them: what keeps a double apart from an integer is lost. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint" || value instanceof Number) return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) setKey(copy, key, plain(member));
  return copy;
}
