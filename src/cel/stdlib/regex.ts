/** The regex extension, outside Kubernetes only (spec kubernetes-cel.md 4.14). */

import { quoted } from "../../data/go/quoted-text.js";
import type { Library } from "../declarations.js";
import { fn, overload, overloadFn } from "../declare.js";
import type { Match, PatternCache } from "../pattern/pattern.js";
import { INT, listType, optionalType, STRING } from "../types.js";
import { CelError } from "../values/cel-error.js";
import { MAX_TEXT_LENGTH, tooLarge } from "../values/limits.js";
import { Optional, type Result } from "../values/value.js";

/** A replacement: texts as they are, and numbers of groups (0 is the whole match). */
type Replacement = readonly (string | number)[];

/** Reads a replacement: `\1` stands for a group, `\\` for a backslash. */
function parseReplacement(replacement: string, groupCount: number): Replacement | CelError {
  const parts: (string | number)[] = [];
  for (const [part] of replacement.matchAll(/[^\\]+|\\[\s\S]?/gu)) {
    const escaped = part[1];
    if (!part.startsWith("\\")) parts.push(part);
    else if (escaped === "\\") parts.push(escaped);
    else if (escaped !== undefined && /[0-9]/.test(escaped)) {
      if (Number(escaped) > groupCount) {
        return new CelError(`replacement string references group ${escaped} but regex has only ${groupCount} group(s)`);
      }
      parts.push(Number(escaped));
    } else {
      const reason = escaped === undefined ? "not allowed at end" : "must be followed by a digit or \\";
      return new CelError(`invalid replacement string: '${replacement}' \\ ${reason}`);
    }
  }
  return parts;
}

const replacementOf = (text: string, match: Match, replacement: Replacement): string =>
  replacement
    .map((part) => {
      if (typeof part === "string") return part;
      return part === 0 ? text.slice(match.start, match.end) : (match.groups[part - 1] ?? "");
    })
    .join("");

/** `regex.replace`, `regex.extract` and `regex.extractAll`; patterns are kept in the cache. */
export function regexLibrary(patterns: PatternCache): Library {
  function replace(text: string, source: string, replacement: string, limit: number | bigint = -1): Result {
    if (limit === 0) return text;
    const pattern = patterns.get(source);
    if (pattern instanceof CelError) return pattern;
    const matches = pattern.matches(text, limit < 0 ? Number.POSITIVE_INFINITY : Number(limit), true);
    if (matches instanceof CelError) return matches;
    if (matches.length === 0) return text;
    const parsed = parseReplacement(replacement, pattern.groupCount);
    if (parsed instanceof CelError) return parsed;
    let result = "";
    let position = 0;
    for (const match of matches) {
      result += text.slice(position, match.start) + replacementOf(text, match, parsed);
      if (result.length > MAX_TEXT_LENGTH) return tooLarge();
      position = match.end;
    }
    return result + text.slice(position);
  }

  /** All matches or the first one: the group's text where there is a group, which then must not be empty. */
  function extractUpTo(text: string, source: string, limit: number): readonly string[] | CelError {
    const pattern = patterns.get(source);
    if (pattern instanceof CelError) return pattern;
    if (pattern.groupCount > 1) {
      return new CelError(`regular expression has more than one capturing group: ${quoted(source)}`);
    }
    const grouped = pattern.groupCount === 1;
    const matches = pattern.matches(text, limit, grouped);
    if (matches instanceof CelError) return matches;
    return matches
      .map(({ start, end, groups }) => (grouped ? groups[0] : text.slice(start, end)))
      .filter((part): part is string => part !== undefined && !(grouped && part === ""));
  }

  function extract(text: string, source: string): Result {
    const found = extractUpTo(text, source, 1);
    if (found instanceof CelError) return found;
    return found[0] === undefined ? Optional.NONE : Optional.of(found[0]);
  }

  const extractAll = (text: string, source: string): Result => extractUpTo(text, source, Number.POSITIVE_INFINITY);

  return {
    name: "regex",
    functions: [
      overloadFn("regex.extract", "regex_extract_string_string", [STRING, STRING], optionalType(STRING), extract),
      overloadFn("regex.extractAll", "regex_extractAll_string_string", [STRING, STRING], listType(STRING), extractAll),
      fn(
        "regex.replace",
        overload("regex_replace_string_string_string", [STRING, STRING, STRING], STRING, replace),
        overload("regex_replace_string_string_string_int", [STRING, STRING, STRING, INT], STRING, replace),
      ),
    ],
  };
}
