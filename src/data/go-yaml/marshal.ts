/** YAML in block style as go-yaml prints it, to the letter: for Rego's `yaml.marshal`, and reports. */
import { floatText } from "../float-text.js";
import { compareKeys, compareKeysOfVersion3 } from "./key-order.js";
import { analyze, isBreak, isPlainText, isPrintable } from "./scalars.js";

/** In what the versions of go-yaml differ. */
export interface GoYamlLayout {
  /** The order of keys. */
  readonly order: (a: string, b: string) => number;
  /** Whether a list stands deeper than the key it belongs to. */
  readonly deepLists: boolean;
  /** A text goes on in the next line at the first space beyond this column. */
  readonly width: number;
  /** Whether `<<` is quoted. */
  readonly mergeQuoted: boolean;
  /** Whether lines that are kept as they are may have tabs. */
  readonly tabsInLines: boolean;
  /** Most characters of all: indentation can make a hundred of one. */
  readonly longest: number;
}

/** The layout of v2. */
const VERSION_2: GoYamlLayout = {
  order: compareKeys,
  deepLists: false,
  width: 80,
  mergeQuoted: false,
  tabsInLines: false,
  longest: Number.POSITIVE_INFINITY,
};

/** The layout of v3 with two spaces for a level, and as many characters as a guest's answer may have. */
export const VERSION_3: GoYamlLayout = {
  order: compareKeysOfVersion3,
  deepLists: true,
  width: Number.POSITIVE_INFINITY,
  mergeQuoted: true,
  tabsInLines: true,
  longest: 16 * 1024 * 1024,
};

/** Spaces per level. */
const INDENT = 2;
/** Longest key, in bytes, that stands before its colon. */
const LONGEST_SIMPLE_KEY = 128;

/** Control characters that are an error even when escaped: OPA parses what it has printed before it returns it. */
const UNKNOWN_CONTROL = /[\u007f-\u0084\u0086-\u009f\ufffe\uffff]/;

type Style = "plain" | "single" | "double" | "literal";

/**
 * Prints a value with a newline at its end.
 * @throws when a text holds a control character that YAML does not know
 */
export function marshalYaml(value: unknown, layout: GoYamlLayout = VERSION_2): string {
  const printer = new Printer(layout);
  printer.node(value, { mapping: false, simpleKey: false });
  return printer.finish();
}

interface Place {
  /** Whether it is the value of a key. */
  readonly mapping: boolean;
  readonly simpleKey: boolean;
}

/** State and steps are those of libyaml's emitter. */
class Printer {
  readonly #layout: GoYamlLayout;
  #text = "";
  #column = 0;
  /** Indentation of the enclosing node, in spaces; the document itself is one level before the first column. */
  #indent = -INDENT;
  /** Whether the line holds nothing but indentation and indicators. */
  #indention = true;
  #whitespace = true;

  constructor(layout: GoYamlLayout) {
    this.#layout = layout;
  }

  finish(): string {
    this.#newLine();
    return this.#text;
  }

  node(value: unknown, place: Place): void {
    if (Array.isArray(value)) this.#list(value, place);
    else if (typeof value === "object" && value !== null && !(value instanceof Number))
      this.#map(value as Record<string, unknown>);
    else if (typeof value === "string") this.#string(value, place.simpleKey);
    else this.#scalar(scalarText(value), "plain", place.simpleKey);
  }

  #list(items: readonly unknown[], { mapping }: Place): void {
    if (items.length === 0) {
      this.#indicator("[", true, true);
      this.#indicator("]", false);
      return;
    }
    const shallow = mapping && !this.#indention && !this.#layout.deepLists;
    this.#within(shallow ? this.#indent : this.#indent + INDENT, () => {
      for (const item of items) {
        this.#newLine();
        this.#indicator("-", true, false, true);
        this.node(item, { mapping: false, simpleKey: false });
      }
    });
  }

  #map(members: Record<string, unknown>): void {
    const keys = Object.keys(members).sort(this.#layout.order);
    if (keys.length === 0) {
      this.#indicator("{", true, true);
      this.#indicator("}", false);
      return;
    }
    this.#within(this.#indent + INDENT, () => {
      for (const key of keys) {
        this.#newLine();
        const simple = !analyze(key).multiline && Buffer.byteLength(key) <= LONGEST_SIMPLE_KEY;
        if (simple) {
          this.#string(key, true);
          this.#indicator(":", false);
        } else {
          this.#indicator("?", true, false, true);
          this.#string(key, false);
          this.#newLine();
          this.#indicator(":", true, false, true);
        }
        this.node(members[key], { mapping: true, simpleKey: false });
      }
    });
  }

  #string(text: string, simpleKey: boolean): void {
    if (UNKNOWN_CONTROL.test(text)) throw new Error("yaml.marshal: control characters are not allowed");
    const { multiline, plain, single, block } = analyze(text);
    let style: Style = text.includes("\n") ? "literal" : isPlainText(text) ? "plain" : "double";
    if ((simpleKey && multiline) || (this.#layout.mergeQuoted && text === "<<")) style = "double";
    if (style === "plain" && !plain) style = "single";
    if (style === "single" && !single) style = "double";
    const keepsLines = block || (this.#layout.tabsInLines && analyze(text.replaceAll("\t", "x")).block);
    if (style === "literal" && (!keepsLines || simpleKey)) style = "double";
    this.#scalar(text, style, simpleKey);
  }

  #scalar(text: string, style: Style, simpleKey: boolean): void {
    this.#within(Math.max(this.#indent, 0) + INDENT, () => {
      const folds = !simpleKey && this.#column + text.length > this.#layout.width;
      const whole = style === "single" ? `'${text.replaceAll("'", "''")}'` : text;
      if (!folds && style !== "literal" && style !== "double" && !(style === "single" && analyze(text).multiline)) {
        this.#indicator(whole, true);
        return;
      }
      const characters = Array.from(text);
      if (style === "literal") this.#literal(text, characters);
      else if (style === "double") this.#doubleQuoted(characters, !simpleKey);
      else this.#folded(characters, style === "single" ? "'" : "", !simpleKey);
    });
  }

  /** Plain, or in single quotes. */
  #folded(characters: readonly string[], quote: string, mayFold: boolean): void {
    if (quote !== "") this.#indicator(quote, true);
    else if (!this.#whitespace) this.#put(" ");
    let [spaces, breaks] = [false, false];
    for (const [index, character] of characters.entries()) {
      if (character === " ") {
        const inner = quote === "" || (index > 0 && index < characters.length - 1);
        if (mayFold && !spaces && this.#column > this.#layout.width && inner && characters[index + 1] !== " ")
          this.#newLine();
        else this.#put(character);
        spaces = true;
      } else if (isBreak(character)) {
        if (!breaks && character === "\n") this.#put("\n");
        this.#put(character);
        this.#indention = true;
        breaks = true;
      } else {
        if (breaks) this.#newLine();
        this.#put(character === quote ? quote + quote : character);
        this.#indention = false;
        [spaces, breaks] = [false, false];
      }
    }
    if (quote !== "") this.#indicator(quote, false);
    this.#whitespace = false;
    this.#indention = false;
  }

  #doubleQuoted(characters: readonly string[], mayFold: boolean): void {
    this.#indicator('"', true);
    let spaces = false;
    for (const [index, character] of characters.entries()) {
      const inner = index > 0 && index < characters.length - 1;
      if (character === " " && mayFold && !spaces && this.#column > this.#layout.width && inner) {
        this.#newLine();
        if (characters[index + 1] === " ") this.#put("\\");
      } else this.#put(escaped(character));
      spaces = character === " ";
    }
    this.#indicator('"', false);
    this.#whitespace = false;
    this.#indention = false;
  }

  #literal(text: string, characters: readonly string[]): void {
    this.#indicator("|", true);
    if (characters[0] === " " || isBreak(characters[0])) this.#indicator(String(INDENT), false);
    if (!isBreak(characters.at(-1))) this.#indicator("-", false);
    else if (text.length === 1 || isBreak(characters.at(-2))) this.#indicator("+", false);
    this.#put("\n");
    this.#indention = true;
    this.#whitespace = true;
    let breaks = true;
    for (const character of characters) {
      if (isBreak(character)) {
        this.#put(character);
        this.#indention = true;
      } else {
        if (breaks) this.#newLine();
        this.#put(character);
        this.#indention = false;
      }
      breaks = isBreak(character);
    }
  }

  #within(indent: number, write: () => void): void {
    const before = this.#indent;
    this.#indent = indent;
    write();
    this.#indent = before;
  }

  #indicator(text: string, spaced: boolean, whitespace = false, indention = false): void {
    if (spaced && !this.#whitespace) this.#put(" ");
    this.#put(text);
    this.#whitespace = whitespace;
    this.#indention = this.#indention && indention;
  }

  /** A new line with its indentation, unless this one is just that. */
  #newLine(): void {
    const indent = Math.max(this.#indent, 0);
    if (!this.#indention || this.#column > indent || (this.#column === indent && !this.#whitespace)) this.#put("\n");
    this.#put(" ".repeat(Math.max(indent - this.#column, 0)));
    this.#whitespace = true;
    this.#indention = true;
  }

  #put(text: string): void {
    this.#text += text;
    if (this.#text.length > this.#layout.longest)
      throw new Error(`yaml.marshal: the text is longer than ${this.#layout.longest} characters`);
    this.#column = isBreak(text) ? 0 : this.#column + Array.from(text).length;
  }
}

/** Integers beyond 64 bits are floats, and so is what has a fraction or an exponent. */
function scalarText(value: unknown): string {
  if (typeof value === "bigint" && BigInt.asIntN(64, value) !== value && BigInt.asUintN(64, value) !== value)
    return numberText(Number(value));
  return value instanceof Number ? numberText(value.valueOf()) : String(value);
}

function numberText(value: number): string {
  return floatText(value, "g", undefined).replace(/^\+/, "");
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\u0000": "0",
  "\u0007": "a",
  "\b": "b",
  "\t": "t",
  "\n": "n",
  "\v": "v",
  "\f": "f",
  "\r": "r",
  "\u001b": "e",
  '"': '"',
  "\\": "\\",
  "\u0085": "N",
  "\u2028": "L",
  "\u2029": "P",
};

function escaped(character: string): string {
  const short = ESCAPES[character];
  if (short !== undefined) return `\\${short}`;
  if (isPrintable(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const [letter, digits] = code <= 0xff ? ["x", 2] : code <= 0xffff ? ["u", 4] : ["U", 8];
  return `\\${letter}${code.toString(16).toUpperCase().padStart(Number(digits), "0")}`;
}
