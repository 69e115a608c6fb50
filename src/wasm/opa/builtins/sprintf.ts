/** Rego's `sprintf`: the verbs of Go's fmt over JSON values. */
import { stringifyJson } from "../../../data/json.js";

/** Widest field that is padded; a format asks for no more than a line's worth. */
const WIDEST = 1_000;
/** Digits behind the point: no double has more that are worth printing. */
const LONGEST_FRACTION = 60;
const DIRECTIVE = /%([-+# 0]*)(?:\[(\d+)\])?(\*|\d+)?(?:\.(\*|\d*))?(?:\[(\d+)\])?(.|$)/gsu;

/** From this power of ten on, the shortest text of a float has an exponent. */
const SHORTEST_PLAIN = 6;

interface Flags {
  readonly minus: boolean;
  readonly plus: boolean;
  readonly sharp: boolean;
  readonly space: boolean;
  readonly zero: boolean;
  readonly precision: number | undefined;
}

type Argument =
  | { readonly type: "int"; readonly value: bigint }
  | { readonly type: "float64"; readonly value: number }
  | { readonly type: "string"; readonly value: string };

/** Formats; a verb that does not fit its argument shows as Go shows it, `%!d(string=x)`. */
export function goFormat(format: string, values: readonly unknown[]): string {
  const args = values.map(argument);
  let next = 0;
  let reordered = false;
  const take = (explicit: string | undefined): Argument | undefined => {
    if (explicit !== undefined) {
      reordered = true;
      next = Number(explicit) - 1;
    }
    return args[next++];
  };
  const text = format.replaceAll(
    DIRECTIVE,
    (
      _whole,
      flagText: string,
      before: string | undefined,
      width: string | undefined,
      precision: string | undefined,
      after: string | undefined,
      verb: string,
    ) => {
      if (verb === "%") return "%";
      if (verb === "") return "%!(NOVERB)";
      if (before !== undefined && width === "*") reordered = true;
      const wide = width === "*" ? Number(take(before)?.value ?? 0) : Number(width ?? 0);
      const precise =
        precision === undefined
          ? undefined
          : precision === "*"
            ? Number(take(undefined)?.value ?? 0)
            : Number(precision);
      const explicit = after ?? (width === "*" ? undefined : before);
      if (explicit !== undefined && (Number(explicit) < 1 || Number(explicit) > args.length)) {
        reordered = true;
        return `%!${verb}(BADINDEX)`;
      }
      const value = take(explicit);
      if (value === undefined) return `%!${verb}(MISSING)`;
      const flags: Flags = {
        minus: flagText.includes("-") || wide < 0,
        plus: flagText.includes("+"),
        sharp: flagText.includes("#"),
        space: flagText.includes(" "),
        zero: flagText.includes("0"),
        precision: precise,
      };
      return pad(print(verb, value, flags), Math.min(Math.abs(wide), WIDEST), flags, value.type !== "string");
    },
  );
  if (reordered || next >= args.length) return text;
  const extra = args.slice(next).map((arg) => `${arg.type}=${arg.value}`);
  return `${text}%!(EXTRA ${extra.join(", ")})`;
}

/** Whole numbers are integers, others floats, texts are texts, and everything else is the text of its term. */
function argument(value: unknown): Argument {
  if (typeof value === "bigint") return { type: "int", value };
  if (typeof value === "number" || value instanceof Number) {
    const number = Number(value);
    // A whole number that is neither safe nor a bigint was written with an exponent.
    return Number.isSafeInteger(number) ? { type: "int", value: BigInt(number) } : { type: "float64", value: number };
  }
  return { type: "string", value: typeof value === "string" ? value : term(value) };
}

/** A value as Rego prints it: a blank after commas and colons. */
function term(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(term).join(", ")}]`;
  if (typeof value === "object" && value !== null && !(value instanceof Number))
    return `{${Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}: ${term(member)}`)
      .join(", ")}}`;
  return stringifyJson(value);
}

function print(verb: string, { type, value }: Argument, flags: Flags): string {
  if (verb === "T") return type;
  if (type === "string") return printText(verb, value, flags);
  if (type === "int") return printInteger(verb, value, flags);
  return printFloat(verb, value, flags);
}

function printText(verb: string, value: string, { precision, sharp }: Flags): string {
  const text = precision === undefined ? value : [...value].slice(0, precision).join("");
  switch (verb) {
    case "v":
      return sharp ? quote(text) : text;
    case "s":
      return text;
    case "q":
      return quote(text);
    case "x":
      return Buffer.from(text).toString("hex");
    case "X":
      return Buffer.from(text).toString("hex").toUpperCase();
    default:
      return `%!${verb}(string=${value})`;
  }
}

function printInteger(verb: string, value: bigint, { plus, space, sharp, precision }: Flags): string {
  const sign = value < 0n ? "-" : plus ? "+" : space ? " " : "";
  const magnitude = value < 0n ? -value : value;
  const digits = (base: number, prefix: string) =>
    `${sign}${sharp ? prefix : ""}${magnitude.toString(base).padStart(precision ?? 0, "0")}`;
  switch (verb) {
    case "d":
    case "v":
      return digits(10, "");
    case "b":
      return digits(2, "0b");
    case "o":
      return digits(8, "0");
    case "O":
      return `${sign}0o${magnitude.toString(8)}`;
    case "x":
      return digits(16, "0x");
    case "X":
      return digits(16, "0x").toUpperCase();
    case "c":
      return String.fromCodePoint(Number(magnitude));
    case "q":
      return `'${String.fromCodePoint(Number(magnitude))}'`;
    case "U":
      return `U+${magnitude.toString(16).toUpperCase().padStart(4, "0")}`;
    default:
      return `%!${verb}(int=${value})`;
  }
}

function printFloat(verb: string, value: number, { plus, space, precision }: Flags): string {
  const sign = value < 0 ? "" : plus ? "+" : space ? " " : "";
  switch (verb) {
    case "f":
    case "F":
      return sign + fixed(value, Math.min(precision ?? 6, LONGEST_FRACTION));
    case "e":
      return sign + exponent(value.toExponential(Math.min(precision ?? 6, 100)));
    case "E":
      return sign + exponent(value.toExponential(Math.min(precision ?? 6, 100))).toUpperCase();
    case "v":
    case "g":
      return sign + shortest(value, precision);
    case "G":
      return sign + shortest(value, precision).toUpperCase();
    default:
      return `%!${verb}(float64=${shortest(value, undefined)})`;
  }
}

/** Rounds as Go does: exact halves go to the even digit, where JavaScript goes away from zero. */
function fixed(value: number, digits: number): string {
  const rounded = value.toFixed(digits);
  const exact = value.toFixed(100);
  const dot = exact.indexOf(".");
  const cut = dot + 1 + digits;
  if (!/^50*$/.test(exact.slice(cut))) return rounded;
  const down = digits === 0 ? exact.slice(0, dot) : exact.slice(0, cut);
  return Number(down.at(-1)) % 2 === 0 ? down : rounded;
}

/** Go writes exponents with two digits at least. */
function exponent(text: string): string {
  return text.replace(/e([+-])(\d)$/, "e$10$2");
}

/** The shortest text, with an exponent when that is below -4, or from 6 on (from the precision on, when there is one). */
function shortest(value: number, precision: number | undefined): string {
  const digits = precision === undefined ? undefined : Math.min(Math.max(precision, 1), 100);
  const scientific = digits === undefined ? value.toExponential() : value.toExponential(digits - 1);
  const power = Number(scientific.split("e")[1]);
  if (power < -4 || power >= (digits ?? SHORTEST_PLAIN)) return exponent(scientific.replace(/\.?0+e/, "e"));
  return digits === undefined ? String(value) : String(Number(value.toPrecision(digits)));
}

/** As Go's strconv.Quote. */
function quote(text: string): string {
  return JSON.stringify(text).replaceAll(/\\u00([01][0-9a-f])/g, "\\x$1");
}

/** Pads with blanks, or with zeros behind the sign of a number. */
function pad(text: string, width: number, { minus, zero, precision }: Flags, numeric: boolean): string {
  const missing = width - [...text].length;
  if (missing <= 0) return text;
  if (minus) return text + " ".repeat(missing);
  if (!zero || (numeric && precision !== undefined && /^[+-]?\d+$/.test(text))) return " ".repeat(missing) + text;
  const sign = numeric && /^[+-]/.test(text) ? text.slice(0, 1) : "";
  return sign + "0".repeat(missing) + text.slice(sign.length);
}
