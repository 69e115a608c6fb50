/** `units.*`: quantities with a unit, as Kubernetes and others write them. */
import type { Builtin } from "./index.js";
import { integer, textOf } from "./operands.js";

/** `units.parse`: m is a thousandth, M a million; the rest in any case. */
const QUANTITY: Readonly<Record<string, [bigint, bigint]>> = table(true);
/** `units.parse_bytes`: any case, a b at the end may follow. */
const BYTES: Readonly<Record<string, [bigint, bigint]>> = table(false);

/** See the module. */
export const unitBuiltins: Readonly<Record<string, Builtin>> = {
  "units.parse": (text) =>
    parse(
      clean(text, "units.parse"),
      "units.parse",
      (unit) => QUANTITY[unit === "m" || unit === "M" ? unit : unit.toLowerCase()],
    ),
  "units.parse_bytes": (text) =>
    parse(clean(text, "units.parse_bytes"), "units.parse_bytes", (unit) => BYTES[unit.toLowerCase().replace(/b$/, "")]),
};

/** Factors as fractions. */
function table(milli: boolean): Record<string, [bigint, bigint]> {
  const factors: Record<string, [bigint, bigint]> = { "": [1n, 1n] };
  for (const [index, letter] of ["k", "m", "g", "t", "p", "e"].entries()) {
    factors[letter] = [1000n ** BigInt(index + 1), 1n];
    factors[`${letter}i`] = [1024n ** BigInt(index + 1), 1n];
  }
  if (milli) {
    factors.M = [1_000_000n, 1n];
    factors.m = [1n, 1000n];
  }
  return factors;
}

function clean(value: unknown, builtin: string): string {
  const text = textOf(value, builtin).replaceAll('"', "");
  if (text === "" || /\s/.test(text)) throw new Error(`${builtin}: no amount in ${JSON.stringify(value)}`);
  return text;
}

function parse(text: string, builtin: string, factorOf: (unit: string) => [bigint, bigint] | undefined): unknown {
  const match = /^([+-]?\d*\.?\d*(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(text);
  const [, amount = "", unit = ""] = match ?? [];
  const factor = factorOf(unit);
  if (!match || !/\d/.test(amount) || !factor) throw new Error(`${builtin}: could not parse ${JSON.stringify(text)}`);
  const [top, bottom] = factor;
  if (/^[+-]?\d+$/.test(amount)) {
    const scaled = BigInt(amount) * top;
    if (scaled % bottom === 0n) return integer(scaled / bottom);
    return Number(scaled) / Number(bottom);
  }
  const result = (Number(amount) * Number(top)) / Number(bottom);
  return builtin === "units.parse_bytes" ? Math.trunc(result) : result;
}
