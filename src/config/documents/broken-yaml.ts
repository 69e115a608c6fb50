/**
 * Reads a text that is not YAML as far as possible: cut where no part can reach into the next. So one run reports the errors of all parts.
 */
import { readYamlTrees, type YamlError } from "../../data/yaml.js";

/** Most syntax errors that are reported of one file: with more, the file is something else. */
const MAX_BROKEN = 20;
/** A key that begins in the first column: of the map that the whole file is. */
const KEY = /^(?:"([^"\\\n]+)"|'([^'\n]+)'|([^\s#,[\]{}&*!|>'"%@`:-][^\n]*?))[ \t]*:(?=\s|$)/gm;
/** An anchor, by which one part may refer to another. */
const ANCHOR = /(?:^|[\s,[{])&[^&\s]/;

/** The error of one part of a text. */
export interface BrokenPart {
  /** 1-based, in the whole text. */
  readonly line: number;
  readonly column: number;
  readonly error: YamlError;
}

/** A configuration without the entries that are not YAML. */
export interface WithoutBroken {
  /** The text with nothing in their place: all other lines keep their places. */
  readonly text: string;
  /** The names of those entries. */
  readonly names: readonly string[];
  readonly broken: readonly BrokenPart[];
}

/** Cuts a map at its keys; undefined where that is not safe, or does not help. */
export function withoutBrokenEntries(text: string): WithoutBroken | undefined {
  if (ANCHOR.test(text)) return undefined;
  const keys = [...text.matchAll(KEY)];
  const names: string[] = [];
  const broken: BrokenPart[] = [];
  let rest = text.slice(0, keys[0]?.index ?? 0);
  for (const [at, key] of keys.entries()) {
    const part = text.slice(key.index, keys[at + 1]?.index ?? text.length);
    const { error } = readYamlTrees(part);
    if (error !== undefined) {
      broken.push(placed(error, text, key.index));
      names.push(key[1] ?? key[2] ?? key[3] ?? "");
    }
    rest += error === undefined ? part : part.replace(/[^\r\n]/g, " ");
  }
  if (broken.length === 0 || broken.length > MAX_BROKEN || readYamlTrees(rest).error !== undefined) return undefined;
  return { text: rest, names, broken };
}

/** The error of each document of a text of several, the first of them at `first`. Documents end with a line that begins with three dashes. */
export function brokenDocuments(text: string, first: YamlError): readonly BrokenPart[] {
  const whole = { line: first.line, column: first.column, error: first };
  if (text.trimStart().startsWith("{")) return [whole];
  const starts = [0, ...[...text.matchAll(/^---(?=\s|$)/gm)].map(({ index }) => index)];
  const broken: BrokenPart[] = [];
  for (const [at, start] of starts.entries()) {
    const { error } = readYamlTrees(text.slice(start, starts[at + 1]));
    if (error !== undefined) broken.push(placed(error, text, start));
    if (broken.length >= MAX_BROKEN) break;
  }
  // Cut so, another error is found first: then only the one found in the whole is certain.
  return broken[0]?.line === whole.line ? broken : [whole];
}

function placed(error: YamlError, text: string, start: number): BrokenPart {
  const before = text.slice(0, start).match(/\r\n|\n|\r/g)?.length ?? 0;
  return { line: error.line + before, column: error.column, error };
}
