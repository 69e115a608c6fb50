/**
 * Prints all YAML for others. Readers of YAML 1.1, such as kubectl, and of 1.2 read the printed values, and it contains nothing that a terminal would
 * interpret.
 */
import { GO_LAYOUT } from "./go/yaml/marshal.js";
import { printWith, type ScalarStyle, type YamlLayout } from "./go/yaml/printer.js";
import { analyze, isPlainText } from "./go/yaml/scalars.js";
import { escaped, isPrintable } from "./printable.js";
import { resolvePlain } from "./yaml/resolve.js";

/**
 * Texts that a reader may take for something else, beside those of go-yaml: merges and defaults of YAML 1.1; its numbers, with
 * underscores and of base 60; its times; numbers of YAML 1.2, the infinite ones of JSON among them.
 */
const OTHER_VALUE = new RegExp(
  [
    /<<|=/,
    /[-+]?0(?:[bB][01_]+|[oO][0-7_]+|[xX][\da-fA-F_]+)/,
    /(?=.*\d)[-+]?(?![_-])[\d_]*(?:\.[\d_]*)?(?:[eE][-+]?\d+)?/,
    /[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?/,
    /\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]|[ \t]+)\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d*)?[ \t]*(?:Z|[-+]\d{1,2}(?::?\d{2})?)?)?/,
  ]
    .map(({ source }) => `^(?:${source})$`)
    .join("|"),
);
/** Most characters of a key: before its colon it has at most 1,024 as it is printed; an escape has six. */
const [LONGEST_PLAIN_KEY, LONGEST_KEY] = [1_000, 160];

/** Whether a text of one line is read as itself without quotes; go-yaml quotes characters beyond 16 bits. */
const isPlain = (text: string): boolean =>
  analyze(text.replace(/[\u{10000}-\u{10ffff}]/gu, "x")).plain &&
  isPlainText(text) &&
  !OTHER_VALUE.test(text) &&
  resolvePlain(text) === text;

/** The style of texts: as in JSON, in double quotes, or in single ones where they contain double ones; lines as they are. */
function styleOf(text: string, simpleKey: boolean): ScalarStyle {
  const isShown = isPrintable(text.replace(/[\n\t]/g, ""));
  // Lines of only blanks are easily taken for indentation.
  if (isShown && text.includes("\n") && !simpleKey && /\S/.test(text) && !/\n[\t ]+$/.test(text)) return "literal";
  if (!isShown || /[\n\t]/.test(text)) return "double";
  if (isPlain(text)) return "plain";
  return text.includes('"') && !text.includes("'") ? "single" : "double";
}

const LAYOUT: YamlLayout = {
  deepLists: true,
  width: Number.POSITIVE_INFINITY,
  styleOf,
  isSimpleKey: (key) => key.length <= (styleOf(key, true) === "plain" ? LONGEST_PLAIN_KEY : LONGEST_KEY),
  escaped: (text) => inlineYaml(text).slice(1, -1),
  wordOf: (value) => withDot(String(value)),
};

/** A number with a dot before its exponent, without which a reader of YAML 1.1 does not accept it. */
const withDot = (number: string): string => number.replace(/^(-?\d+)e/, "$1.0e");

/** The layout of Go programs, but with quotes where another reader needs them. */
const REPORT_LAYOUT: YamlLayout = {
  ...GO_LAYOUT,
  styleOf(text, simpleKey) {
    const style = GO_LAYOUT.styleOf(text, simpleKey);
    if (!isPrintable(text.replaceAll("\n", ""))) return "double";
    return style === "plain" && (OTHER_VALUE.test(text) || resolvePlain(text) !== text) ? "double" : style;
  },
  escaped: (text) => escaped(GO_LAYOUT.escaped(text)),
  wordOf: (value) => withDot(GO_LAYOUT.wordOf(value)),
};

/** A value as a document, with a newline at its end. Keys keep their order; a value that is referred to several times is printed each time. */
export const printYaml = (value: unknown): string => printWith(LAYOUT, value);

/**
 * The same as Go programs print it, with sorted keys: for reports.
 * @param width the column beyond which a text continues on the next line
 */
export const printGoYaml = (value: unknown, width: number = GO_LAYOUT.width): string =>
  printWith({ ...REPORT_LAYOUT, width }, value);

/** A text, or a list or map of texts, on one line: as JSON with the escapes that YAML needs. */
export const inlineYaml = (value: unknown): string => escaped(JSON.stringify(value, wellFormed));

/** Replaces halves of surrogate pairs, which can't be written in YAML, not even escaped. */
const wellFormed = (_key: string, value: unknown): unknown =>
  typeof value === "string" ? value.toWellFormed() : value;

/** A name on one line, without quotes where it needs none. */
export const yamlName = (name: string): string => (isPrintable(name) && isPlain(name) ? name : inlineYaml(name));
