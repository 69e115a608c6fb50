/** The official conformance cases, one by one: what each asks and whether the engine answers it. */
import { tests } from "@bufbuild/cel-spec/testdata/conformance.js";
import type { Overload } from "../../src/cel/declarations.js";
import { createEnvironment } from "../../src/cel/index.js";
import { equals } from "../../src/cel/operators/compare.js";
import { kindOf } from "../../src/cel/operators/kind.js";
import { formatLongType } from "../../src/cel/types.js";
import { CelError } from "../../src/cel/values/cel-error.js";
import type { Result, Value } from "../../src/cel/values/value.js";
import { BoundedWork } from "../../src/cel/values/work.js";
import { evaluatedInSteps } from "../cel/support/in-steps.js";
import { specType, specValue } from "./spec-values.js";

/** A case as the data has it. */
export interface SpecCase {
  readonly name: string;
  readonly expr: string;
  readonly value?: unknown;
  readonly typedResult?: { readonly result?: unknown; readonly deducedType?: unknown };
  readonly evalError?: unknown;
  readonly bindings?: Readonly<Record<string, { readonly value: unknown }>>;
  readonly typeEnv?: readonly {
    readonly name: string;
    readonly ident?: { readonly type: unknown };
    readonly function?: { readonly overloads: readonly SpecOverload[] };
  }[];
  readonly container?: string;
  readonly disableCheck?: boolean;
  readonly checkOnly?: boolean;
}

interface SpecOverload {
  readonly overloadId: string;
  readonly params?: readonly unknown[];
  readonly resultType: unknown;
  readonly isInstanceFunction?: boolean;
}

interface Suite {
  readonly name: string;
  readonly suites?: readonly Suite[];
  readonly tests?: readonly { readonly original: object }[];
}

/** All cases, named by their path: `basic/variables/self_eval_bound_lookup`. A name that comes twice gets a number. */
export function specCases(): ReadonlyMap<string, SpecCase> {
  const cases = new Map<string, SpecCase>();
  const visit = (suite: Suite, path: readonly string[]): void => {
    for (const { original } of suite.tests ?? []) {
      const spec = original as SpecCase;
      const base = [...path, spec.name].join("/");
      let name = base;
      for (let count = 2; cases.has(name); count++) name = `${base}#${count}`;
      cases.set(name, spec);
    }
    for (const inner of suite.suites ?? []) visit(inner, [...path, inner.name]);
  };
  visit(tests as Suite, []);
  return cases;
}

/** `undefined` when the engine does what the case asks, else what differs. */
export function judge(spec: SpecCase): string | undefined {
  try {
    return compareOutcome(spec);
  } catch (error) {
    return `cannot be expressed: ${String(error)}`;
  }
}

function compareOutcome(spec: SpecCase): string | undefined {
  const variables = (spec.typeEnv ?? []).flatMap(({ name, ident }) =>
    ident === undefined ? [] : [{ name, type: specType(ident.type) }],
  );
  const functions = (spec.typeEnv ?? []).flatMap(({ name, function: declared }) =>
    declared === undefined ? [] : [{ name, overloads: declared.overloads.map(hostOverload) }],
  );
  const environment = createEnvironment({ flavour: "standard", container: spec.container ?? "", variables, functions });
  const compiled = environment.compile(spec.expr, spec.disableCheck === true ? { check: false } : {});
  if (!compiled.ok) return spec.evalError === undefined ? `does not compile: ${compiled.text}` : undefined;
  const { program } = compiled;
  const deduced = spec.typedResult?.deducedType;
  if (deduced !== undefined) {
    const wanted = formatLongType(specType(deduced));
    if (formatLongType(program.type) !== wanted) return `is of type ${formatLongType(program.type)}, not ${wanted}`;
  }
  if (spec.checkOnly === true) return undefined;
  const bindings = Object.fromEntries(
    Object.entries(spec.bindings ?? {}).map(([name, { value }]) => [name, specValue(value)]),
  );
  const result = program.evaluate(bindings).result as Result;
  const inSteps = evaluatedInSteps(program, bindings, {}, { count: 0 }).result as Result;
  const isSame =
    result instanceof CelError
      ? inSteps instanceof CelError && inSteps.message === result.message
      : !(inSteps instanceof CelError) && same(inSteps, result);
  if (!isSame) return `yields ${String(inSteps)} in steps, and else ${String(result)}`;
  if (result instanceof CelError) return spec.evalError === undefined ? `fails: ${result.message}` : undefined;
  if (spec.evalError !== undefined) return `yields ${String(result)} instead of an error`;
  const expected = specValue(spec.value ?? spec.typedResult?.result ?? { boolValue: true });
  return same(result, expected) ? undefined : `yields ${String(result)}, not ${String(expected)}`;
}

/** A declared function; cases that have one are only checked. */
function hostOverload(spec: SpecOverload): Overload {
  return {
    id: spec.overloadId,
    member: spec.isInstanceFunction === true,
    params: (spec.params ?? []).map(specType),
    result: specType(spec.resultType),
    call: () => new CelError("only declared"),
  };
}

/** The same kind and value; NaN is itself. */
function same(a: Value, b: Value): boolean {
  if (kindOf(a) !== kindOf(b)) return false;
  if (kindOf(a) === "double" && Number.isNaN(Number(a))) return Number.isNaN(Number(b));
  return equals(a, b, new BoundedWork(Number.POSITIVE_INFINITY)) === true;
}
