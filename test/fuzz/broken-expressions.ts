/** Conditions as policies have them, over objects whose fields have names that mean nothing, and the ways in which people break them. */
import type { Value } from "../../src/cel/index.js";
import { pick, type Random } from "./random.js";

/** What a field holds. */
type Kind = "text" | "number" | "flag" | "texts" | "entries" | "things" | "amount" | "time";

/** The letters that names of fields begin with. */
const LETTERS: Readonly<Record<Kind, string>> = {
  text: "w",
  number: "n",
  flag: "f",
  texts: "l",
  entries: "e",
  things: "t",
  amount: "a",
  time: "d",
};
const KINDS = Object.keys(LETTERS) as readonly Kind[];
const SYLLABLES = ["ka", "lo", "mi", "ru", "se", "to", "vi", "zu", "ne", "pa"];

/** Conditions about objects of one form, and such objects. */
export class Conditions {
  readonly #next: Random;
  readonly #fields: ReadonlyMap<Kind, readonly string[]>;
  readonly #words: readonly string[];

  constructor(next: Random) {
    this.#next = next;
    this.#words = ["tolu", "q7", ...Array.from({ length: 3 }, () => this.#word())];
    this.#fields = new Map(KINDS.map((kind) => [kind, Array.from({ length: 2 }, () => LETTERS[kind] + this.#word())]));
  }

  #word(): string {
    return Array.from({ length: 2 + this.#next(2) }, () => pick(this.#next, SYLLABLES)).join("");
  }

  #text(): string {
    return pick(this.#next, this.#words);
  }

  #place(kind: Kind): string {
    return `object.spec.${pick(this.#next, this.#fields.get(kind) ?? [])}`;
  }

  /** One of the texts that conditions compare with, or an odd value. */
  word(odd: readonly Value[]): Value {
    return odd.length > 0 && this.#next(3) === 0 ? pick(this.#next, odd) : this.#text();
  }

  /**
   * An object of the form: some fields are absent, and some have another value than they should.
   * @param odd such values
   */
  object(odd: readonly Value[]): Value {
    const next = this.#next;
    const word = (): Value => this.word(odd);
    const list = (): readonly Value[] => Array.from({ length: next(9) }, word);
    const value: Readonly<Record<Kind, () => Value>> = {
      text: () => (next(4) === 0 ? `${this.#text()}-${this.#text()}` : word()),
      number: () => (odd.length > 0 && next(4) === 0 ? pick(next, odd) : next(10) - 2),
      flag: () => next(2) === 0,
      texts: list,
      entries: () => Object.fromEntries(list().map((key) => [String(key), word()])),
      things: () => Array.from({ length: next(4) }, () => ({ name: word(), count: next(8), on: next(2) === 0 })),
      amount: () => pick(next, ["1", "500m", "2Gi", "4"]),
      time: () => pick(next, ["10m", "2h", "3s"]),
    };
    const fields = KINDS.flatMap((kind) => (this.#fields.get(kind) ?? []).map((name) => [name, kind] as const));
    const present = fields.filter(() => next(6) > 0);
    return { kind: word(), spec: Object.fromEntries(present.map(([name, kind]) => [name, value[kind]()])) };
  }

  /** A condition that depends on the object. */
  condition(depth = 2): string {
    const next = this.#next;
    if (depth > 0 && next(2) === 0) {
      const [a, b] = [this.condition(depth - 1), this.condition(depth - 1)];
      return pick(next, [
        `${a} && ${b}`,
        `${a} || ${b}`,
        `!(${a})`,
        `(${a}) ? ${b} : ${this.condition(0)}`,
        `(${a}) && ${b}`,
      ]);
    }
    const word = `'${this.#text()}'`;
    const number = 1 + next(5);
    const text = this.#place("text");
    const [numbers, texts, entries, things] = [
      this.#place("number"),
      this.#place("texts"),
      this.#place("entries"),
      this.#place("things"),
    ];
    return pick(next, [
      `${text} == ${word}`,
      `${text} != ${word}`,
      `object.kind == ${word}`,
      `${text} in [${word}, '${this.#word()}']`,
      `${text}.startsWith(${word})`,
      `${text}.endsWith(${word})`,
      `${text}.contains('-')`,
      `${text}.matches('^[a-z]+$')`,
      `size(${text}) > ${3 + number}`,
      `${numbers} ${pick(next, ["==", "!=", "<", ">", "<=", ">="])} ${number}`,
      `${numbers} + 1 > ${number}`,
      `${numbers} % 2 == 1`,
      this.#place("flag"),
      `!${this.#place("flag")}`,
      `${this.#place("flag")} == true`,
      `has(${text})`,
      `!has(${numbers})`,
      `${word} in ${texts}`,
      `!(${word} in ${texts})`,
      `${texts}.exists(x, x == ${word})`,
      `${texts}.all(x, x.startsWith('${pick(next, SYLLABLES)}') || x == ${word})`,
      `size(${texts}) > 1`,
      `${texts}.size() < ${number}`,
      `${word} in ${entries}`,
      `${entries}[?${word}].orValue('') == ${word}`,
      `has(${entries}.${this.#text()})`,
      `${things}.exists(y, y.name == ${word})`,
      `${things}.all(y, y.count < ${number} || y.on)`,
      `${things}.filter(y, y.on).size() > 0`,
      `${things}.map(y, y.name).exists(z, z == ${word})`,
      `quantity(${this.#place("amount")}).isGreaterThan(quantity('1'))`,
      `duration(${this.#place("time")}) > duration('5m')`,
      `string(${numbers}) == '${number}'`,
      `int('${number}') < ${numbers}`,
      `object.spec.?${text.split(".").at(-1)}.orValue(${word}) == ${word}`,
      `request.operation == '${pick(next, ["CREATE", "UPDATE"])}'`,
      `request.userInfo.username.startsWith(${word})`,
      `${word} in request.userInfo.groups`,
    ]);
  }
}

const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  startsWith: ["startWith", "hasPrefix", "starts_with"],
  endsWith: ["endWith", "hasSuffix"],
  matches: ["match", "test"],
  size: ["len", "length", "count", "sizes"],
  exists: ["some", "any", "exist"],
  all: ["every", "each"],
  filter: ["where", "filters"],
  map: ["select", "maps"],
  has: ["exists", "defined"],
  orValue: ["default", "orvalue"],
  isGreaterThan: ["gt", "isGreater"],
  quantity: ["qty", "quantities"],
  object: ["objekt", "self", "input.object", "obj"],
  request: ["requests", "input.request", "req"],
};

type Break = (text: string, next: Random) => string;

/** Something found replaced by one of several. */
const instead =
  (pattern: RegExp, ...others: readonly string[]): Break =>
  (text, next) =>
    text.replace(pattern, (found) => pick(next, others).replaceAll("$&", found));

const BREAKS: readonly Break[] = [
  instead(/==/, "===", "=", "=!", "<>", "=~", "!~", "is", "equals"),
  instead(/!=/, "!==", "<>", "=!", "!~", "is not", "~="),
  instead(/&&/, "&", "and", "AND", ",", "&&!"),
  instead(/\|\|/, "|", "or", "OR", "||!"),
  instead(/'[^']*'/, "$& || 'tolu'", "$& && 'tolu'", "“x”", "tolu"),
  instead(/\b\d+\b/, "'many'", "'5'", "1.5", "'no'"),
  instead(/\b(true|false)\b/, "'no'", "'true'", "True", "0", "'yes'"),
  instead(/!/, "not ", "!!", "-"),
  instead(/ in /, " not in ", " IN ", " of ", " !in ", " contains "),
  instead(/ (<|>|<=|>=) /, " => ", " =< ", " gt ", " > 1.5 + "),
  instead(/object\.spec\.w\w+/, "$& ?? 'x'", "string($&)", "size($&) == 'many' && $&"),
  instead(/object\.spec\.[ln]\w+/, "$& ?? 'x'", "size($&) == 'many' && $&", "$&.length"),
  instead(/object\.spec\.e\w+/, "has($&['x']) && $&", "!has($&['x']) && $&"),
  instead(/object\.spec\.f\w+/, "bool($&) || 'no'", "$& == 'no'"),
  (text, next) => text.replace(/\b[a-zA-Z]+\b/, (word) => pick(next, OTHER_NAMES[word] ?? [word])),
  (text, next) => {
    const names = [...text.matchAll(/\b[a-zA-Z]+\b/g)].filter(([word]) => OTHER_NAMES[word] !== undefined);
    if (names.length === 0) return text;
    const { 0: word, index } = pick(next, names);
    return text.slice(0, index) + pick(next, OTHER_NAMES[word] ?? []) + text.slice(index + word.length);
  },
  (text) => `!${text}`,
  (text) => `not ${text}`,
  (text) => `!${text} == 'tolu'`,
  (text) => `${text} || 'tolu'`,
  (text) => `${text} && 'tolu'`,
  (text) => `${text} || 5`,
  (text) => `size(${text}) == 'many'`,
  (text) => `if (${text}) { true } else { false }`,
  (text) => `(${text}`,
  (text) => `${text})`,
];

/** Those that may change what is looked at. */
const CHANGES: readonly Break[] = [
  instead(/\.contains\(/, ".includes(", ".contain(", ".has("),
  instead(/'[^']*'|\b\d+\b/, "5", "1.5", "null", "true", "{}", "[$&]", "$& + 1", "'a' + $&"),
  instead(/\.(\w+)/, "?$&", "$&s", "$&()", "$&.length", "[*]$&", "$&?"),
  instead(/object\.spec\.\w+/, "string($&)", "int($&)", "has($&['x'])", "$&.0", "bool($&)"),
  (text, next) => changed(text, next, ""),
  (text, next) => changed(text, next, pick(next, [..."()[]{}.,'\"!&|=<>?:+-*/%~"])),
];

function changed(text: string, next: Random, by: string): string {
  const at = next(text.length);
  return text.slice(0, at) + by + text.slice(at + (by === "" ? 1 : 0));
}

/** A condition with a mistake that leaves what it looks at as it is; it may be none. */
export const broken = (condition: string, next: Random): string => pick(next, BREAKS)(condition, next);

/** A condition with one or two mistakes of any kind. */
export function wildlyBroken(condition: string, next: Random): string {
  const once = pick(next, [...BREAKS, ...CHANGES, ...CHANGES])(condition, next);
  return next(3) === 0 ? pick(next, BREAKS)(once, next) : once;
}
