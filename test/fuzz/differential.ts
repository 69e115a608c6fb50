/** The forms of one expression, evaluated with and without cost, trace, check and constants, come to the same. */

import { type Bindings, CelError, type CompileOptions, createEnvironment, type Value } from "../../src/cel/index.js";
import { encodeValue } from "../../src/kinds/shared/encode-value.js";
import { Random } from "../cel/support/mutations.js";
import { type RandomExpression, randomBindings, randomExpression, withVariables } from "./expressions.js";
import type { Fuzzer } from "./fuzzer.js";

const ENVIRONMENTS = (["kubernetes", "standard"] as const).map((flavour) =>
  withVariables(createEnvironment({ flavour })),
);

/** Far above what these expressions cost, so that none is ended by the limit. */
const AMPLE_COST = 1_000_000_000;

interface Outcome {
  /** The value's encoding, or the error's text. */
  readonly text: string;
  readonly error: boolean;
  readonly cost: number;
  /** Whether no program could be made. */
  readonly compiling: boolean;
}

/** An error that the reference has only where it counts cost. */
const COUNTING_FAULT = "internal error: interface conversion: *types.Err is not traits.Lister";

/** What an expression yields, compiled so; `undefined` when it has no such form: its types do not fit. */
function outcomeOf(
  flavour: number,
  source: string,
  bindings: Bindings,
  options: CompileOptions,
  costLimit = AMPLE_COST,
): Outcome | undefined {
  const compiled = ENVIRONMENTS[flavour]?.compile(source, options);
  if (compiled === undefined) return undefined;
  if (!compiled.ok)
    return compiled.phase === "compile" ? undefined : { text: compiled.text, error: true, cost: 0, compiling: true };
  const { result, cost } = compiled.program.evaluate(bindings, { costLimit });
  if (result instanceof CelError) return { text: result.message, error: true, cost, compiling: false };
  return { text: JSON.stringify(encodeValue(result as Value)), error: false, cost, compiling: false };
}

/** How one expression's forms differ; `undefined` when they do not. */
function difference(flavour: number, { constant, variable }: RandomExpression, bindings: Bindings): string | undefined {
  const plain = outcomeOf(flavour, constant, bindings, { cost: true });
  // A constant that cannot be converted is an error of the whole while the program is made (spec kubernetes-cel.md 3.2).
  if (plain === undefined || plain.compiling || plain.text.startsWith(COUNTING_FAULT)) return undefined;
  const differs = (form: string, other: Outcome | undefined, same: (other: Outcome) => boolean): string | undefined =>
    other === undefined || same(other) ? undefined : `${form}: ${JSON.stringify(plain)} but ${JSON.stringify(other)}`;
  const equal = (other: Outcome): boolean => other.text === plain.text && other.error === plain.error;
  // Which of several errors is told may depend on what is known when.
  const alike = (other: Outcome): boolean => (plain.error ? other.error : equal(other));
  const limited = plain.cost === 0 ? undefined : outcomeOf(flavour, constant, bindings, { cost: true }, plain.cost - 1);
  return (
    differs("without cost", outcomeOf(flavour, constant, bindings, { cost: false }), equal) ??
    differs(
      "with trace",
      outcomeOf(flavour, constant, bindings, { cost: true, trace: true }),
      (other) => equal(other) && other.cost === plain.cost,
    ) ??
    differs("at its cost", outcomeOf(flavour, constant, bindings, { cost: true }, plain.cost), equal) ??
    differs("exact", limited, ({ text, cost }) => /cost limit exceeded/.test(text) && cost === plain.cost) ??
    differs("unchecked", outcomeOf(flavour, constant, bindings, { check: false }), alike) ??
    differs("with variables for constants", outcomeOf(flavour, variable, bindings, {}), alike)
  );
}

/**
 * Evaluates random expressions in all forms until so much time of the processor is used.
 * @returns how many expressions compiled, and every difference found, at most ten
 */
export function run(
  seconds: number,
  seed: number,
): { readonly expressions: number; readonly differences: readonly string[] } {
  const random = new Random(seed);
  const differences: string[] = [];
  let expressions = 0;
  const start = process.cpuUsage();
  const used = (): number => process.cpuUsage(start).user / 1_000_000;
  while (used() < seconds && differences.length < 10) {
    const expression = randomExpression(random);
    const bindings = randomBindings(random);
    const flavour = random.below(ENVIRONMENTS.length);
    expressions += 1;
    const found = difference(flavour, expression, bindings);
    if (found !== undefined)
      differences.push(`${expression.constant}\n  of ${JSON.stringify(bindings.object)}\n  ${found}`);
  }
  return { expressions, differences };
}

/** `forms`: see {@link run}. */
export const formFuzzer: Fuzzer = {
  name: "forms",
  run(milliseconds, seed) {
    const { expressions, differences } = run(milliseconds / 1_000, seed);
    console.log(`${expressions} expressions compared`);
    return differences;
  },
};
