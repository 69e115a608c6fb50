/** Go's fmt.Sprintf over arguments of the kinds that Rego gives it. */
import { type Flags, noFlags } from "./flags.js";
import { type Argument, printArgument, printExtra } from "./verbs.js";

/** Go's own limit of a width or precision that an argument gives. */
const LARGEST_NUMBER = 1_000_000;
/** Longest text; Go has no such limit, but a guest that asks for more only wants to exhaust the host. */
const LONGEST_TEXT = 16 * 1024 * 1024;

/** @throws when the text would be longer than 16 Mi characters */
export function sprintf(format: string, args: readonly Argument[]): string {
  return new Formatting(format, args).run();
}

/** One instance per call. Names and order are those of Go's doPrintf, as the odd cases follow from it. */
class Formatting {
  readonly #end: number;
  #text = "";
  #at = 0;
  #next = 0;
  #reordered = false;
  #goodIndex = true;
  /** Whether no further bracket closes. */
  #unclosed = false;
  readonly #format: string;
  readonly #args: readonly Argument[];

  constructor(format: string, args: readonly Argument[]) {
    this.#format = format;
    this.#args = args;
    this.#end = format.length;
  }

  run(): string {
    while (this.#at < this.#end) {
      const percent = this.#format.indexOf("%", this.#at);
      this.#write(this.#format.slice(this.#at, percent === -1 ? this.#end : percent));
      if (percent === -1) break;
      this.#at = percent + 1;
      if (!this.#directive()) break;
    }
    if (!this.#reordered && this.#next < this.#args.length)
      this.#write(`%!(EXTRA ${this.#args.slice(this.#next).map(printExtra).join(", ")})`);
    return this.#text;
  }

  /** @returns false when the format ends within it */
  #directive(): boolean {
    this.#goodIndex = true;
    const flags = this.#flags();
    let afterIndex = this.#index();
    if (this.#accept("*")) {
      const width = this.#numberArgument();
      if (width === undefined) this.#write("%!(BADWIDTH)");
      else if (width < 0) Object.assign(flags, { width: -width, minus: true, zero: false });
      else flags.width = width;
      afterIndex = false;
    } else {
      flags.width = this.#number();
      if (afterIndex && flags.width !== undefined) this.#goodIndex = false;
    }
    if (this.#at + 1 < this.#end && this.#accept(".")) {
      if (afterIndex) this.#goodIndex = false;
      afterIndex = this.#index();
      if (this.#accept("*")) {
        const precision = this.#numberArgument();
        if (precision === undefined || precision < 0) this.#write("%!(BADPREC)");
        else flags.precision = precision;
        afterIndex = false;
      } else {
        flags.precision = this.#number() ?? 0;
      }
    }
    if (!afterIndex) this.#index();
    if (this.#at >= this.#end) {
      this.#write("%!(NOVERB)");
      return false;
    }
    const verb = String.fromCodePoint(this.#format.codePointAt(this.#at) ?? 0);
    this.#at += verb.length;
    this.#write(this.#verb(verb, flags));
    return true;
  }

  #verb(verb: string, flags: Flags): string {
    if (verb === "%") return "%";
    if (!this.#goodIndex) return `%!${verb}(BADINDEX)`;
    const argument = this.#args[this.#next];
    if (argument === undefined) return `%!${verb}(MISSING)`;
    this.#next++;
    if (verb === "v" || verb === "w")
      Object.assign(flags, { sharpV: flags.sharp, sharp: false, plusV: flags.plus, plus: false });
    return printArgument(argument, verb, flags);
  }

  #flags(): Flags {
    const flags = noFlags();
    for (; this.#at < this.#end; this.#at++) {
      switch (this.#format[this.#at]) {
        case "#":
          flags.sharp = true;
          break;
        case "0":
          flags.zero = true;
          break;
        case "+":
          flags.plus = true;
          break;
        case "-":
          flags.minus = true;
          break;
        case " ":
          flags.space = true;
          break;
        default:
          return flags;
      }
    }
    return flags;
  }

  /** Reads `[n]`, the number of the next argument; answers whether there was one. */
  #index(): boolean {
    if (this.#format[this.#at] !== "[") return false;
    this.#reordered = true;
    const close = this.#unclosed ? -1 : this.#format.indexOf("]", this.#at);
    // Searching it behind each bracket anew takes the square of the format's length.
    this.#unclosed = close === -1;
    if (close === -1 || this.#end - this.#at < 3) {
      this.#goodIndex = false;
      this.#at++;
      return false;
    }
    const digits = this.#format.slice(this.#at + 1, close);
    this.#at = close + 1;
    const isNumber = /^\d+$/.test(digits) && Number(digits) <= LARGEST_NUMBER * 10 + 9;
    const index = Number(digits) - 1;
    if (isNumber && index >= 0 && index < this.#args.length) this.#next = index;
    else this.#goodIndex = false;
    return isNumber;
  }

  #number(): number | undefined {
    const start = this.#at;
    let value = 0;
    for (; this.#at < this.#end; this.#at++) {
      const digit = this.#format.charCodeAt(this.#at) - 0x30;
      if (digit < 0 || digit > 9) break;
      if (value > LARGEST_NUMBER) {
        this.#at = this.#end;
        return undefined;
      }
      value = value * 10 + digit;
    }
    return this.#at === start ? undefined : value;
  }

  /** The next argument as width or precision; undefined when it is not a suitable number. */
  #numberArgument(): number | undefined {
    const argument = this.#args[this.#next];
    if (argument === undefined) return undefined;
    this.#next++;
    const value = argument.type === "int64" ? Number(argument.value) : undefined;
    return value !== undefined && Math.abs(value) <= LARGEST_NUMBER ? value : undefined;
  }

  #accept(character: string): boolean {
    if (this.#format[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #write(text: string): void {
    this.#text += text;
    if (this.#text.length > LONGEST_TEXT)
      throw new Error(`sprintf: the text is longer than ${LONGEST_TEXT} characters`);
  }
}
