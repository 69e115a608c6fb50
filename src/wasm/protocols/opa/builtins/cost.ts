/** What a builtin is charged for before it runs: it is the host's code, looks at no fuel itself, and what it does depends on its operands. */

/** Units of every call: operands are printed by the module and read by the host, and the result goes the other way. */
const CALL = 2_000;
/** Units a byte of the operands. */
const BYTE = 64;
/** Units of holding one character against one place of a pattern. */
const STEP = 16;
/** Units of one that looks up a time zone, which takes a tenth of a millisecond. */
const TIME = 300_000;
/** For what may take long, however short its operands are: more than a call on the main thread has. */
const LONG = 60_000_000;
/** Those whose work their operands' length says nothing about: patches copy what copies have made, and YAML has aliases. */
const UNBOUNDED = ["json.patch", "yaml."];
/** Of a format: a width or a precision of three digits and more, or one that is an operand. */
const WIDE = /\*|\d{3}/;
/** Of a pattern: repetitions that are counted, each of which is a copy of the pattern. */
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
  // A text is held against every place of the pattern, and a template is a pattern with its delimiters somewhere among the operands.
  return operands.some((text) => text.includes(COUNTED)) ? LONG : Math.min(linear + STEP * bytes * bytes, LONG);
}
