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
const OPERATORS: readonly (readonly [string, Comparison])[] = [
  [">=", ">="],
  ["<=", "<="],
  [">", ">"],
  ["<", "<"],
  ["!", "!="],
];

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
  if (text.length < 2) return { comparison: "==", operand: text.trim() };
  for (const [operator, comparison] of OPERATORS)
    if (text.startsWith(operator)) return { comparison, operand: text.slice(operator.length).trim() };
  const [, left = "", not = "", right = ""] = RANGE.exec(text) ?? [];
  if (left === "") return { comparison: "==", operand: text.trim() };
  return not === ""
    ? {
        all: [
          { comparison: ">=", operand: left },
          { comparison: "<=", operand: right },
        ],
      }
    : {
        any: [
          { comparison: "<", operand: left },
          { comparison: ">", operand: right },
        ],
      };
}

const QUANTITY = /^[-+]?(\d+(\.\d*)?|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][-+]?\d+)?$/;

/** Whether a text is a quantity of Kubernetes: plain numbers are. */
export const isQuantity = (text: string): boolean => QUANTITY.test(text);

/** Whether a text is a duration of Go. */
export const isDuration = (text: string): boolean => parseGoDuration(text).ok;

export const hasWildcard = (text: string): boolean => /[*?]/.test(text);

/** Whether a text matches another one with wildcards, or equals it. */
export const wildcardMatches = (pattern: string, text: string): boolean => regexOf(pattern, "su").test(text);

function regexOf(pattern: string, flags: string): RegExp {
  const source = pattern
    .replace(/[.+^${}()|[\]\\/]/g, "\\$&")
    .replace(/\*+/g, ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, flags);
}

/** The regular expression, in RE2's syntax, of a text with wildcards. */
export const wildcardRegex = (pattern: string): string =>
  `(?s)^${pattern
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
