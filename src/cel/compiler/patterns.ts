/**
 * Calls whose pattern is constant: compiled once, when the program is built (spec kubernetes-cel.md 3.3 and 4.5).
 */
import { compilePattern, loadPatterns, type Pattern } from "../pattern/pattern.js";
import { sequenceTest } from "../pattern/sequence.js";
import { CelError, noSuchOverload } from "../values/cel-error.js";
import { TypeValue } from "../values/type-value.js";
import type { Result, Value } from "../values/value.js";
import type { Callee, Plan } from "./plan.js";

type Search = (pattern: Pattern, text: string, limit: Value | undefined) => Result;

const SEARCHES: ReadonlyMap<string, Search> = new Map<string, Search>([
  ["matches", (pattern, text) => pattern.test(text)],
  ["find", (pattern, text) => pattern.find(text) ?? ""],
  ["findAll", findAll],
]);

function findAll(pattern: Pattern, text: string, limit: Value | undefined): Result {
  if (limit !== undefined && typeof limit !== "number" && typeof limit !== "bigint") return noSuchOverload();
  const most = limit === undefined || limit < 0 ? Number.POSITIVE_INFINITY : Number(limit);
  const found = pattern.matches(text, most, false);
  return found instanceof CelError ? found : found.map(({ start, end }) => text.slice(start, end));
}

/** Functions whose second argument is a pattern that they compile when they are called, constant or not. */
const COMPILE_WHEN_CALLED: ReadonlySet<string> = new Set(["regex.extract", "regex.extractAll", "regex.replace"]);

/**
 * The constant pattern of a call. For functions that compile patterns during evaluation, the pattern compiler is loaded now: that takes 20 ms.
 * @param argument the second argument
 */
export function constantPattern(name: string, argument: Plan | undefined): string | undefined {
  const isConstant = argument?.kind === "const" && typeof argument.value === "string";
  if (isConstant ? COMPILE_WHEN_CALLED.has(name) : SEARCHES.has(name) || COMPILE_WHEN_CALLED.has(name)) loadPatterns();
  return isConstant ? (argument.value as string) : undefined;
}

/**
 * The callee with its pattern compiled; the error of a bad pattern; `undefined` for functions that have none.
 * @param source the constant second argument
 */
export function bindPattern(name: string, source: string): Callee | CelError | undefined {
  const search = SEARCHES.get(name);
  if (search === undefined) return undefined;
  const pattern = compilePattern(source);
  if (pattern instanceof CelError) return pattern;
  const simple = name === "matches" ? sequenceTest(source) : undefined;
  const find = simple ?? ((text: string, limit: Value | undefined) => search(pattern, text, limit));
  return (text, _source, limit) => {
    if (typeof text === "string") return find(text, limit);
    // A quirk of the reference: the text of a type is its name.
    return text instanceof TypeValue ? find(text.name, limit) : noSuchOverload();
  };
}
