/** What texts mean in the old language: quantities, durations, versions, wildcards, ranges. */
import { type Cel, call, equal, literal, method, primary, quoted, relation } from "../cel-text.js";
import { ALWAYS, ask, both, choose, compare, NEVER, opposite, type Test } from "./test.js";

const DURATION = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const DURATION_UNITS: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
};
const QUANTITY = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
const FLOAT = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
const RANGE = /^([-|+]?\d+(?:\.\d+)?[A-Za-z]*)-([-|+]?\d+(?:\.\d+)?[A-Za-z]*)$/;

/** The seconds of Go's text of a duration, such as `1h30m`. */
export function seconds(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)([a-zµμ]+)/g))
    sum += Number(amount) * (DURATION_UNITS[unit ?? ""] ?? 0);
  return text.startsWith("-") ? -sum : sum;
}

export const isQuantity = (text: string): boolean => QUANTITY.test(text);
export const isVersion = (text: string): boolean => VERSION.test(text);
/** The number that a text is, as Go reads floating point numbers. */
export const numberOf = (text: string): number | undefined => (FLOAT.test(text) ? Number(text) : undefined);
export const isInteger = (text: string): boolean => /^[+-]?\d+$/.test(text);
/** The bounds of a range such as `1-10`. */
export function rangeOf(text: string): readonly [string, string] | undefined {
  const [, low, high] = RANGE.exec(text) ?? [];
  return low === undefined || high === undefined ? undefined : [low, high];
}
export const hasWildcard = (text: string): boolean => /[*?]/.test(text);

/** How Go prints a JSON value: what the operators of lists compare. */
export function printed(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(printed).join(" ")}]`;
  if (typeof value === "object")
    return `map[${Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => `${key}:${printed(each)}`)
      .join(" ")}]`;
  return String(value);
}

/** Whether a text could be what a number or boolean is printed as. */
export const isPrintedScalar = (text: string): boolean => FLOAT.test(text) || text === "true" || text === "false";

/** Whether a wildcard's text could match a quantity. */
const mayMatchQuantity = (pattern: string): boolean =>
  /^[*?+\-.\d]/.test(pattern) && /^[*?+\-.\deEKMGTPinumk]*$/.test(pattern);

const asDuration = (text: Cel): Cel => call("duration", text);
const asQuantity = (text: Cel): Cel => call("quantity", text);
export const isDurationText = (text: Cel): Test =>
  ask(method(text, "matches", primary(quoted("^[+-]?(([0-9]+[.]?[0-9]*|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h))+$"))));
export const isQuantityText = (text: Cel): Test => ask(call("isQuantity", text));
export const isVersionText = (text: Cel): Test => ask(call("isSemver", text));
export const isNumberText = (text: Cel): Test =>
  ask(method(text, "matches", primary(quoted("^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"))));

export type Comparison = "<" | "<=" | "==" | ">" | ">=";
const QUANTITY_METHOD: Readonly<Record<Comparison, readonly [string, boolean]>> = {
  "==": ["", true],
  "<": ["isLessThan", true],
  ">": ["isGreaterThan", true],
  "<=": ["isGreaterThan", false],
  ">=": ["isLessThan", false],
};

const byMethods = (operator: Comparison, a: Cel, b: Cel): Test => {
  const [name, holds] = QUANTITY_METHOD[operator];
  if (name === "") return compare("==", a, b);
  const test = ask(method(a, name, b));
  return holds ? test : opposite(test);
};

export const compareQuantities = (operator: Comparison, a: Cel, b: Cel): Test =>
  byMethods(operator, asQuantity(a), asQuantity(b));
export const compareVersions = (operator: Comparison, a: Cel, b: Cel): Test =>
  byMethods(operator, call("semver", a), call("semver", b));
export const compareDurations = (operator: Comparison, a: Cel, b: Cel): Test =>
  compare(operator, asDuration(a), asDuration(b));

/** Whether a text matches a known one with wildcards. */
export function matchesWildcard(text: Cel, pattern: string): Test {
  const parts = pattern.split(/\*+/);
  const [first = "", middle = "", last = ""] = parts;
  const startsWith = (part: string) => ask(method(text, "startsWith", primary(quoted(part))));
  const endsWith = (part: string) => ask(method(text, "endsWith", primary(quoted(part))));
  if (!pattern.includes("?")) {
    if (parts.length === 1) return compare("==", text, literal(pattern));
    if (parts.every((part) => part === "")) return ALWAYS;
    if (parts.length === 2 && middle === "") return startsWith(first);
    if (parts.length === 2 && first === "") return endsWith(middle);
    if (parts.length === 3 && first === "" && last === "")
      return ask(method(text, "contains", primary(quoted(middle))));
  }
  if (/^\?\*$|^\*\?$/.test(pattern)) return ask(relation("!=", text, literal("")), equal(text, literal("")));
  const expression = pattern
    .replace(/[.+^$(){}|[\]\\]/g, (each) => (each === "\\" ? "\\\\" : `[${each}]`).replace("[^]", "\\^"))
    .replace(/\*+/g, ".*")
    .replaceAll("?", ".");
  return ask(method(text, "matches", primary(quoted(`(?s)^${expression}$`))));
}

/** Whether a text matches another one, of which only the evaluation knows whether it has wildcards. */
export function matchesText(text: Cel, pattern: Cel): Test {
  const replace = (target: Cel, sign: string, by: string): Cel =>
    method(target, "replace", primary(quoted(sign)), primary(quoted(by)));
  const inner = replace(replace(pattern, "*", "\\E.*\\Q"), "?", "\\E.\\Q");
  return ask(method(text, "matches", primary(`"(?s)^\\\\Q" + ${inner.text} + "\\\\E$"`)));
}

/** Whether a text is a known one in the sense of Equals: as a duration, a quantity, or with wildcards. */
export function equalsText(text: Cel, known: string): Test {
  const quantity = (): Test => both(isQuantityText(text), compareQuantities("==", text, literal(known)));
  if (seconds(known) !== undefined)
    return choose(
      isDurationText(text),
      compareDurations("==", text, literal(known)),
      isQuantity(known) ? quantity() : NEVER,
    );
  if (isQuantity(known)) return quantity();
  const match = matchesWildcard(text, known);
  return hasWildcard(known) && mayMatchQuantity(known) ? both(opposite(isQuantityText(text)), match) : match;
}

/** Whether two texts are equal in the sense of Equals, where both are only known in the evaluation. */
export function equalTexts(a: Cel, b: Cel): Test {
  return choose(
    both(isDurationText(a), isDurationText(b)),
    compareDurations("==", a, b),
    choose(isQuantityText(a), both(isQuantityText(b), compareQuantities("==", a, b)), matchesText(a, b)),
  );
}

/** Whether a text lies in a range of texts, such as `1-10` or `1Gi-2Gi`. */
export function isInRange(text: Cel, [low, high]: readonly [string, string]): Test {
  const within = (compareAs: typeof compareQuantities): Test =>
    both(compareAs(">=", text, literal(low)), compareAs("<=", text, literal(high)));
  const durations = seconds(low) !== undefined && seconds(high) !== undefined;
  const quantities = isQuantity(low) && isQuantity(high);
  const asQuantities = both(isQuantityText(text), within(compareQuantities));
  if (!durations) return quantities ? asQuantities : NEVER;
  const asDurations = within(compareDurations);
  return choose(isDurationText(text), asDurations, quantities ? asQuantities : NEVER);
}
