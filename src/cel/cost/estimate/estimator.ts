/** Estimates the cost of an expression, at least and at most, without running it (spec kubernetes-cel.md 5.4). */
import type { CallExpr, ComprehensionExpr, Expr, ListExpr, MapExpr, SelectExpr } from "../../ast.js";
import type { Type } from "../../types.js";
import type { CallCost, CostCall, CostNode } from "./cost-node.js";
import { CostWalk, NOTHING, ONE, ZERO } from "./cost-walk.js";
import { libraryCost, sizeOf } from "./library-costs.js";
import { fixed, product, type Range, sum, UNKNOWN, union } from "./range.js";
import { standardCost } from "./standard-costs.js";

/** The size of a literal: characters, octets, elements, entries; 1 for scalars. */
export function literalSize(expr: Expr): Range | undefined {
  switch (expr.kind) {
    case "literal": {
      const { value } = expr;
      if (typeof value === "string") return fixed(BigInt([...value].length));
      return fixed(value instanceof Uint8Array ? BigInt(value.length) : 1n);
    }
    case "list":
      return fixed(BigInt(expr.elements.length));
    case "map":
      return fixed(BigInt(expr.entries.length));
    default:
      return undefined;
  }
}

/** Whether values of this type are always of size 1. */
export function isScalar(type: Type): boolean {
  switch (type.kind) {
    case "bool":
    case "double":
    case "duration":
    case "int":
    case "timestamp":
    case "uint":
      return true;
    case "wrapper":
      return isScalar(type.of);
    case "opaque":
      return type.name === "optional_type" && type.params[0] !== undefined && isScalar(type.params[0]);
    default:
      return false;
  }
}

/** Sizes of the keys (or indexes) and values of a list or map. */
interface EntrySize {
  readonly kind: "list" | "map";
  readonly key: Range;
  readonly value: Range;
}

/** A comprehension variable. */
interface Local {
  readonly size: Range | undefined;
  readonly entries: EntrySize | undefined;
}

/** The estimate of Kubernetes up to 1.37. */
export class Estimator extends CostWalk<Local> {
  readonly #sizes = new Map<number, Range>();
  readonly #entries = new Map<number, EntrySize>();

  /** The size of an expression's value, as far as it is known. */
  #sizeOf(expr: Expr): Range | undefined {
    const size = this.#sizes.get(expr.id) ?? literalSize(expr);
    if (size !== undefined) return size;
    return isScalar(this.typeOf(expr)) ? ONE : this.local(expr)?.size;
  }

  #entriesOf(expr: Expr): EntrySize | undefined {
    return this.#entries.get(expr.id) ?? this.local(expr)?.entries;
  }

  #node(expr: Expr): CostNode {
    return { expr, type: this.typeOf(expr), size: this.#sizeOf(expr) };
  }

  protected select(expr: SelectExpr): Range {
    const operand = this.cost(expr.operand);
    if (expr.testOnly) return operand;
    const { kind } = this.typeOf(expr.operand);
    return kind === "map" || kind === "object" || kind === "param" ? sum(operand, ONE) : operand;
  }

  protected call(expr: CallExpr): Range {
    if (expr.function === "dyn" && expr.target === undefined) return this.#dyn(expr);
    const argCosts = expr.args.map((arg) => this.cost(arg));
    const args = expr.args.map((arg) => this.#node(arg));
    const overloads = this.checked.overloads.get(expr.id);
    if (overloads === undefined || overloads.length === 0) return ZERO;
    const targetCost = expr.target === undefined ? ZERO : this.cost(expr.target);
    const target = expr.target === undefined ? undefined : this.#node(expr.target);
    let cost = NOTHING;
    let size: Range | undefined;
    for (const overload of overloads) {
      const call: CostCall = { function: expr.function, overload, target, args };
      const one = this.#overload(expr, call, argCosts);
      cost = union(cost, one.cost);
      if (one.size !== undefined) size = size === undefined ? one.size : union(size, one.size);
      if (overload === "index_list" || overload === "index_map") {
        size = this.#entriesOf(expr.args[0]!)?.value;
      }
      size ??= this.#sizeOf(expr);
    }
    if (size !== undefined) this.#sizes.set(expr.id, size);
    return sum(targetCost, cost);
  }

  /** `dyn(x)` only switches checking off. */
  #dyn(expr: CallExpr): Range {
    const argument = expr.args[0]!;
    const cost = sum(ONE, this.cost(argument));
    this.#copySizes(expr, argument);
    return cost;
  }

  #copySizes(to: Expr, from: Expr): void {
    const size = this.#sizeOf(from);
    if (size !== undefined) this.#sizes.set(to.id, size);
    const entries = this.#entriesOf(from);
    if (entries !== undefined) this.#entries.set(to.id, entries);
  }

  /** The cost of a call with that of its arguments, if this overload is the one that runs. */
  #overload(expr: CallExpr, call: CostCall, argCosts: readonly Range[]): CallCost {
    const library = libraryCost(call);
    if (library !== undefined) return { ...library, cost: sum(library.cost, ...argCosts) };
    const [first, second, third] = argCosts;
    if (call.overload === "logical_and" || call.overload === "logical_or") {
      return { cost: { min: first!.min, max: sum(first!, second!).max } };
    }
    if (call.overload === "conditional") {
      this.#unionEntries(expr, expr.args[1]!, expr.args[2]!);
      return { cost: sum(first!, union(second!, third!)), size: union(sizeOf(call.args[1]!), sizeOf(call.args[2]!)) };
    }
    if (call.overload === "add_list") this.#unionEntries(expr, expr.args[0]!, expr.args[1]!);
    const own = standardCost(call);
    return { ...own, cost: sum(own.cost, ...argCosts) };
  }

  /** The entries of a value that may be, or is made of, two others. */
  #unionEntries(expr: Expr, a: Expr, b: Expr): void {
    const [left, right] = [this.#entriesOf(a), this.#entriesOf(b)];
    if (left === undefined || right === undefined) return;
    this.#entries.set(expr.id, {
      kind: left.kind,
      key: union(left.key, right.key),
      value: union(left.value, right.value),
    });
  }

  protected override list(expr: ListExpr): Range {
    const cost = super.list(expr);
    this.#entries.set(expr.id, { kind: "list", key: ONE, value: this.#unionSize(expr.elements) });
    return cost;
  }

  protected override map(expr: MapExpr): Range {
    const cost = super.map(expr);
    const [key, value] = (["key", "value"] as const).map((part) =>
      this.#unionSize(expr.entries.map((entry) => entry[part])),
    ) as [Range, Range];
    this.#entries.set(expr.id, { kind: "map", key, value });
    return cost;
  }

  #unionSize(parts: readonly Expr[]): Range {
    if (parts.length === 0) return ZERO;
    return parts.map((part) => this.#sizeOf(part) ?? UNKNOWN).reduce(union, NOTHING);
  }

  /** The iteration variables over a range: index or key, and element or value. */
  #iterationLocals(range: Expr): { readonly key: Local; readonly value: Local; readonly kind: string } {
    const entries = this.#entriesOf(range);
    const kind = entries?.kind ?? this.typeOf(range).kind;
    return {
      kind,
      key: { size: entries?.key, entries: undefined },
      value: { size: entries?.value, entries: undefined },
    };
  }

  protected comprehension(expr: ComprehensionExpr): Range {
    const before = sum(this.cost(expr.range), this.cost(expr.accuInit));
    const { key, value, kind } = this.#iterationLocals(expr.range);
    const first = expr.iterVar2 !== undefined || kind !== "list" ? key : value;
    const body = () => sum(this.cost(expr.loopCondition), this.cost(expr.loopStep));
    const [each, result] = this.with(expr.accuVar, this.#bound(expr.accuInit), () => {
      const { iterVar2 } = expr;
      const inner = iterVar2 === undefined ? body : () => this.with(iterVar2, value, body);
      return [this.with(expr.iterVar, first, inner), this.cost(expr.result)];
    });
    const count = this.#sizeOf(expr.range) ?? UNKNOWN;
    if (expr.accuInit.kind === "literal") {
      const size = this.#sizeOf(expr.accuInit);
      if (size !== undefined) this.#sizes.set(expr.id, size);
    } else if (expr.accuInit.kind === "list" || expr.accuInit.kind === "map") {
      this.#sizes.set(expr.id, count);
      const entries = this.#entriesOf(expr.loopStep);
      if (entries !== undefined) this.#entries.set(expr.id, entries);
    }
    return sum(before, result, product(count, each));
  }

  #bound(expr: Expr): Local {
    return { size: this.#sizeOf(expr), entries: this.#entriesOf(expr) };
  }

  protected binding(expr: ComprehensionExpr): Range {
    const before = sum(this.cost(expr.range), this.cost(expr.accuInit));
    const result = this.with(expr.accuVar, this.#bound(expr.accuInit), () => this.cost(expr.result));
    this.#copySizes(expr, expr.result);
    return sum(before, result);
  }
}
