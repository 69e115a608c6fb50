import { RE2JS } from "re2js";
import type { Builtin, BuiltinEnvironment } from "./builtin.js";
import { integerOf, textOf } from "./operands.js";

type Work = BuiltinEnvironment["work"];

/** Most characters of a pattern: one of this many Unicode classes takes half a second to compile, without interruption. */
const LONGEST_PATTERN = 32 * 1024;
/** Instructions of a pattern times characters of a text: the worst takes some seconds, most a twentieth of that, and a search can't be interrupted either. */
const MOST_STEPS = 100_000_000;
/** Units of work for one search, beside the characters found. */
const SEARCH = 100;
/** Units of work for a pattern, however short. */
const PATTERN = 10_000;

const tooLong = (): Error => new Error(`regex: a pattern is longer than ${LONGEST_PATTERN} characters`);

/** `regex.*` and `glob.quote_meta`, in linear time (RE2). */
export const regexBuiltins = (work: Work): Readonly<Record<string, Builtin>> => ({
  "regex.split": (pattern, text) => split(textOf(pattern, "regex.split"), textOf(text, "regex.split"), work),
  "regex.find_n": (pattern, text, limit) =>
    matches(
      textOf(pattern, "regex.find_n"),
      textOf(text, "regex.find_n"),
      Number(integerOf(limit, "regex.find_n")),
      work,
    ).map((match) => match.text),
  "regex.template_match": (template, text, start, end) =>
    templateMatch(
      textOf(template, "regex.template_match"),
      textOf(text, "regex.template_match"),
      textOf(start, "regex.template_match"),
      textOf(end, "regex.template_match"),
      work,
    ),
  "glob.quote_meta": (text) => textOf(text, "glob.quote_meta").replaceAll(/[*?\\[\]{}]/g, "\\$&"),
});

/** Compiles a pattern for a text. @throws when it is invalid, or both together would take too long */
function compiled(pattern: string, text: string): RE2JS {
  if (pattern.length > LONGEST_PATTERN) throw tooLong();
  const program = RE2JS.compile(pattern);
  if (program.programSize() * text.length > MOST_STEPS)
    throw new Error("regex: the pattern is too large for so long a text");
  return program;
}

interface Match {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** All matches from left to right as Go finds them: an empty match right behind another match does not count. A negative limit means no limit. */
function matches(pattern: string, text: string, limit: number, work: Work): Match[] {
  const matcher = compiled(pattern, text).matcher(text);
  const found: Match[] = [];
  let previousEnd = -1;
  while (found.length !== limit && matcher.find()) {
    const match = { text: matcher.group() ?? "", start: matcher.start(), end: matcher.end() };
    if (match.start !== match.end || match.start !== previousEnd) found.push(match);
    previousEnd = match.end;
    work(SEARCH + match.text.length);
  }
  return found;
}

/** As Go's Regexp.Split without limit. */
function split(pattern: string, text: string, work: Work): string[] {
  const found = matches(pattern, text, -1, work);
  if (pattern.length > 0 && text.length === 0) return [""];
  const parts: string[] = [];
  let begin = 0;
  let end = 0;
  for (const match of found) {
    end = match.start;
    if (match.end !== 0) parts.push(text.slice(begin, end));
    begin = match.end;
  }
  if (end !== text.length) parts.push(text.slice(begin));
  return parts;
}

/** Everything outside of the delimiters is literal, everything inside a pattern. */
function templateMatch(template: string, text: string, start: string, end: string, work: Work): boolean {
  if (template.length > LONGEST_PATTERN) throw tooLong();
  if (![start, end].every((delimiter) => Buffer.byteLength(delimiter) === 1))
    throw new Error("regex.template_match: a delimiter must be one byte");
  let pattern = "^";
  let rest = 0;
  for (const [open, close] of delimited(template, start, end)) {
    const inner = template.slice(open + 1, close);
    // Each must be a pattern by itself: in `a)(b` only the whole is one.
    compiled(`^${inner}$`, "");
    work(PATTERN);
    pattern += `${RE2JS.quote(template.slice(rest, open))}(${inner})`;
    rest = close + 1;
  }
  const whole = `${pattern}${RE2JS.quote(template.slice(rest))}$`;
  return compiled(whole, text).matcher(text).find();
}

/** The outermost pairs of delimiters. */
function delimited(template: string, start: string, end: string): [number, number][] {
  const pairs: [number, number][] = [];
  let depth = 0;
  let open = 0;
  for (let index = 0; index < template.length; index++) {
    if (template[index] === start) {
      if (depth === 0) open = index;
      depth++;
    } else if (template[index] === end) {
      depth--;
      if (depth === 0) pairs.push([open, index]);
      if (depth < 0) break;
    }
  }
  if (depth !== 0) throw new Error(`regex.template_match: unbalanced delimiters in ${JSON.stringify(template)}`);
  return pairs;
}
