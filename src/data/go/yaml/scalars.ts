/** Analyses a text before go-yaml prints it: how it would be read, and the possible styles. */

/** The possible styles of a text. */
export interface ScalarAnalysis {
  readonly multiline: boolean;
  readonly plain: boolean;
  readonly single: boolean;
  readonly block: boolean;
}

const WORDS = new Set(
  [
    "y Y yes Yes YES true True TRUE on On ON n N no No NO false False FALSE off Off OFF ~ null Null NULL",
    ".nan .NaN .NAN .inf .Inf .INF +.inf +.Inf +.INF -.inf -.Inf -.INF",
  ]
    .join(" ")
    .split(" "),
);
const TIMESTAMP =
  /^\d{4}-\d{1,2}-\d{1,2}(?:[Tt]\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})| \d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?)?$/;
const INTEGER = /^[+-]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9]\d*)$/;
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const BASE_60 = /^[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?$/;

/** Whether a text without quotes is read as a text again. */
export function isPlainText(text: string): boolean {
  if (text === "" || WORDS.has(text) || TIMESTAMP.test(text) || BASE_60.test(text)) return false;
  if (text.startsWith(".")) return !FLOAT.test(text);
  if (!/^[+\-\d]/.test(text)) return true;
  const plain = text.replaceAll("_", "");
  return !(INTEGER.test(plain) || (FLOAT.test(plain) && Number.isFinite(Number(plain))));
}

const BREAK = /[\n\r\u0085\u2028\u2029]/;

/** Whether a character is a line break of YAML 1.1. */
export function isBreak(character: string | undefined): boolean {
  return character !== undefined && BREAK.test(character);
}

/** Characters that stand for themselves; all others need double quotes. */
const PRINTABLE = /^[\n\u0020-\u007e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]*$/u;

/** Whether all characters of a text stand for themselves. */
export const isPrintable = (text: string): boolean => PRINTABLE.test(text);

/** The possible styles of a text. */
export function analyze(text: string): ScalarAnalysis {
  if (text === "") return { multiline: false, plain: true, single: true, block: false };
  const multiline = BREAK.test(text);
  const special = !isPrintable(text) || / [\n\r\u0085\u2028\u2029]/.test(text);
  return {
    multiline,
    plain: !(multiline || special || /^ | $/.test(text) || hasIndicators(text)),
    single: !(special || /[\n\r\u0085\u2028\u2029] /.test(text)),
    block: !(special || text.endsWith(" ")),
  };
}

/** Whether a text has characters with a meaning in block style, at such places. */
function hasIndicators(text: string): boolean {
  return (
    /^(?:---|\.\.\.)/.test(text) ||
    /^[#,[\]{}&*!|>'"%@`]/.test(text) ||
    /^[?:-](?:[\s\u0085\u2028\u2029]|$)/.test(text) ||
    /.:(?:[\s\u0085\u2028\u2029]|$)/s.test(text) ||
    /[\s\u0085\u2028\u2029]#/.test(text)
  );
}
