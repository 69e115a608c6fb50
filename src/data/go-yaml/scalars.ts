/** What go-yaml makes of a text before it prints it: what the text would be read as, and which styles can hold it. */

/** Which styles can hold a text. */
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

/** Whether a text that stands there without quotes is read as a text again. */
export function isPlainText(text: string): boolean {
  if (text === "" || WORDS.has(text) || TIMESTAMP.test(text) || BASE_60.test(text)) return false;
  if (text.startsWith(".")) return !FLOAT.test(text);
  if (!/^[+\-\d]/.test(text)) return true;
  const plain = text.replaceAll("_", "");
  return !(INTEGER.test(plain) || (FLOAT.test(plain) && Number.isFinite(Number(plain))));
}

/** Line breaks as YAML 1.1 has them. */
export function isBreak(character: string | undefined): boolean {
  return character !== undefined && "\n\r\u0085\u2028\u2029".includes(character);
}

/** Whether a character stands for itself; the others need double quotes. */
export function isPrintable(character: string): boolean {
  return /^[\n\u0020-\u007e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]$/u.test(character);
}

/** In which styles a text may be written. */
export function analyze(text: string): ScalarAnalysis {
  if (text === "") return { multiline: false, plain: true, single: true, block: false };
  const characters = Array.from(text);
  const multiline = characters.some(isBreak);
  const special = !characters.every(isPrintable) || hasPair(characters, isSpace, isBreak);
  const breakThenSpace = hasPair(characters, isBreak, isSpace);
  const [first, last] = [characters[0], characters.at(-1)];
  const edged = isSpace(first) || isBreak(first) || isSpace(last) || isBreak(last);
  return {
    multiline,
    plain: !(multiline || special || edged || hasIndicators(text)),
    single: !(special || breakThenSpace),
    block: !(special || isSpace(last)),
  };
}

/** Characters that mean something to a reader of block style, at their places. */
function hasIndicators(text: string): boolean {
  return (
    /^(?:---|\.\.\.)/.test(text) ||
    /^[#,[\]{}&*!|>'"%@`]/.test(text) ||
    /^[?:-](?:[\s\u0085\u2028\u2029]|$)/.test(text) ||
    /.:(?:[\s\u0085\u2028\u2029]|$)/s.test(text) ||
    /[\s\u0085\u2028\u2029]#/.test(text)
  );
}

function isSpace(character: string | undefined): boolean {
  return character === " ";
}

type Test = (character: string | undefined) => boolean;

function hasPair(characters: readonly string[], before: Test, after: Test): boolean {
  return characters.some((character, index) => before(character) && after(characters[index + 1]));
}
