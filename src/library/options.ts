/** Checks options of the library's functions: programs in JavaScript have no compiler that finds a misspelt name. */
import { didYouMean } from "../data/suggest.js";

/** Error of an invalid option or argument; the message names it, and what is expected. */
export class OptionError extends Error {
  readonly code = "OPTION";
  override readonly name = "OptionError";
}

/** The type of an option: a check, and its description. */
export interface OptionShape {
  readonly expected: string;
  readonly fits: (value: unknown) => boolean;
}

const shape = (expected: string, fits: OptionShape["fits"]): OptionShape => ({ expected, fits });

/** A text that is not empty. */
export const TEXT = shape("a text that is not empty", (value) => typeof value === "string" && value !== "");
/** Any text. */
export const ANY_TEXT = shape("a text", (value) => typeof value === "string");
/** True or false. */
export const SWITCH = shape("true or false", (value) => typeof value === "boolean");
/** A function. */
export const FUNCTION = shape("a function", (value) => typeof value === "function");
/** Milliseconds, or Infinity for no limit. */
export const MILLISECONDS = shape(
  "milliseconds above 0, or Infinity",
  (value) => typeof value === "number" && value > 0,
);
/** A factor. */
export const FACTOR = shape(
  "a number above 0",
  (value) => typeof value === "number" && value > 0 && Number.isFinite(value),
);
/** A count. */
export const COUNT = shape("a whole number above 0", (value) => Number.isSafeInteger(value) && Number(value) > 0);
/** A port of TCP. */
export const PORT = shape(
  "a port from 0 to 65535",
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
);
/** A signal that ends an evaluation early. */
export const SIGNAL = shape(
  "an AbortSignal",
  (value) => typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value,
);
/** A server's certificate: a server without one would listen, but every client would fail. */
export const CERTIFICATE = shape(
  "an object with cert and key, or pfx",
  (value) =>
    typeof value === "object" &&
    value !== null &&
    (("cert" in value && "key" in value) || "pfx" in value || "SNICallback" in value),
);
/** An object. */
export const OBJECT = shape("an object", (value) => typeof value === "object" && value !== null);
/** One of some words. */
export const oneOf = (...words: readonly string[]): OptionShape =>
  shape(words.map((word) => JSON.stringify(word)).join(" or "), (value) => words.includes(value as string));
/** A value that JSON can represent. */
export const JSON_VALUE = shape(
  "JSON",
  (value) => typeof value !== "function" && typeof value !== "symbol" && !Number.isNaN(value),
);

/**
 * Checks the options of a call.
 * @param name the function's name, for the message
 * @throws OptionError for a value that is not an object, an unknown name, or a value that can't be used
 */
export function checkOptions(name: string, options: unknown, shapes: Readonly<Record<string, OptionShape>>): void {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new OptionError(`${name}: the options must be an object, not ${described(options)}`);
  for (const [key, value] of Object.entries(options)) {
    const wanted = Object.hasOwn(shapes, key) ? shapes[key] : undefined;
    if (wanted === undefined) {
      const known = Object.keys(shapes);
      throw new OptionError(
        `${name}: unknown option ${key}${didYouMean(key, known) || `, known are ${known.join(", ")}`}`,
      );
    }
    if (value !== undefined && !wanted.fits(value))
      throw new OptionError(`${name}: ${key} must be ${wanted.expected}, not ${described(value)}`);
  }
}

/** Most characters of a value that are shown. */
const SHOWN_CHARACTERS = 60;

function described(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, SHOWN_CHARACTERS));
  if (Array.isArray(value)) return "a list";
  if (typeof value === "function") return "a function";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
