/**
 * A text that is no YAML, as far as it can be read: cut where nothing of one part can reach into the next. So one run says what is wrong with all of them.
 */
import { readYamlTrees, type YamlError } from "../../data/yaml.js";

/** Most mistakes of form that are told of one file: somebody who has more has another problem. */
const MAX_BROKEN = 20;
/** A key that begins in the first column: of the map that the whole file is. */
const KEY = /^(?:"([^"\\\n]+)"|'([^'\n]+)'|([^\s#,[\]{}&*!|>'"%@`:-][^\n]*?))[ \t]*:(?=\s|$)/gm;
/** An anchor: what one part says may stand for something in another. */
const ANCHOR = /(?:^|[\s,[{])&[^&\s]/;

/** What is wrong with one part of a text. */
export interface BrokenPart {
  /** 1-based, in the whole text. */
  readonly line: number;
  readonly column: number;
  readonly error: YamlError;
}

/** A configuration without the entries that are no YAML. */
export interface WithoutBroken {
  /** The text with nothing in their place: all else stands where it stood. */
  readonly text: string;
  /** Their names. */
  readonly names: readonly string[];
  readonly broken: readonly BrokenPart[];
}

/** Cuts a map at its keys; undefined where that is not sound, or does not help. */
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

/** What is wrong with each document of a text of several, the first of them at `first`. Documents end with a line that begins with three dashes. */
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
  // Cut so, something else is found first: then only what is found in the whole is sure.
  return broken[0]?.line === whole.line ? broken : [whole];
}

function placed(error: YamlError, text: string, start: number): BrokenPart {
  const before = text.slice(0, start).match(/\r\n|\n|\r/g)?.length ?? 0;
  return { line: error.line + before, column: error.column, error };
}
