/** Prints YAML in block style, step by step as libyaml's emitter does. The layout decides the style of texts and lists. */
import { isBreak } from "./scalars.js";

/** Spaces per level. */
const INDENT = 2;

/** The style of a text; of those without quotes, `literal` keeps its lines. */
export type ScalarStyle = "plain" | "single" | "double" | "literal";

/** The choices in which printers of YAML differ, and which make no difference to readers. */
export interface YamlLayout {
  /** The order of keys; absent: the value's own. */
  readonly order?: (a: string, b: string) => number;
  /** Whether a list is indented further than the key it belongs to. */
  readonly deepLists: boolean;
  /** The column beyond which a text continues on the next line at the first space. */
  readonly width: number;
  /** Most characters of the whole, since indentation can make a hundred of one; absent: any number. */
  readonly longest?: number;
  /** The style of a text: a simple key, which stands before its colon, has one line. */
  styleOf(text: string, simpleKey: boolean): ScalarStyle;
  /** Whether a key stands before its colon, rather than on lines of its own behind a question mark. */
  isSimpleKey(key: string): boolean;
  /** A text, or a part of one, for inside of double quotes. */
  escaped(text: string): string;
  /** The text of a scalar other than a text: numbers, booleans, null. */
  wordOf(value: unknown): string;
}

/**
 * Prints a value with a newline at its end: texts, numbers (bigints and boxed doubles among them), booleans, null, lists, and maps, of which undefined members
 * are left out. A value that is referred to several times is printed each time.
 * @throws when it is longer than the layout allows
 */
export function printWith(layout: YamlLayout, value: unknown): string {
  const printer = new Printer(layout);
  printer.node(value, { mapping: false, simpleKey: false });
  return printer.finish();
}

interface Place {
  /** Whether it is the value of a key. */
  readonly mapping: boolean;
  readonly simpleKey: boolean;
}

/** Prints; state and steps are those of libyaml's emitter. */
class Printer {
  readonly #layout: YamlLayout;
  #text = "";
  #column = 0;
  /** Indentation of the enclosing node, in spaces; the document itself is one level before the first column. */
  #indent = -INDENT;
  /** Whether the line has only indentation and indicators. */
  #indention = true;
  #whitespace = true;

  constructor(layout: YamlLayout) {
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
    else this.#scalar(this.#layout.wordOf(value ?? null), "plain", place.simpleKey);
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
    const { order } = this.#layout;
    const keys = Object.keys(members).filter((key) => members[key] !== undefined);
    if (order !== undefined) keys.sort(order);
    if (keys.length === 0) {
      this.#indicator("{", true, true);
      this.#indicator("}", false);
      return;
    }
    this.#within(this.#indent + INDENT, () => {
      for (const key of keys) {
        this.#newLine();
        if (this.#layout.isSimpleKey(key)) {
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
    // Halves of surrogate pairs can't be written, not even escaped.
    const whole = text.toWellFormed();
    this.#scalar(whole, this.#layout.styleOf(whole, simpleKey), simpleKey);
  }

  #scalar(text: string, style: ScalarStyle, simpleKey: boolean): void {
    this.#within(Math.max(this.#indent, 0) + INDENT, () => {
      const written = style === "double" ? `"${this.#layout.escaped(text)}"` : text;
      const folds = !simpleKey && this.#column + written.length >= this.#layout.width;
      if (style === "literal") this.#literal(Array.from(text));
      else if (folds && style === "double") this.#doubleQuoted(Array.from(text));
      else if (folds || style === "single") this.#folded(Array.from(text), style === "single" ? "'" : "", folds);
      else this.#indicator(written, true);
    });
  }

  /** Writes a text plain, or in single quotes. */
  #folded(characters: readonly string[], quote: string, mayFold: boolean): void {
    if (quote !== "") this.#indicator(quote, true);
    else if (!this.#whitespace) this.#put(" ");
    const { width } = this.#layout;
    let [spaces, breaks] = [false, false];
    for (const [index, character] of characters.entries()) {
      if (character === " ") {
        const inner = quote === "" || (index > 0 && index < characters.length - 1);
        if (mayFold && !spaces && this.#column > width && inner && characters[index + 1] !== " ") this.#newLine();
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

  #doubleQuoted(characters: readonly string[]): void {
    this.#indicator('"', true);
    const { width } = this.#layout;
    let spaces = false;
    for (const [index, character] of characters.entries()) {
      const inner = index > 0 && index < characters.length - 1;
      if (character === " " && !spaces && this.#column > width && inner) {
        this.#newLine();
        if (characters[index + 1] === " ") this.#put("\\");
      } else this.#put(this.#layout.escaped(character));
      spaces = character === " ";
    }
    this.#indicator('"', false);
    this.#whitespace = false;
    this.#indention = false;
  }

  #literal(characters: readonly string[]): void {
    this.#indicator("|", true);
    if (characters[0] === " " || characters[0] === "\t" || isBreak(characters[0]))
      this.#indicator(String(INDENT), false);
    if (!isBreak(characters.at(-1))) this.#indicator("-", false);
    else if (characters.length === 1 || isBreak(characters.at(-2))) this.#indicator("+", false);
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

  /** Begins a new line with its indentation, unless this one is just that. */
  #newLine(): void {
    const indent = Math.max(this.#indent, 0);
    if (!this.#indention || this.#column > indent || (this.#column === indent && !this.#whitespace)) this.#put("\n");
    if (this.#column < indent) this.#put(" ".repeat(indent - this.#column));
    this.#whitespace = true;
    this.#indention = true;
  }

  #put(text: string): void {
    this.#text += text;
    const { longest } = this.#layout;
    if (longest !== undefined && this.#text.length > longest)
      throw new Error(`the text is longer than ${longest} characters`);
    this.#column = isBreak(text) ? 0 : this.#column + text.length;
  }
}
