/** Estimates the cost of an expression as Kubernetes 1.38 does (spec kubernetes-1-38.md 1): a size tells of its parts, and sizes are found for types. */
import type { CallExpr, ComprehensionExpr, Expr, ListExpr, MapExpr, SelectExpr } from "../../ast.js";
import { DYN, type Type } from "../../types.js";
import type { CallCost, CostCall, CostNode } from "./cost-node.js";
import { CostWalk, NOTHING, ONE, ZERO } from "./cost-walk.js";
import { isScalar, literalSize } from "./estimator.js";
import { libraryCost } from "./library-costs.js";
import { fixed, product, type Range, sum, UNKNOWN, union } from "./range.js";
import { isUnknown, mergedParts, type Size, unionSize } from "./size.js";
import { sizedCost } from "./sized-costs.js";
import { standardCost } from "./standard-costs.js";

/** A variable of a comprehension or a binding. `placed`: the reference knows a path to its value. */
interface Local {
  readonly size: Size | undefined;
  readonly placed: boolean;
}

/** A part whose size is wanted: an expression, or the parts of a value at a path. */
interface Sized {
  readonly expr?: Expr;
  readonly type: Type;
  readonly placed: boolean;
}

/** The estimate of 1.38 charges for every selection, other than that of 1.37; what nothing is known about is as large as can be. */
export class SizedEstimator extends CostWalk<Local> {
  readonly #sizes = new Map<number, Size>();
  readonly #placed = new Set<number>();

  override cost(expr: Expr): Range {
    if (expr.kind === "ident") this.#place(expr, this.local(expr)?.placed ?? true);
    return super.cost(expr);
  }

  #place(expr: Expr, placed: boolean): void {
    if (placed) this.#placed.add(expr.id);
    else this.#placed.delete(expr.id);
  }

  #isPlaced(expr: Expr): boolean {
    return this.local(expr)?.placed ?? this.#placed.has(expr.id);
  }

  /** The size of an expression's value, as far as it is known; found once. */
  #sizeOf(expr: Expr): Size | undefined {
    const known = this.#sizes.get(expr.id) ?? this.local(expr)?.size;
    if (known !== undefined) return known;
    const size = this.#sized({ expr, type: this.typeOf(expr), placed: this.#isPlaced(expr) });
    if (size !== undefined) this.#sizes.set(expr.id, size);
    return size;
  }

  /** The size of a part with a type that may not be its own. */
  #partSize(part: Sized): Size {
    return (part.expr && this.#sizeOf(part.expr)) ?? this.#sized(part) ?? UNKNOWN;
  }

  #sized(part: Sized): Size | undefined {
    const { expr, type } = part;
    if (expr?.kind === "literal") return literalSize(expr);
    const dynamic = isDynamic(type);
    if (type.kind === "list" || (dynamic && expr?.kind === "list")) return this.#listSize(part);
    if (type.kind === "map" || (dynamic && expr?.kind === "map")) return this.#mapSize(part);
    if (!dynamic) return isScalar(type) || type.kind === "type" ? ONE : undefined;
    return expr === undefined ? undefined : this.#branches(expr, type);
  }

  /** The size of a conditional: what either branch may be. */
  #branches(expr: Expr, type: Type): Size | undefined {
    if (expr.kind !== "call" || expr.function !== "_?_:_") return undefined;
    const [, yes, no] = expr.args.map((arg) => this.#partSize({ expr: arg, type, placed: false }));
    return unionSize(yes as Size, no as Size);
  }

  #listSize({ expr, type, placed }: Sized): Size | undefined {
    const elementType = (type.kind === "list" ? type.element : undefined) ?? DYN;
    let size: Size | undefined;
    if (expr?.kind === "list") size = this.#literalList(expr, elementType);
    else if (expr?.kind === "call" && expr.function === "_+_") {
      const [a, b] = expr.args.map((arg) => this.#partSize({ expr: arg, type, placed: false })) as [Size, Size];
      size = { ...sum(a, b), ...mergedParts(a, b) };
    } else if (expr !== undefined) size = this.#branches(expr, type);
    const elem = this.#childSize(elementType, placed, size?.elem);
    if (size === undefined && elem === undefined) return expr && { ...UNKNOWN, elem: UNKNOWN };
    const { min, max } = size ?? UNKNOWN;
    return { min, max, elem: elem ?? (max > 0n ? UNKNOWN : undefined) };
  }

  #literalList(expr: ListExpr, type: Type): Size {
    let { min, max } = fixed(BigInt(expr.elements.length));
    let elem: Size | undefined;
    expr.elements.forEach((element, index) => {
      const optional = expr.optional[index] === true;
      const value = optional ? contentOf(element) : element;
      if (optional) min--;
      if (value === undefined) max--;
      else elem = joined(elem, this.#partSize({ expr: value, type, placed: false }));
    });
    return { min, max, elem };
  }

  #mapSize({ expr, type, placed }: Sized): Size | undefined {
    const [keyType, valueType] = type.kind === "map" ? [type.key, type.value] : [DYN, DYN];
    let size: Size | undefined;
    if (expr?.kind === "map") size = this.#literalMap(expr, keyType, valueType);
    else if (expr?.kind === "call" && expr.function === "cel.@mapInsert") size = this.#inserted(expr, type);
    else if (expr !== undefined) size = this.#branches(expr, type);
    const key = this.#childSize(keyType, placed, size?.key);
    const elem = this.#childSize(valueType, placed, size?.elem);
    if (size === undefined && key === undefined && elem === undefined && expr === undefined) return undefined;
    const { min, max } = size ?? UNKNOWN;
    const other = size === undefined || max > 0n ? UNKNOWN : undefined;
    return { min, max, key: key ?? other, elem: elem ?? other };
  }

  #literalMap(expr: MapExpr, keyType: Type, valueType: Type): Size {
    let { min, max } = fixed(BigInt(expr.entries.length));
    let [key, elem]: (Size | undefined)[] = [];
    for (const entry of expr.entries) {
      if (entry.optional) min--;
      key = joined(key, this.#partSize({ expr: entry.key, type: keyType, placed: false }));
      elem = joined(elem, this.#partSize({ expr: entry.value, type: valueType, placed: false }));
    }
    return { min, max, key, elem };
  }

  /** The size of a map with one entry more, or with those of another. */
  #inserted({ args }: CallExpr, type: Type): Size {
    const [keyType, valueType] = type.kind === "map" ? [type.key, type.value] : [DYN, DYN];
    const into = this.#partSize({ expr: args[0] as Expr, type, placed: false });
    if (args.length === 2) {
      const more = this.#partSize({ expr: args[1] as Expr, type, placed: false });
      return { ...sum(into, more), ...mergedParts(into, more) };
    }
    const key = this.#partSize({ expr: args[1] as Expr, type: keyType, placed: false });
    const elem = this.#partSize({ expr: args[2] as Expr, type: valueType, placed: false });
    return { ...sum(into, ONE), key: joined(into.key, key), elem: joined(into.elem, elem) };
  }

  /** The size of the parts of a list or map, by their type where nothing else is known. */
  #childSize(type: Type, placed: boolean, known: Size | undefined): Size | undefined {
    let size = known;
    const nested = isDynamic(type) || type.kind === "list" || type.kind === "map";
    if (placed && (size === undefined || (size.elem === undefined && nested))) {
      const found = this.#sized({ type, placed });
      if (found !== undefined && !isUnknown(found)) {
        size = size === undefined ? found : { ...size, key: found.key, elem: found.elem };
      }
    }
    return size ?? (isScalar(type) || type.kind === "type" ? ONE : undefined);
  }

  #node(expr: Expr): CostNode {
    return { expr, type: this.typeOf(expr), size: this.#sizeOf(expr) };
  }

  protected select(expr: SelectExpr): Range {
    const own = expr.testOnly ? branchCost(expr.operand) : ONE;
    const cost = sum(own, this.cost(expr.operand));
    if (this.#isPlaced(expr.operand)) this.#place(expr, true);
    return cost;
  }

  protected call(expr: CallExpr): Range {
    if (expr.function === "dyn") {
      const argument = expr.args[0] as Expr;
      const cost = sum(ONE, this.cost(argument));
      this.#setSize(expr, this.#sizeOf(argument));
      return cost;
    }
    const argCosts = expr.args.map((arg) => this.cost(arg));
    const overloads = this.checked.overloads.get(expr.id) ?? [];
    if (overloads.length === 0) return sum(ONE, ...argCosts);
    const targetCost = expr.target === undefined ? ZERO : this.cost(expr.target);
    const args = expr.args.map((arg) => this.#node(arg));
    const target = expr.target === undefined ? undefined : this.#node(expr.target);
    let cost = NOTHING;
    let size: Size | undefined;
    for (const overload of overloads) {
      const one = costOf({ function: expr.function, overload, target, args }, argCosts);
      cost = union(cost, one.cost);
      let own: Size | undefined = one.size;
      if (overload === "index_list" || overload === "index_map") {
        const container = expr.args[0] as Expr;
        if (this.#isPlaced(container)) this.#place(expr, true);
        else own = this.#sizeOf(container)?.elem ?? own;
      }
      size = joined(size, own ?? this.#sizeOf(expr));
    }
    this.#setSize(expr, size);
    return sum(targetCost, cost);
  }

  #setSize(expr: Expr, size: Size | undefined): void {
    if (size !== undefined) this.#sizes.set(expr.id, size);
  }

  #bound(expr: Expr): Local {
    return { size: this.#sizeOf(expr), placed: this.#isPlaced(expr) };
  }

  /** The iteration variables over a range. */
  #iterationLocals(range: Expr, two: boolean): readonly [Local, Local] {
    const { key, elem } = this.#sizeOf(range) ?? (UNKNOWN as Size);
    const type = this.typeOf(range);
    const local = (size: Size | undefined): Local => ({ size, placed: true });
    if (two) return [local(type.kind === "list" ? ONE : key), local(elem)];
    const isList = type.kind === "list" || (type.kind === "dyn" && key === undefined && elem !== undefined);
    return [local(isList ? elem : key), local(undefined)];
  }

  protected comprehension(expr: ComprehensionExpr): Range {
    const before = sum(this.cost(expr.range), this.cost(expr.accuInit));
    const [each, step, result] = this.with(expr.accuVar, this.#bound(expr.accuInit), () => {
      const { iterVar2 } = expr;
      const [first, second] = this.#iterationLocals(expr.range, iterVar2 !== undefined);
      const body = (): readonly [Range, Size | undefined] => {
        const cost = sum(this.cost(expr.loopCondition), this.cost(expr.loopStep));
        return [cost, this.#sizeOf(expr.loopStep)];
      };
      const inner = iterVar2 === undefined ? body : () => this.with(iterVar2, second, body);
      return [...this.with(expr.iterVar, first, inner), this.cost(expr.result)] as const;
    });
    const range = this.#sizeOf(expr.range) ?? (UNKNOWN as Size);
    const { kind } = expr.accuInit;
    if (kind === "literal") this.#setSize(expr, this.#sizeOf(expr.accuInit));
    else if (kind === "list" || kind === "map") {
      // A step may leave an element out.
      const skips = expr.loopStep.kind === "call" && expr.loopStep.function === "_?_:_";
      this.#setSize(expr, {
        min: skips ? 0n : range.min,
        max: range.max,
        key: kind === "list" ? undefined : (step?.key ?? range.key),
        elem: step?.elem ?? range.elem,
      });
    }
    return sum(before, result, product(range, each));
  }

  protected binding(expr: ComprehensionExpr): Range {
    const before = sum(this.cost(expr.range), this.cost(expr.accuInit));
    const result = this.with(expr.accuVar, this.#bound(expr.accuInit), () => {
      const cost = this.cost(expr.result);
      if (this.#isPlaced(expr.result)) this.#place(expr, true);
      this.#setSize(expr, this.#sizeOf(expr.result));
      return cost;
    });
    return sum(before, result);
  }
}

const isDynamic = ({ kind }: Type): boolean => kind === "dyn" || kind === "any" || kind === "param";

const joined = (a: Size | undefined, b: Size | undefined): Size | undefined =>
  a === undefined ? b : b === undefined ? a : unionSize(a, b);

/** The content of a list's optional element; `undefined` where there is certainly none. */
function contentOf(expr: Expr): Expr | undefined {
  if (expr.kind !== "call" || expr.target !== undefined) return expr;
  if (expr.function === "optional.none") return undefined;
  const wraps = expr.function === "optional.of" || expr.function === "optional.ofNonZeroValue";
  return wraps && expr.args.length === 1 ? expr.args[0] : expr;
}

/** The cost of a call with that of its arguments, if this overload is the one that runs. */
function costOf(call: CostCall, argCosts: readonly Range[]): CallCost {
  const own = sizedCost(call) ?? libraryCost(call) ?? standardCost(call);
  const [first, second, third] = argCosts as [Range, Range, Range];
  if (call.overload === "logical_and" || call.overload === "logical_or") {
    return { cost: { min: first.min, max: sum(first, second).max } };
  }
  if (call.overload === "conditional") return { ...own, cost: sum(first, union(second, third)) };
  return { ...own, cost: sum(own.cost, ...argCosts) };
}

/** The cost of the step that `has()` makes in the branch of a conditional. */
function branchCost(operand: Expr): Range {
  const root = rootOf(operand);
  if (root.kind !== "call" || root.function !== "_?_:_") return ZERO;
  const [yes, no] = root.args.slice(1).map((branch) => {
    const chained = isChain(branch) && !(branch.kind === "select" && branch.testOnly);
    return chained ? branchCost(branch) : ONE;
  }) as [Range, Range];
  return union(yes, no);
}

const STEPS: ReadonlySet<string> = new Set(["_[_]", "_[?_]", "_?._"]);

const isChain = (expr: Expr): boolean =>
  expr.kind === "ident" ||
  expr.kind === "select" ||
  (expr.kind === "call" && (STEPS.has(expr.function) || expr.function === "_?_:_"));

function rootOf(expr: Expr): Expr {
  if (expr.kind === "select") return expr.testOnly ? expr : rootOf(expr.operand);
  if (expr.kind === "call" && STEPS.has(expr.function)) return rootOf(expr.args[0] as Expr);
  return expr;
}
