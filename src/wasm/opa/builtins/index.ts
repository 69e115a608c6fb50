/** The Rego builtins that the host supplies; the rest are compiled into the modules. Spec kubewarden.md 6.5. */
import { encodings } from "./encodings.js";
import { jsonBuiltins } from "./json.js";
import { listOf, textOf } from "./operands.js";
import { regexBuiltins } from "./regex.js";
import { semverBuiltins } from "./semver.js";
import { goFormat } from "./sprintf.js";
import { stringBuiltins } from "./strings.js";
import { timeBuiltins } from "./time.js";
import { unitBuiltins } from "./units.js";

/**
 * One builtin: JSON values of `data/json` in and out.
 * @throws what the arguments do wrong; the evaluation fails with it
 */
export type Builtin = (...parameters: unknown[]) => unknown;

/** What builtins need of the world. */
export interface BuiltinSurroundings {
  readonly trace: (text: string) => void;
  /** Milliseconds since 1970. Read once per evaluation: within one, time stands still. */
  readonly now: () => number;
}

/** The builtins of one evaluation, by name. */
export function builtinsFor(surroundings: BuiltinSurroundings): Readonly<Record<string, Builtin>> {
  return {
    sprintf: (format, values) => goFormat(textOf(format, "sprintf"), listOf(values, "sprintf")),
    trace: (note) => {
      surroundings.trace(textOf(note, "trace"));
      return null;
    },
    ...jsonBuiltins,
    ...semverBuiltins,
    ...regexBuiltins,
    ...stringBuiltins,
    ...encodings,
    ...unitBuiltins,
    ...timeBuiltins(surroundings.now),
  };
}
