/** The members of `object` and `oldObject` that an expression reads, and those whose presence it tests. */
import type { CallExpr, ComprehensionExpr, Expr, SelectExpr } from "../../../cel/index.js";

/** Variables that are null in some requests. */
export type Root = "object" | "oldObject";

/** A member or key by its name; or an item of a list or, by a second variable or a computed key, of a list or map. */
export type Step = { readonly name: string } | { readonly item: "list" | "any" };

/** A value below one of the variables. */
export interface AccessPath {
  readonly root: Root;
  readonly steps: readonly Step[];
  /** The number of steps that are known to lead to something. */
  readonly present: number;
  /** Whether it is an optional value, so that all further steps may lead to nothing. */
  readonly optional: boolean;
  /** Whether a default stands for it where it is absent. */
  readonly defaulted?: boolean;
}

/** A path at its place in the source, in code points. */
export interface Access extends AccessPath {
  readonly offset: number;
}

/** The paths of an expression. */
export interface Accesses {
  readonly read: readonly Access[];
  /** Keys of paths whose presence is tested: by `has()`, `in` or `hasValue()`. */
  readonly tested: ReadonlySet<string>;
  /** Variables that are compared with null. */
  readonly nullTested: ReadonlySet<Root>;
  readonly namesOperation: boolean;
  /** The path of the result. */
  readonly result: AccessPath | undefined;
}

/** The path as text, which identifies it: `object.spec.containers[].image`. */
export const pathText = ({ root, steps }: Pick<AccessPath, "root" | "steps">): string =>
  root + steps.map((step) => ("item" in step ? "[]" : nameText(step.name))).join("");

const nameText = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`);

/** Reads the paths of a checked expression; of none, nothing. `variables` are those of the policy that are paths themselves. */
export function accessesIn(expr: Expr | undefined, variables: ReadonlyMap<string, AccessPath>): Accesses {
  const reader = new Reader(variables);
  const result = expr && reader.visit(expr, new Map());
  return { ...reader, result };
}

type Scope = ReadonlyMap<string, AccessPath | undefined>;

/** Reads one expression (disposable). */
class Reader {
  readonly read: Access[] = [];
  readonly tested = new Set<string>();
  readonly nullTested = new Set<Root>();
  namesOperation = false;
  readonly #variables: ReadonlyMap<string, AccessPath>;

  constructor(variables: ReadonlyMap<string, AccessPath>) {
    this.#variables = variables;
  }

  /** Reads an expression. Returns its path, if it is one. */
  visit(expr: Expr, scope: Scope): AccessPath | undefined {
    switch (expr.kind) {
      case "ident":
        if (scope.has(expr.name)) return scope.get(expr.name);
        return isRoot(expr.name) ? { root: expr.name, steps: [], present: 0, optional: false } : undefined;
      case "select":
        return this.#select(expr, scope);
      case "call":
        return this.#call(expr, scope);
      case "comprehension":
        return this.#comprehension(expr, scope);
      case "list":
        for (const element of expr.elements) this.visit(element, scope);
        return undefined;
      case "map":
        for (const { key, value } of expr.entries) for (const part of [key, value]) this.visit(part, scope);
        return undefined;
      case "struct":
        for (const { value } of expr.fields) this.visit(value, scope);
        return undefined;
      default:
        return undefined;
    }
  }

  #select({ operand, field, testOnly, offset }: SelectExpr, scope: Scope): AccessPath | undefined {
    if (operand.kind === "ident" && !scope.has(operand.name)) {
      if (operand.name === "request" && field === "operation") this.namesOperation = true;
      if (operand.name === "variables") return this.#variables.get(field);
    }
    const path = this.visit(operand, scope);
    if (path === undefined) return undefined;
    // The place of a selection is that of its dot.
    if (!testOnly) return this.#step(path, { name: field }, offset + 1);
    this.#test(path, field);
    // The operand itself must be there; that it is not null is a matter of the first step.
    if (path.steps.length === 0) this.read.push({ ...path, offset });
    return undefined;
  }

  #step(path: AccessPath, step: Step, offset: number): AccessPath {
    const steps = [...path.steps, step];
    const present = path.optional ? steps.length : path.present;
    const next = { ...path, steps, present, defaulted: false };
    this.read.push({ ...next, offset });
    return next;
  }

  /** A test that can't fail tells also that there is what it looks into; another one fails where that is absent. */
  #test(path: AccessPath, name: string): void {
    this.#tested({ ...path, steps: [...path.steps, { name }] }, path.optional || path.present === path.steps.length);
  }

  #tested({ root, steps }: AccessPath, withParts: boolean): void {
    for (let end = withParts ? 1 : steps.length; end <= steps.length; end++)
      this.tested.add(pathText({ root, steps: steps.slice(0, end) }));
  }

  #call(call: CallExpr, scope: Scope): AccessPath | undefined {
    const { function: name, target, args, offset } = call;
    const [left, right] = args;
    if (name === "_[_]" || name === "_?._" || name === "_[?_]") {
      const path = left && this.visit(left, scope);
      if (right !== undefined) this.visit(right, scope);
      if (path === undefined) return undefined;
      const key = right?.kind === "literal" && typeof right.value === "string" ? right.value : undefined;
      const step: Step = key === undefined ? { item: "any" } : { name: key };
      if (name === "_[_]") return this.#step(path, step, offset);
      return this.#step({ ...path, optional: true }, step, offset);
    }
    const of = target && this.visit(target, scope);
    const paths = args.map((each) => this.visit(each, scope));
    const [first, second] = paths;
    if (name === "@in" && second !== undefined && left?.kind === "literal" && typeof left.value === "string")
      this.#test(second, left.value);
    if (WEIGHED.has(name)) {
      for (const path of [of, ...paths]) {
        if (path?.steps.length === 0 && args.some(isNull)) this.nullTested.add(path.root);
        // `path.orValue('') == ''` and `path.orValue('').startsWith('x')` tell whether there is something.
        if (path?.defaulted === true || path?.optional === true) this.#tested(path, true);
      }
    }
    if (name === "size") return of ?? first;
    if (name === "hasValue" && of !== undefined) this.#tested(of, true);
    if (name === "orValue" || name === "value") return of && { ...found(of), defaulted: true };
    if (name === "dyn") return first;
    // Both are lists of the same items; of a choice one part is a default.
    if (name === "_+_") return found(first ?? second);
    return name === "_?_:_" ? found(second ?? paths[2]) : undefined;
  }

  #comprehension(loop: ComprehensionExpr, scope: Scope): AccessPath | undefined {
    const { range, iterVar, iterVar2, accuVar, accuInit, loopCondition, loopStep, result } = loop;
    const path = this.visit(range, scope);
    const item = (kind: "list" | "any"): AccessPath | undefined => {
      if (path === undefined) return undefined;
      const steps = [...path.steps, { item: kind }];
      return { ...path, steps, present: steps.length, optional: false, defaulted: false };
    };
    const inside = new Map(scope);
    inside.set(accuVar, this.visit(accuInit, scope));
    inside.set(iterVar, iterVar2 === undefined ? item("list") : undefined);
    if (iterVar2 !== undefined) inside.set(iterVar2, item("any"));
    for (const part of [loopCondition, loopStep]) this.visit(part, inside);
    const whole = this.visit(result, inside);
    return isFilter(loop) ? found(path) : whole;
  }
}

/** Questions about a value in whose place a default says that it is absent. */
const WEIGHED: ReadonlySet<string> = new Set([
  ...["_==_", "_!=_", "_>_", "_<_", "_>=_", "_<=_", "_&&_", "_||_", "!_", "_?_:_", "@in"],
  ...["startsWith", "endsWith", "contains", "matches"],
]);

const isRoot = (name: string): name is Root => name === "object" || name === "oldObject";
const isNull = (expr: Expr | undefined): boolean => expr?.kind === "literal" && expr.value === null;
function found(path: AccessPath): AccessPath;
function found(path: AccessPath | undefined): AccessPath | undefined;
function found(path: AccessPath | undefined): AccessPath | undefined {
  return path && { ...path, present: path.steps.length, optional: false };
}

/** Whether a loop chooses items of its range: `condition ? made + [item] : made`. */
function isFilter({ loopStep, iterVar }: ComprehensionExpr): boolean {
  if (loopStep.kind !== "call" || loopStep.function !== "_?_:_") return false;
  const [, added] = loopStep.args;
  const list = added?.kind === "call" && added.function === "_+_" ? added.args[1] : undefined;
  const [only, other] = list?.kind === "list" ? list.elements : [];
  return only?.kind === "ident" && only.name === iterVar && other === undefined;
}
