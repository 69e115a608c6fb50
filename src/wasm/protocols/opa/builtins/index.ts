/** The Rego builtins that the host supplies; the rest are compiled into the modules. Spec kubewarden.md 6.5. */
import { sprintf } from "../../../../data/go/fmt/sprintf.js";
import type { Argument } from "../../../../data/go/fmt/verbs.js";
import { printTerm, WrittenNumber } from "../rego-value.js";
import type { Builtin, BuiltinEnvironment } from "./builtin.js";
import { encodings } from "./encodings.js";
import { jsonBuiltins } from "./json.js";
import { listOf, textOf } from "./operands.js";
import { regexBuiltins } from "./regex.js";
import { semverBuiltins } from "./semver.js";
import { stringBuiltins } from "./strings.js";
import { timeBuiltins } from "./time.js";
import { unitBuiltins } from "./units.js";

/** The builtins by name. */
export function builtinsFor({ trace, now, work }: BuiltinEnvironment): Readonly<Record<string, Builtin>> {
  return {
    sprintf: (format, values) => sprintf(textOf(format, "sprintf"), listOf(values, "sprintf").map(argumentOf)),
    trace: (note) => {
      trace(textOf(note, "trace"));
      return null;
    },
    ...jsonBuiltins(work),
    ...semverBuiltins,
    ...regexBuiltins(work),
    ...stringBuiltins,
    ...encodings,
    ...unitBuiltins,
    ...timeBuiltins(now),
  };
}

/** Converts a value for Go's fmt as Rego does: collections, booleans and null become the texts of their terms. */
function argumentOf(value: unknown): Argument {
  if (typeof value === "string") return { type: "string", value };
  if (typeof value === "number") return { type: "int64", value: BigInt(value) };
  if (typeof value === "bigint") return { type: BigInt.asIntN(64, value) === value ? "int64" : "*big.Int", value };
  if (value instanceof WrittenNumber && Number.isFinite(value.valueOf()))
    return { type: "float64", value: value.valueOf() };
  return { type: "string", value: printTerm(value) };
}
