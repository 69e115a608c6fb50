/** Parsers that keep their latest answers: policies parse the same few quantities, addresses and times again and again. */
import { LRUCache } from "lru-cache";
import type { FunctionDeclaration, Implementation } from "./declarations.js";
import type { Result } from "./values/value.js";

/** Answers kept per function. */
const MAX_ANSWERS = 500;
/** Longer texts are read each time: they would hardly come again, and fill the memory. */
const MAX_TEXT_LENGTH = 256;

/** The function, asked only once for a text while that is among the latest. It must be pure, and its answers immutable. */
export function memoized(implementation: Implementation): Implementation {
  // Most functions of most environments are never asked, and a cache takes its room at once.
  let answers: LRUCache<string, NonNullable<Result>> | undefined;
  return (...args) => {
    const text = args[0];
    if (args.length !== 1 || typeof text !== "string" || text.length > MAX_TEXT_LENGTH) return implementation(...args);
    const known = answers?.get(text);
    if (known !== undefined) return known;
    const answer = implementation(text);
    if (answer === null) return answer;
    answers ??= new LRUCache({ max: MAX_ANSWERS });
    answers.set(text, answer);
    return answer;
  };
}

/** The overloads that parse. */
const PARSERS: ReadonlySet<string> = new Set([
  "string_to_quantity",
  "is_quantity_string",
  "string_to_url",
  "is_url_string",
  "string_to_ip",
  "is_ip",
  "string_to_cidr",
  "is_cidr",
  "string_to_semver",
  "is_semver_string",
  "string_to_timestamp",
  "string_to_duration",
]);

/** The declaration with its parsing overloads memoized. */
export function withMemoizedParsers(declaration: FunctionDeclaration): FunctionDeclaration {
  if (!declaration.overloads.some(({ id }) => PARSERS.has(id))) return declaration;
  const overloads = declaration.overloads.map((each) =>
    PARSERS.has(each.id) && each.implementation !== undefined
      ? { ...each, implementation: memoized(each.implementation) }
      : each,
  );
  return { ...declaration, overloads };
}
