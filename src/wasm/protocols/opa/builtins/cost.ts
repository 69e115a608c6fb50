/** Charges for builtins before they run: they are the host's code, without fuel of their own, and their work depends on their operands. */

/** Units of every call: the module prints operands and the host parses them, and the result goes the other way. */
const CALL = 2_000;
/** Units for a byte of the operands. */
const BYTE = 64;
/** Units of comparing one character with one place of a pattern. */
const STEP = 16;
/** Units of a time zone look-up, which takes a tenth of a millisecond. */
const TIME = 300_000;
/** Units of work that may take long, however short its operands are: more than a call on the main thread has. */
const LONG = 60_000_000;
/** Builtins whose work does not follow from their operands' length: patches copy what copies have made, and YAML has aliases. */
const UNBOUNDED = ["json.patch", "yaml."];
/** A width or a precision of a format with three digits or more, or one that is an operand. */
const WIDE = /\*|\d{3}/;
/** The sign of counted repetitions in a pattern, each of which is a copy of the pattern. */
const COUNTED = "{";

/**
 * Units of fuel, about one simple instruction each.
 * @param operands JSON texts
 */
export function builtinCost(name: string, operands: readonly string[]): number {
  if (UNBOUNDED.some((prefix) => name.startsWith(prefix))) return LONG;
  let bytes = 0;
  for (const { length } of operands) bytes += length;
  const linear = CALL + BYTE * bytes;
  if (name === "sprintf" && WIDE.test(operands[0] ?? "")) return LONG;
  if (name.startsWith("time.") && name !== "time.now_ns") return Math.min(linear + TIME, LONG);
  if (!name.startsWith("regex.")) return Math.min(linear, LONG);
  // A text is compared with every place of the pattern, and a template is a pattern with its delimiters somewhere among the operands.
  return operands.some((text) => text.includes(COUNTED)) ? LONG : Math.min(linear + STEP * bytes * bytes, LONG);
}
