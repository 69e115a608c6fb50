import { RE2JS } from "re2js";
import type { Builtin } from "./builtin.js";
import { integerOf, textOf } from "./operands.js";

/** `regex.*` and `glob.quote_meta`, in linear time (RE2). */
export const regexBuiltins: Readonly<Record<string, Builtin>> = {
  "regex.split": (pattern, text) => split(textOf(pattern, "regex.split"), textOf(text, "regex.split")),
  "regex.find_n": (pattern, text, limit) =>
    matches(
      textOf(pattern, "regex.find_n"),
      textOf(text, "regex.find_n"),
      Number(integerOf(limit, "regex.find_n")),
    ).map((match) => match.text),
  "regex.template_match": (template, text, start, end) =>
    templateMatch(
      textOf(template, "regex.template_match"),
      textOf(text, "regex.template_match"),
      textOf(start, "regex.template_match"),
      textOf(end, "regex.template_match"),
    ),
  "glob.quote_meta": (text) => textOf(text, "glob.quote_meta").replaceAll(/[*?\\[\]{}]/g, "\\$&"),
};

interface Match {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** All matches from left to right as Go finds them: an empty match right behind another match does not count. A negative limit is none. */
function matches(pattern: string, text: string, limit: number): Match[] {
  const matcher = RE2JS.compile(pattern).matcher(text);
  const found: Match[] = [];
  let previousEnd = -1;
  while (found.length !== limit && matcher.find()) {
    const match = { text: matcher.group() ?? "", start: matcher.start(), end: matcher.end() };
    if (match.start !== match.end || match.start !== previousEnd) found.push(match);
    previousEnd = match.end;
  }
  return found;
}

/** As Go's Regexp.Split without limit. */
function split(pattern: string, text: string): string[] {
  const found = matches(pattern, text, -1);
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
function templateMatch(template: string, text: string, start: string, end: string): boolean {
  if (![start, end].every((delimiter) => Buffer.byteLength(delimiter) === 1))
    throw new Error("regex.template_match: a delimiter must be one byte");
  let pattern = "^";
  let rest = 0;
  for (const [open, close] of delimited(template, start, end)) {
    pattern += `${RE2JS.quote(template.slice(rest, open))}(${template.slice(open + 1, close)})`;
    rest = close + 1;
  }
  return RE2JS.compile(`${pattern}${RE2JS.quote(template.slice(rest))}$`)
    .matcher(text)
    .find();
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
