/** Size and the tests on strings that belong to the language itself (spec kubernetes-cel.md 3.3). */
import type { FunctionDeclaration, Implementation, Library } from "../declarations.js";
import { dynamicFn, method, overload } from "../declare.js";
import { sizeOfMap } from "../operators/maps.js";
import type { PatternCache } from "../pattern/pattern.js";
import { BOOL, BYTES, INT, listType, mapType, STRING, typeParam } from "../types.js";
import { CelError, noSuchOverload } from "../values/cel-error.js";
import { codePointLength } from "../values/code-points.js";
import { Duration, Timestamp } from "../values/time.js";
import type { Result, Value } from "../values/value.js";

const A = typeParam("A");
const B = typeParam("B");

/** The error of an operation that the first operand's kind does not have: in the reference strings and times give the bare text themselves. */
function unable(name: string, first: Value): Result {
  const bare = typeof first === "string" || first instanceof Timestamp || first instanceof Duration;
  return noSuchOverload(bare ? undefined : name);
}

const size: Implementation = (value) => {
  if (typeof value === "string") return codePointLength(value);
  if (value instanceof Uint8Array || Array.isArray(value)) return value.length;
  return sizeOfMap(value as Value) ?? unable("size", value as Value);
};

/** A test of one string against another, which answers for other kinds itself. */
function test(name: string, id: string, holds: (text: string, part: string) => boolean): FunctionDeclaration {
  const implementation: Implementation = (text, part) =>
    typeof text === "string" && typeof part === "string" ? holds(text, part) : noSuchOverload();
  return dynamicFn(name, implementation, method(id, [STRING, STRING], BOOL, holds));
}

/** `size`, `contains`, `startsWith`, `endsWith` and `matches`; patterns are kept in the cache. */
export function textLibrary(patterns: PatternCache): Library {
  const matches = (text: string, source: string): Result => {
    const pattern = patterns.get(source);
    return pattern instanceof CelError ? pattern : pattern.test(text);
  };
  const matchesAny: Implementation = (text, source) => {
    if (typeof text !== "string") return unable("matches", text as Value);
    return typeof source === "string" ? matches(text, source) : noSuchOverload();
  };
  return {
    name: "text",
    functions: [
      dynamicFn(
        "size",
        size,
        overload("size_bytes", [BYTES], INT, size),
        method("bytes_size", [BYTES], INT, size),
        overload("size_list", [listType(A)], INT, size),
        method("list_size", [listType(A)], INT, size),
        overload("size_map", [mapType(A, B)], INT, size),
        method("map_size", [mapType(A, B)], INT, size),
        overload("size_string", [STRING], INT, size),
        method("string_size", [STRING], INT, size),
      ),
      test("contains", "contains_string", (text, part) => text.includes(part)),
      test("endsWith", "ends_with_string", (text, part) => text.endsWith(part)),
      test("startsWith", "starts_with_string", (text, part) => text.startsWith(part)),
      dynamicFn(
        "matches",
        matchesAny,
        overload("matches", [STRING, STRING], BOOL, matches),
        method("matches_string", [STRING, STRING], BOOL, matches),
      ),
    ],
  };
}
