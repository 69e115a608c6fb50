/** The little language of texts in patterns: alternatives, conjunctions, operators, ranges and wildcards. */
import { parseGoDuration } from "../../../../data/go/duration.js";

/** The comparison of one part of a pattern. */
export type Comparison = "!=" | "<" | "<=" | "==" | ">" | ">=";

/** One comparison with a constant. */
export interface Atom {
  readonly comparison: Comparison;
  readonly operand: string;
}

/** All, or one, of several tests. */
export type TextPattern = Atom | { readonly all: readonly TextPattern[] } | { readonly any: readonly TextPattern[] };

const NUMBER = "[-|+]?\\d+(?:\\.\\d+)?[A-Za-z]*";
const RANGE = new RegExp(`^(${NUMBER})(!?)-(${NUMBER})$`);
/** The parts of a pattern's text: `|` splits before `&`. */
export function parseTextPattern(text: string): TextPattern {
  const any = splitAt(text, "|").map((alternative) => {
    const all = splitAt(alternative, "&").map(atomOf);
    return all.length === 1 && all[0] !== undefined ? all[0] : { all };
  });
  return any.length === 1 && any[0] !== undefined ? any[0] : { any };
}

const splitAt = (text: string, separator: string): readonly string[] =>
  text.split(separator).map((part) => part.replace(/^ +| +$/g, ""));

function atomOf(text: string): TextPattern {
  const [, operator = ""] = text.length < 2 ? [] : (/^(>=|<=|>|<|!)/.exec(text) ?? []);
  const operand = text.slice(operator.length).trim();
  if (operator !== "") return { comparison: operator === "!" ? "!=" : (operator as Comparison), operand };
  const [, left = "", not = "", right = ""] = RANGE.exec(text) ?? [];
  if (left === "") return { comparison: "==", operand };
  const atoms = (first: Comparison, second: Comparison): readonly Atom[] => [
    { comparison: first, operand: left },
    { comparison: second, operand: right },
  ];
  return not === "" ? { all: atoms(">=", "<=") } : { any: atoms("<", ">") };
}

const QUANTITY = /^[-+]?(\d+(\.\d*)?|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][-+]?\d+)?$/;

/** Whether a text is a quantity of Kubernetes: plain numbers are. */
export const isQuantity = (text: string): boolean => QUANTITY.test(text);

/** Whether a text is a duration of Go. */
export const isDuration = (text: string): boolean => parseGoDuration(text).ok;

export const hasWildcard = (text: string): boolean => /[*?]/.test(text);

/** Whether a text matches another one with wildcards, or equals it. */
export const wildcardMatches = (pattern: string, text: string): boolean =>
  new RegExp(regexOf(pattern), "su").test(text);

/** The regular expression, in RE2's syntax, of a text with wildcards. */
export const wildcardRegex = (pattern: string): string => `(?s)${regexOf(pattern)}`;

const regexOf = (pattern: string): string =>
  `^${pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*+/g, ".*")
    .replaceAll("?", ".")}$`;

/** Whether a pattern accepts its own text, or another one that is neither a quantity nor a duration. */
export function acceptsText(pattern: TextPattern, text: string): boolean {
  if ("all" in pattern) return pattern.all.every((part) => acceptsText(part, text));
  if ("any" in pattern) return pattern.any.some((part) => acceptsText(part, text));
  const { comparison, operand } = pattern;
  if (comparison !== "==" && comparison !== "!=") return false;
  return wildcardMatches(operand, text) === (comparison === "==");
}
