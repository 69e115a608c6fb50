/** Quantities as `resource.Quantity` reads and prints them: canonical, except texts that it considers canonical already. */
import { canonicalQuantity } from "../quantity.js";

const FORMAT_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMERIC_WRONG = "unable to parse numeric part of quantity";
const SUFFIX_WRONG = "unable to parse quantity's suffix";
const PARTS = /^([+-]?)(0*)([0-9]*)(?:(\.)([0-9]*))?([eEinumkKMGTP]*[+-]?[0-9]*)$/;
const SUFFIX = /^(?:[KMGTPE]i|[numkMGTPE]?|[eE][+-]?[0-9]+)$/;
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
/** Digits of any number that fits an int64. */
const INT64_DIGITS = 18;
/** Digits of a quantity with a binary suffix that are multiplied without loss; each step of 2^10 takes three. */
const BINARY_DIGITS = 14;
const LARGEST = (1n << 63n) - 1n;
const NANO = -9;

/** The quantity as it is printed, or Go's error. */
export function normalQuantity(written: string): { readonly text: string } | { readonly error: string } {
  const text = written.trim();
  const parts = PARTS.exec(text);
  if (text === "" || parts === null) return { error: FORMAT_WRONG };
  const [, sign = "", zeros = "", significant = "", point = "", fraction = "", suffix = ""] = parts;
  if (!SUFFIX.test(suffix)) return { error: SUFFIX_WRONG };
  const whole = significant || "0";
  const read = readQuickly(whole, fraction, suffix);
  if (read === "as it is") return { text };
  if (read === "slowly" && zeros + significant + fraction === "") return { error: NUMERIC_WRONG };
  return { text: canonicalQuantity(`${sign}${whole}${point}${fraction}${suffix}`) };
}

/** Reads short quantities as Go does, in a way of its own: it keeps the text of those that it then considers canonical, such as `+5` and `1.500`. */
function readQuickly(whole: string, fraction: string, suffix: string): "as it is" | "quickly" | "slowly" {
  const digits = `${whole}${fraction}`;
  const binary = BINARY[suffix];
  if (binary !== undefined) {
    if (fraction !== "" || BINARY_DIGITS - whole.length - Math.trunc((binary * 3) / 10) < 0) return "slowly";
    const value = BigInt(whole);
    if (value << BigInt(binary) > LARGEST) return "slowly";
    return (value & 7n) !== 0n ? "as it is" : "quickly";
  }
  const scale = (DECIMAL[suffix] ?? Number(suffix.slice(1))) - fraction.length;
  if (digits.length > INT64_DIGITS || scale < NANO) return "slowly";
  return scale % 3 === 0 && !digits.endsWith("000") && !digits.startsWith("0") ? "as it is" : "quickly";
}
