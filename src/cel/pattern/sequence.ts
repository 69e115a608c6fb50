/**
 * Whether a text matches a simple pattern: single characters and classes in sequence, each with `?`, `*` or `+`, perhaps anchored. Most patterns of
 * policies are like that (`^[a-z0-9-]+$`), and an automaton of a few states decides it in one pass, at a few nanoseconds a character. Any other
 * pattern is left to RE2.
 */

/** Most items: positions fit in the bits of a small integer. */
const MAX_ITEMS = 24;
/** States kept; a pattern that needs more starts afresh. */
const MAX_STATES = 256;
/** The class of all characters beyond ASCII; each ASCII character is its own class. */
const OTHER = 128;
const CLASSES = 129;

/** One character or class; `accepts[c]` for ASCII, `accepts[OTHER]` for the rest. */
interface Item {
  readonly accepts: readonly boolean[];
  readonly optional: boolean;
  readonly repeated: boolean;
}

/** A test for the pattern, equal to RE2's; `undefined` when the pattern is not simple. `source` is a valid pattern. */
export function sequenceTest(source: string): ((text: string) => boolean) | undefined {
  const start = source.startsWith("^");
  const end = source.endsWith("$") && !source.endsWith("\\$");
  const items = parseItems(source.slice(start ? 1 : 0, end ? -1 : source.length));
  if (items === undefined || items.length > MAX_ITEMS) return undefined;
  const automaton = new Automaton(items, start);
  return (text) => automaton.test(text, end);
}

/** Sets of positions as states, made as texts reach them. Position `i` waits for item `i`; the last is the match. */
class Automaton {
  readonly #masks: Int32Array;
  readonly #repeated: number;
  readonly #optional: number;
  readonly #match: number;
  readonly #initial: number;
  #indexes = new Map<number, number>();
  #states: number[] = [];
  #next: Int32Array[] = [];

  readonly #anchored: boolean;

  constructor(items: readonly Item[], anchored: boolean) {
    this.#anchored = anchored;
    this.#masks = new Int32Array(CLASSES);
    for (let c = 0; c < CLASSES; c++) this.#masks[c] = bits(items, ({ accepts }) => accepts[c] === true);
    this.#repeated = bits(items, ({ repeated }) => repeated);
    this.#optional = bits(items, ({ optional }) => optional);
    this.#match = 1 << items.length;
    this.#initial = this.#close(1);
    this.#state(this.#initial);
  }

  test(text: string, toEnd: boolean): boolean {
    const match = this.#match;
    let state = 0;
    if (!toEnd && (this.#initial & match) !== 0) return true;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      // The halves of a surrogate pair are one character.
      if ((unit & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) i++;
      const character = unit < OTHER ? unit : OTHER;
      let next = (this.#next[state] as Int32Array)[character] as number;
      if (next < 0) next = this.#step(state, character);
      state = next;
      const positions = this.#states[state] as number;
      if (!toEnd && (positions & match) !== 0) return true;
      if (positions === 0) return false;
    }
    return ((this.#states[state] as number) & match) !== 0;
  }

  #step(state: number, character: number): number {
    const taken = (this.#states[state] as number) & (this.#masks[character] as number);
    const reached = this.#close((taken & this.#repeated) | (taken << 1));
    const positions = this.#anchored ? reached : reached | this.#initial;
    if (this.#states.length >= MAX_STATES && !this.#indexes.has(positions)) {
      // The kept states are dropped, except the initial one and the one that is reached.
      this.#indexes = new Map();
      this.#states = [];
      this.#next = [];
      this.#state(this.#initial);
      return this.#state(positions);
    }
    const next = this.#state(positions);
    (this.#next[state] as Int32Array)[character] = next;
    return next;
  }

  #state(positions: number): number {
    const known = this.#indexes.get(positions);
    if (known !== undefined) return known;
    const index = this.#states.length;
    this.#indexes.set(positions, index);
    this.#states.push(positions);
    this.#next.push(new Int32Array(CLASSES).fill(-1));
    return index;
  }

  /** Adds the positions behind optional items. */
  #close(positions: number): number {
    let closed = positions;
    for (;;) {
      const more = closed | ((closed & this.#optional) << 1);
      if (more === closed) return closed;
      closed = more;
    }
  }
}

function bits(items: readonly Item[], holds: (item: Item) => boolean): number {
  return items.reduce((mask, item, index) => (holds(item) ? mask | (1 << index) : mask), 0);
}

const SPECIAL = new Set("()|{}[]*+?^$\\.");
const isDigit = (c: number): boolean => c >= 48 && c <= 57;
const isWord = (c: number): boolean => isDigit(c) || (c >= 65 && c <= 90) || (c >= 97 && c <= 122) || c === 95;
const isSpace = (c: number): boolean => c === 32 || c === 9 || c === 10 || c === 12 || c === 13;

const accepting = (holds: (c: number) => boolean, other: boolean): boolean[] =>
  Array.from({ length: CLASSES }, (_, c) => (c === OTHER ? other : holds(c)));

function parseItems(body: string): readonly Item[] | undefined {
  // Beyond ASCII a character is not a class of its own here.
  if (!/^[ -~]*$/.test(body)) return undefined;
  const items: Item[] = [];
  let at = 0;
  while (at < body.length) {
    const atom = parseAtom(body, at);
    if (atom === undefined) return undefined;
    at = atom.end;
    const quantifier = body[at] ?? "";
    const quantified = "*+?".includes(quantifier) && quantifier !== "";
    if (quantified) at += 1;
    // Lazy and double quantifiers are left to RE2.
    if (quantified && "*+?".includes(body[at] ?? " ")) return undefined;
    const optional = quantifier === "*" || quantifier === "?";
    items.push({ accepts: atom.accepts, optional, repeated: quantifier === "*" || quantifier === "+" });
  }
  return items;
}

interface Atom {
  readonly accepts: readonly boolean[];
  readonly end: number;
}

function parseAtom(body: string, at: number): Atom | undefined {
  const character = body[at] as string;
  if (character === ".") return { accepts: accepting((c) => c !== 10, true), end: at + 1 };
  if (character === "\\") {
    const accepts = escaped(body[at + 1] ?? "");
    return accepts === undefined ? undefined : { accepts, end: at + 2 };
  }
  if (character === "[") return parseClass(body, at + 1);
  if (SPECIAL.has(character)) return undefined;
  return { accepts: accepting((c) => c === character.charCodeAt(0), false), end: at + 1 };
}

/** The class of `\d`, `\w`, `\s`, or of an escaped punctuation mark. */
function escaped(letter: string): boolean[] | undefined {
  if (letter === "d") return accepting(isDigit, false);
  if (letter === "w") return accepting(isWord, false);
  if (letter === "s") return accepting(isSpace, false);
  if (letter === "" || isWord(letter.charCodeAt(0))) return undefined;
  return accepting((c) => c === letter.charCodeAt(0), false);
}

/** A class from behind its bracket: single characters, ranges and escapes. Named classes are left to RE2. */
function parseClass(body: string, from: number): Atom | undefined {
  const negated = body[from] === "^";
  let at = negated ? from + 1 : from;
  const members = accepting(() => false, false);
  const first = at;
  while (at < body.length && (body[at] !== "]" || at === first)) {
    const character = body[at] as string;
    if (character === "[" || (character === "]" && at === first)) return undefined;
    if (character === "\\") {
      const accepts = escaped(body[at + 1] ?? "");
      if (accepts === undefined || body[at + 2] === "-") return undefined;
      for (let c = 0; c < OTHER; c++) if (accepts[c] === true) members[c] = true;
      at += 2;
      continue;
    }
    let last = character;
    if (body[at + 1] === "-" && body[at + 2] !== "]") {
      last = body[at + 2] ?? "";
      if (last === "" || last === "\\" || last === "[") return undefined;
      at += 2;
    }
    for (let c = character.charCodeAt(0); c <= last.charCodeAt(0); c++) members[c] = true;
    at += 1;
  }
  if (body[at] !== "]") return undefined;
  return { accepts: negated ? members.map((member) => !member) : members, end: at + 1 };
}
