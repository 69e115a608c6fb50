/**
 * Adapts RE2 patterns as Go reads them to the regular expression library, where the two differ: names of Unicode classes, names of groups (which
 * Go allows to repeat), and the size a pattern may grow to.
 */

/**
 * The names that `\\p{…}` takes: general categories, their long names and scripts, compared without case, spaces, `_` and `-`.
 * Scripts whose usual spelling has an underscore or a second capital are not found by the reference, so they are missing here too.
 */
const CATEGORIES = `
C Cc Cf Cn Co Cs L LC Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs
`;

const LONG_NAMES = `
Casedletter=LC Closepunctuation=Pe Cntrl=Cc Combiningmark=M Connectorpunctuation=Pc Control=Cc Currencysymbol=Sc
Dashpunctuation=Pd Decimalnumber=Nd Digit=Nd Enclosingmark=Me Finalpunctuation=Pf Format=Cf
Initialpunctuation=Pi Letter=L Letternumber=Nl Lineseparator=Zl Lowercaseletter=Ll Mark=M Mathsymbol=Sm
Modifierletter=Lm Modifiersymbol=Sk Nonspacingmark=Mn Number=N Openpunctuation=Ps Other=C Otherletter=Lo
Othernumber=No Otherpunctuation=Po Othersymbol=So Paragraphseparator=Zp Privateuse=Co Punct=P Punctuation=P
Separator=Z Spaceseparator=Zs Spacingmark=Mc Surrogate=Cs Symbol=S Titlecaseletter=Lt Unassigned=Cn
Uppercaseletter=Lu
`;

const SCRIPTS = `
Adlam Ahom Arabic Armenian Avestan Balinese Bamum Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid
Carian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Dogra
Duployan Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi Han Hangul Hanunoo
Hatran Hebrew Hiragana Inherited Javanese Kaithi Kannada Katakana Kawi Kharoshthi Khmer Khojki Khudawadi Lao
Latin Lepcha Limbu Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Medefaidrin Miao
Modi Mongolian Mro Multani Myanmar Nabataean Nandinagari Newa Nko Nushu Ogham Oriya Osage Osmanya Palmyrene
Phoenician Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham Sinhala Sogdian Soyombo Sundanese Syriac
Tagalog Tagbanwa Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai
Vithkuqi Wancho Yezidi Yi
`;

const words = (text: string): readonly string[] => text.trim().split(/\s+/);
const fold = (name: string): string => name.toLowerCase().replace(/[-_ ]/g, "");

const byFoldedName: ReadonlyMap<string, string> = new Map([
  ...words(LONG_NAMES)
    .map((pair) => pair.split("=") as [string, string])
    .map(([long, short]) => [fold(long), short] as const),
  ...words(SCRIPTS).map((name) => [fold(name), name] as const),
  ...words(CATEGORIES).map((name) => [fold(name), name] as const),
  ["any", "Any"] as const,
  ["assigned", "Assigned"] as const,
  ["ascii", "ASCII"] as const,
]);

/** The proper spelling of a name of a Unicode class; `undefined` when there is no such class. */
const unicodeClassName = (name: string): string | undefined => byFoldedName.get(fold(name));

/** A pattern for the library. */
export interface Rewritten {
  readonly pattern: string;
  /** The changes, in order: the place of each piece in `pattern`, and the text that stood there before. */
  readonly changes: readonly { readonly start: number; readonly end: number; readonly original: string }[];
  /** About the number of instructions it compiles to. */
  readonly size: number;
  /** About the time of compiling, counted in ordinary characters. */
  readonly effort: number;
}

/** Escapes, quoted text, groups, repetitions and brackets; everything else is a literal character. */
const TOKEN =
  /\\Q[\s\S]*?(?:\\E|$)|\\[pP](?:\{[^}]*(?:\}|$)|[\s\S]|$)|\\x\{[0-9a-fA-F]*\}|\\[\s\S]?|\(\?P?<[A-Za-z0-9_]+>|\[:\^?[a-z]+:\]|\{[0-9]+(?:,[0-9]*)?\}|[\s\S]/gu;

/** Stands for a class name that Go does not know, so that the library refuses it too. */
const UNKNOWN = "\\p{?}";

/** The time of compiling a Unicode class, of hundreds of ranges, counted in characters. */
const CLASS_EFFORT = 20;

/** Rewrites a pattern. Malformed ones are left for the library to refuse. */
export function rewrite(source: string): Rewritten {
  const changes: { start: number; end: number; original: string }[] = [];
  const size = new SizeEstimate();
  const names = new Set<string>();
  let pattern = "";
  let inClass = false;
  let effort = source.length;
  let classStart = 0;
  for (const [token] of source.matchAll(TOKEN)) {
    let text = token;
    if (/^\\[pP]/.test(token)) {
      text = unicodeClass(token, inClass);
      effort += CLASS_EFFORT;
    } else if (!inClass && token.startsWith("(?") && token.endsWith(">")) {
      const name = token.slice(token.indexOf("<"));
      if (names.has(name)) text = "(";
      names.add(name);
    }
    if (text !== token) changes.push({ start: pattern.length, end: pattern.length + text.length, original: token });
    if (inClass) {
      // A bracket that stands first in a class is a character.
      if (token === "]" && !/^\^?$/.test(pattern.slice(classStart))) inClass = false;
    } else if (token === "[") {
      inClass = true;
      classStart = pattern.length + 1;
      size.atom(1);
    } else size.token(token);
    pattern += text;
  }
  return { pattern, changes, size: size.total(), effort };
}

/** `\p{greek}` in the spelling the library knows. */
function unicodeClass(token: string, inClass: boolean): string {
  const match = /^\\([pP])(?:\{(\^?)([^}]*)\}|([A-Za-z]))$/.exec(token);
  if (match === null) return token;
  const [, letter, caret = "", braced, single] = match;
  const name = unicodeClassName(braced ?? single ?? "");
  if (name === undefined) return UNKNOWN;
  if (name !== "ASCII" && (name === braced || name === single)) return token;
  const negated = (letter === "P") !== (caret === "^");
  if (name !== "ASCII") return `\\${negated ? "P" : "p"}{${name}}`;
  const range = negated ? "\\x{80}-\\x{10FFFF}" : "\\x00-\\x7F";
  return inClass ? range : `[${range}]`;
}

/** The greatest count of a repetition; greater ones, and a repetition of a repetition, are errors that the library finds. */
const MAX_COUNT = 1000;

/** Counts the characters of a pattern, each as often as the repetitions around it allow. */
class SizeEstimate {
  /** The sizes of the groups that are open, innermost last, and of the item that a repetition would apply to. */
  readonly #open: number[] = [0];
  #last = 0;
  #repeated = false;

  /** An item of a given size. */
  atom(size: number): void {
    this.#open.push((this.#open.pop() ?? 0) + this.#last);
    this.#last = size;
  }

  token(token: string): void {
    if (token === "(" || token.startsWith("(?")) {
      this.atom(0);
      this.#open.push(1);
    } else if (token === ")") {
      this.atom(0);
      this.#last = this.#open.length > 1 ? (this.#open.pop() ?? 0) : 1;
    } else if (/^\{[0-9]/.test(token)) {
      const count = Math.max(1, ...(token.match(/[0-9]+/g) ?? []).map(Number));
      if (count <= MAX_COUNT && !this.#repeated) this.#last *= count;
      this.#repeated = true;
      return;
    } else this.atom(token.startsWith("\\Q") ? token.length : 1);
    this.#repeated = false;
  }

  total(): number {
    return this.#open.reduce((sum, size) => sum + size, this.#last);
  }
}

/** A fragment of the rewritten pattern, as an error quotes it, in the spelling of the source. */
export function originalFragment(source: string, { pattern, changes }: Rewritten, fragment: string): string {
  const unknown = changes.find((change) => pattern.slice(change.start, change.end) === fragment);
  if (unknown !== undefined) return unknown.original;
  const start = pattern.endsWith(fragment) ? pattern.length - fragment.length : pattern.indexOf(fragment);
  if (start === -1) return fragment;
  const originalIndex = (index: number): number =>
    changes
      .filter(({ end }) => end <= index)
      .reduce((sum, change) => sum + change.original.length - (change.end - change.start), index);
  return source.slice(originalIndex(start), originalIndex(start + fragment.length));
}
