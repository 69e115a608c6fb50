/** Wildcards of the old language: `*` is any text, `?` one character. */
import {
  and,
  type Cel,
  equal,
  literal,
  loop,
  method,
  optionalMember,
  orValue,
  primary,
  relation,
  TRUE,
} from "../cel-text.js";

/** Whether a text has wildcards. */
export const hasWildcard = (text: string): boolean => /[*?]/.test(text);

/** Whether a text matches a pattern. */
export const matchesWildcard = (pattern: string, value: string): boolean =>
  new RegExp(expressionOf(pattern), "su").test(value);

/** The pattern as a regular expression, in which `.` is any character. */
const expressionOf = (pattern: string): string => `^${bare(pattern)}$`;

const bare = (pattern: string): string =>
  pattern
    .replace(/[\\^$.+()[\]{}|]/g, "\\$&")
    .replace(/\*+/g, ".*")
    .replaceAll("?", ".");

/** Whether a value of type string matches one of the patterns. */
export function matchesAny(value: Cel, patterns: readonly string[]): Cel {
  const [only, ...others] = patterns;
  if (patterns.some((each) => /^\*+$/.test(each))) return TRUE;
  if (only !== undefined && others.length === 0)
    return hasWildcard(only) ? matches(value, only) : equal(value, literal(only));
  if (!patterns.some(hasWildcard)) return relation("in", value, literal(patterns));
  return method(value, "matches", literal(`(?s)^(${patterns.map(bare).join("|")})$`));
}

function matches(value: Cel, pattern: string): Cel {
  if (/^(?:\?\*+|\*+\?)$/.test(pattern)) return relation("!=", value, literal(""));
  const [first = "", second = "", third, ...more] = pattern.split(/\*+/);
  const isShort = !pattern.includes("?") && more.length === 0;
  if (isShort && third === undefined && second === "") return method(value, "startsWith", literal(first));
  if (isShort && third === undefined && first === "") return method(value, "endsWith", literal(second));
  if (isShort && third === "" && first === "") return method(value, "contains", literal(second));
  return method(value, "matches", literal(`(?s)${expressionOf(pattern)}`));
}

/**
 * Whether labels or annotations have an entry whose key matches a pattern, and whose value one of the others.
 * @param target such as `object.metadata.?labels`
 */
export function hasEntry(target: Cel, key: string, values: readonly string[]): Cel {
  if (hasWildcard(key)) {
    const test = and(matchesAny(primary("key"), [key]), matchesAny(primary("value"), values));
    return loop(orValue(target, primary("{}")), "exists", "key, value", test);
  }
  const entry = optionalMember(target, key);
  if (!values.some((each) => matchesWildcard(each, ""))) return matchesAny(orValue(entry, literal("")), values);
  return and(method(entry, "hasValue"), matchesAny(method(entry, "value"), values));
}
