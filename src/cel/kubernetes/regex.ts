/** Kubernetes' regular expression functions (spec kubernetes-cel.md 4.5). */
import type { Library } from "../declarations.js";
import { fn, method, methodFn } from "../declare.js";
import type { PatternCache } from "../pattern/pattern.js";
import { INT, listType, STRING } from "../types.js";
import { CelError } from "../values/cel-error.js";
import type { Result } from "../values/value.js";

const illegal = (error: CelError): CelError => new CelError(`Illegal regex: ${error.message}`);

/** `find` and `findAll`; patterns are kept in the cache. */
export function kubernetesRegexLibrary(patterns: PatternCache): Library {
  const find = (text: string, source: string): Result => {
    const pattern = patterns.get(source);
    return pattern instanceof CelError ? illegal(pattern) : (pattern.find(text) ?? "");
  };
  const findAll = (text: string, source: string, limit: number | bigint = -1): Result => {
    const pattern = patterns.get(source);
    if (pattern instanceof CelError) return illegal(pattern);
    const matches = pattern.matches(text, limit < 0 ? Number.POSITIVE_INFINITY : Number(limit), false);
    return matches instanceof CelError ? matches : matches.map(({ start, end }) => text.slice(start, end));
  };
  return {
    name: "kubernetes-regex",
    functions: [
      methodFn("find", "string_find_string", [STRING, STRING], STRING, find),
      fn(
        "findAll",
        method("string_find_all_string", [STRING, STRING], listType(STRING), findAll),
        method("string_find_all_string_int", [STRING, STRING, INT], listType(STRING), findAll),
      ),
    ],
  };
}
