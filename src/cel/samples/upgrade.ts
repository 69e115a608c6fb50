/** The parts of a policy's expressions that servers of different releases evaluate differently (spec kubernetes-1-38.md 1), and data that may show it. */
import type { Expr } from "../ast.js";
import type { CheckedExpr } from "../checked.js";
import { CompiledProgram, KUBERNETES_COST_LIMIT } from "../program.js";
import type { Program } from "../public-types.js";
import type { Type } from "../types.js";
import type { Value } from "../values/value.js";
import { walk } from "../walk.js";
import { Sample } from "./sample.js";
import type { Shape } from "./shape.js";
import { type NamedChecked, type Usage, usageOfAll } from "./usage.js";

/** A part of an expression that releases evaluate differently, as a sentence about the expression. */
export type UpgradeSpot =
  | "orders a number that may be NaN"
  | "runs over a value that may be an empty text"
  | "computes with quantities"
  | "calls a list function that may fail"
  | "may reach the limit of its cost";

const ORDERED: ReadonlySet<string> = new Set(["_<_", "_<=_", "_>_", "_>=_"]);
const LISTS: ReadonlySet<string> = new Set(["sortBy", "distinct", "flatten", "@sortByAssociatedKeys"]);
const QUANTITIES: ReadonlySet<string> = new Set(["quantity", "isQuantity"]);

/** The smallest limit of what several expressions may cost together: that of match conditions. */
const LEAST_COST_OF_ALL = 2_500_000;

/** Values of the variables; the number is of use for other choices. */
export interface UpgradeSample {
  readonly number: number;
  readonly bindings: { readonly [name: string]: Value };
}

/** Samples of the data that a policy's expressions read; deterministic (disposable). */
export class UpgradeSamples {
  /** The parts for which decisions may change; none: they cannot. */
  readonly spots: ReadonlySet<UpgradeSpot>;
  readonly #usage: Usage;
  readonly #shapes: readonly Shape[];
  #state = 1;

  /** @param parts in the order of their use; one with a name is a variable */
  constructor(parts: readonly { readonly name?: string | undefined; readonly program: Pick<Program, "source"> }[]) {
    const spots = new Set<UpgradeSpot>();
    const data = new Map<string, boolean>();
    let cost = 0n;
    const examined = parts.flatMap(({ name, program }): NamedChecked[] => {
      if (!(program instanceof CompiledProgram)) return [];
      const { checked, declarations } = program.examined();
      for (const spot of spotsOf(checked, new Map(data))) spots.add(spot);
      if (name !== undefined) data.set(`variables.${name}`, isData(checked.expr, data));
      const { max } = program.estimate();
      cost += max;
      if (max > KUBERNETES_COST_LIMIT || cost > LEAST_COST_OF_ALL) spots.add("may reach the limit of its cost");
      return [{ name, checked, declarations }];
    });
    this.spots = spots;
    this.#usage = usageOfAll(examined, spots.has("orders a number that may be NaN") ? ["NaN"] : []);
    const shapes = new Set<Shape>();
    const visit = (shape: Shape | undefined): void => {
      if (shape === undefined || shapes.has(shape)) return;
      shapes.add(shape);
      for (const each of [...shape.fields.values(), shape.element]) visit(each);
    };
    for (const shape of [...this.#usage.variables.values(), ...this.#usage.answers.values()]) visit(shape);
    this.#shapes = [...shapes];
  }

  /** A sample; one like another where that one came close. */
  next(like?: UpgradeSample): UpgradeSample {
    const seeds = new Map(like instanceof Sample ? like.seeds : []);
    if (like === undefined) for (const shape of this.#shapes) seeds.set(shape, this.#random());
    for (let i = this.#random() % 3; like !== undefined && i >= 0; i--) {
      const shape = this.#shapes[this.#random() % this.#shapes.length];
      if (shape !== undefined) seeds.set(shape, this.#random());
    }
    return new Sample(this.#usage, like?.number ?? this.#random() % 64, seeds);
  }

  #random(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state >>> 4;
  }
}

/**
 * The parts of an expression.
 * @param data whether a variable's value is JSON data, by name; those of loops are added
 */
function spotsOf({ expr, types }: CheckedExpr, data: Map<string, boolean>): ReadonlySet<UpgradeSpot> {
  const spots = new Set<UpgradeSpot>();
  const isOpen = (each: Expr): boolean => isUnknown(types.get(each.id));
  walk(expr, (each) => {
    if (each.kind === "comprehension") {
      const isOfData = isData(each.range, data);
      for (const name of [each.iterVar, each.iterVar2 ?? each.iterVar])
        data.set(name, isOfData && data.get(name) !== false);
      data.set(each.accuVar, false);
      if (isOpen(each.range)) spots.add("runs over a value that may be an empty text");
    }
    if (each.kind !== "call") return;
    const { function: name, args } = each;
    const mayBeNaN = (arg: Expr): boolean =>
      arg.kind !== "literal" && (types.get(arg.id)?.kind === "double" || (isOpen(arg) && !isData(arg, data)));
    if (ORDERED.has(name) && args.some(mayBeNaN)) spots.add("orders a number that may be NaN");
    if (QUANTITIES.has(name)) spots.add("computes with quantities");
    if (LISTS.has(name)) spots.add("calls a list function that may fail");
  });
  return spots;
}

const isUnknown = (type: Type | undefined): boolean =>
  type === undefined || type.kind === "dyn" || type.kind === "param" || type.kind === "error";

/** Whether a value is a part of an object, which JSON gives no NaN. */
function isData(expr: Expr, known: ReadonlyMap<string, boolean>): boolean {
  if (expr.kind === "ident") return known.get(expr.name) ?? true;
  if (expr.kind === "call") return /^_(?:\[\??_\]|\?\._)$/.test(expr.function) && isData(expr.args[0] as Expr, known);
  if (expr.kind !== "select") return false;
  const { operand, field } = expr;
  const isVariable = operand.kind === "ident" && operand.name === "variables";
  return isVariable ? known.get(`variables.${field}`) === true : isData(operand, known);
}
