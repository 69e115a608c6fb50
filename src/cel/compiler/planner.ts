/** Plans a checked expression: groups chains into attributes, folds constants, chooses each call's function and cost (spec kubernetes-cel.md 2, 3, 5.2). */
import type {
  CallExpr,
  ComprehensionExpr,
  Expr,
  IdentExpr,
  ListExpr,
  MapExpr,
  SelectExpr,
  StructExpr,
} from "../ast.js";
import type { CheckedExpr, Declarations } from "../checked.js";
import { isUndefinedAsValue } from "../checker/well-known-types.js";
import { plainCallCost } from "../cost/plain-cost.js";
import { callCost, callCostSince138, LIST_COST, MAP_COST } from "../cost/runtime-cost.js";
import type { LazyForm, Overload } from "../declarations.js";
import { dispatcher, noOverloadFor, statefulChooser } from "../dispatch.js";
import { genericNameOf, MADE, nativeNameOf, typeNameOf } from "../operators/kind.js";
import { isUsableKey } from "../operators/maps.js";
import { isQualifier } from "../operators/qualify.js";
import { costSize } from "../operators/size.js";
import { runtimeTypeName, type Type } from "../types.js";
import { CelError } from "../values/cel-error.js";
import { MadeList } from "../values/made-list.js";
import { TypeValue } from "../values/type-value.js";
import { MapValue, type Value } from "../values/value.js";
import { type CallCosts, costAmong, dearest } from "./call-costs.js";
import { type Origins, partsOf } from "./list-origin.js";
import { asIs, makeLists, marking } from "./marking.js";
import { constantMembership } from "./membership.js";
import { bindPattern, constantPattern } from "./patterns.js";
import {
  type AttributePlan,
  type Callee,
  type CallPlan,
  type ConstPlan,
  FOLDED,
  OPERATORS,
  type Plan,
  PlanError,
  type Qualifier,
  type Slot,
  type StatefulCallee,
} from "./plan.js";
import { isTextOverload } from "./text-calls.js";
import { WELL_KNOWN_CONSTRUCTORS } from "./well-known.js";

/** Plans one expression. */
export class Planner {
  #scope: Slot[] = [];

  readonly #checked: CheckedExpr;
  readonly #declarations: Declarations;
  /** Whether constants are folded by Kubernetes' rules. A constant is made once in any case; without folding it costs, and fails, where it is reached. */
  readonly #folds: boolean;
  readonly #callCost: CallCosts;

  constructor(checked: CheckedExpr, declarations: Declarations) {
    this.#checked = checked;
    this.#declarations = declarations;
    this.#folds = declarations.flavour !== "cel-go";
    this.#callCost = this.#folds ? (declarations.behaviour === "1.38" ? callCostSince138 : callCost) : plainCallCost;
  }

  /** The plan of the whole expression. Throws a {@link PlanError}. */
  run(): Plan {
    return this.#plan(this.#checked.expr);
  }

  #plan(expr: Expr): Plan {
    switch (expr.kind) {
      case "literal":
        return { kind: "const", id: expr.id, value: expr.value };
      case "ident":
        return this.#ident(expr);
      case "select":
        return this.#select(expr);
      case "call":
        return this.#call(expr);
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "struct":
        return this.#struct(expr);
      case "comprehension":
        return this.#comprehension(expr);
    }
  }

  #ident(expr: IdentExpr): Plan {
    const slot = expr.rooted ? undefined : this.#scope.findLast(({ name }) => name === expr.name);
    // A quirk of the reference, which takes a loop's variable whose values are types for the name of one.
    const isValue = this.#declarations.flavour === "standard" || this.#kind(expr.id) !== "type";
    if (slot !== undefined && isValue) return this.#attribute(expr.id, { kind: "local", slot });
    if (slot === undefined && !this.#checked.typeNames.has(expr.id))
      return this.#attribute(expr.id, { kind: "global", name: expr.name });
    const named = this.#typeNamed(expr, slot !== undefined);
    if (named !== undefined) return { kind: "const", id: expr.id, value: new TypeValue(runtimeTypeName(named)) };
    throw new PlanError(`reference to undefined type: ${expr.name}`);
  }

  /** The type that is the value of a name; `undefined` for names that only the checker knows. */
  #typeNamed({ id, name }: IdentExpr, local: boolean): Type | undefined {
    const { flavour, typeNames, objectTypes, typeProvider } = this.#declarations;
    if (local) return typeNames.get(name);
    const isUnmade = objectTypes.has(name) && objectTypes.get(name)?.construct === undefined;
    if (isUnmade || isUndefinedAsValue(name, flavour) || typeProvider?.find(name) !== undefined) return undefined;
    const type = this.#checked.types.get(id);
    return type?.kind === "type" ? type.of : undefined;
  }

  #attribute(id: number, root: AttributePlan["root"]): Plan {
    return { kind: "attribute", id, rootId: id, root, maybeOptional: this.#maybeOptional(id), qualifiers: [] };
  }

  #kind(id: number): Type["kind"] {
    return this.#checked.types.get(id)?.kind ?? "dyn";
  }

  /** Whether the static type of a node lets it be an optional at run time. */
  #maybeOptional(id: number): boolean {
    const kind = this.#kind(id);
    return kind === "opaque" || kind === "dyn" || kind === "param" || kind === "any";
  }

  #select(expr: SelectExpr): Plan {
    const type = this.#checked.types.get(expr.operand.id);
    return qualified(expr.id, this.#plan(expr.operand), this.#maybeOptional(expr.operand.id), {
      id: expr.id,
      key: { kind: "const", id: expr.id, value: expr.field },
      keyKind: "string",
      optional: false,
      test: expr.testOnly,
      declared: type?.kind === "object" && this.#declarations.typeProvider?.find(type.name) !== undefined,
    });
  }

  #call(expr: CallExpr): Plan {
    const argExprs = expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    const args = argExprs.map((arg) => this.#plan(arg));
    const [first, second, third] = args as [Plan, Plan, Plan];
    switch (expr.function) {
      case "_&&_":
        return { kind: "and", id: expr.id, left: first, right: second };
      case "_||_":
        return { kind: "or", id: expr.id, left: first, right: second };
      case "_?_:_":
        return { kind: "conditional", id: expr.id, condition: first, yes: second, no: third };
      case "_[_]":
      case "_[?_]":
      case "_?._": {
        const [operand, key] = argExprs as [Expr, Expr];
        const qualifier = this.#index(expr.id, second, key, expr.function !== "_[_]");
        return qualified(expr.id, first, this.#maybeOptional(operand.id), qualifier);
      }
    }
    const overloads = this.#checked.overloads.get(expr.id) ?? [];
    const overload = overloads.length === 1 ? overloads[0] : undefined;
    const lazy =
      args.length === 2 && !OPERATORS.has(expr.function) ? this.#lazyForm(expr.function, overloads) : undefined;
    if (lazy !== undefined) return { kind: LAZY_PLANS[lazy], id: expr.id, left: first, right: second };
    if (overload === "in_list" && second.kind === "const") {
      const membership = this.#membership(expr.id, first, second);
      if (membership !== undefined) return membership;
    }
    const kinds = argExprs.map(({ id }) => this.#kind(id));
    return this.#strict(expr, overloads, args, kinds);
  }

  #membership(id: number, element: Plan, { value, cost = 0 }: ConstPlan): Plan | undefined {
    const membership = constantMembership(value);
    if (membership === undefined) return undefined;
    if (membership === "empty") return this.#folds ? { kind: "const", id, value: false } : undefined;
    if (this.#folds) return { kind: "membership", id, element, ...membership, cost };
    // `==` compares numbers by other rules than a look-up in a set.
    if (membership.strings === undefined) return undefined;
    return { kind: "membership", id, element, ...membership, cost: cost + costSize(value) };
  }

  #strict(expr: CallExpr, overloads: readonly string[], args: readonly Plan[], kinds: readonly Type["kind"][]): Plan {
    const overload = overloads.length === 1 ? overloads[0] : undefined;
    const { id, function: name } = expr;
    if (OPERATORS.has(name)) return this.#operator(expr, overload, args, kinds);
    const declaration = this.#declarations.functions.get(name);
    const candidates = this.#candidates(name, overload, args.length);
    // An added function may share its name with one of the language's, but not more.
    const known = candidates.every(({ cost }) => cost === undefined);
    const stopsAtError = this.#stopsAtError(name, overload, args.length);
    const onTexts = known && declaration?.dynamic === undefined ? candidates.find(isTextOverload) : undefined;
    const call = (callee: Callee | undefined, stateful?: StatefulCallee): CallPlan => ({
      kind: "call",
      id,
      name,
      overload: known ? overload : undefined,
      textOverload: onTexts?.id,
      args,
      kinds,
      callee,
      stateful,
      cost: known ? this.#callCost(name, overload) : costAmong(candidates, declaration, overloads, this.#callCost),
      stopsAtError,
      known,
      work: dearest(candidates),
    });
    if (declaration === undefined || candidates.length === 0) return call((...values) => noOverloadFor(name, values));
    if (candidates.some((each) => each.call !== undefined)) {
      return call(undefined, { name, choose: statefulChooser(declaration, candidates) });
    }
    const own = this.#declarations.marksLists && makeLists(candidates) ? marking : asIs;
    const callee = own(dispatcher(declaration, candidates));
    if (!known) return call(callee);
    const argument = args[0];
    if (this.#folds && FOLDED.has(name) && args.length === 1 && argument?.kind === "const") {
      const value = callee(argument.value);
      if (value instanceof CelError) throw new PlanError(value);
      return { kind: "const", id, value };
    }
    const pattern = constantPattern(name, args[1]);
    if (pattern !== undefined) {
      const bound = bindPattern(name, pattern);
      if (bound instanceof CelError && this.#folds) throw new PlanError(bound);
      if (!this.#folds && (bound instanceof CelError || kinds[0] !== "string")) return call(callee);
      if (bound instanceof Function)
        return this.#folds ? { ...call(own(bound)), stopsAtError: true } : call(own(bound));
    }
    return call(callee);
  }

  #operator(
    { id, function: name }: CallExpr,
    overload: string | undefined,
    args: readonly Plan[],
    kinds: readonly Type["kind"][],
  ): CallPlan {
    const cost = this.#callCost(name, overload);
    const stopsAtError = this.#stopsAtError(name, overload, args.length);
    const none = { textOverload: undefined, callee: undefined, stateful: undefined, work: undefined };
    return { kind: "call", id, name, overload, args, kinds, cost, stopsAtError, known: true, ...none };
  }

  /** Whether the first argument that fails ends a call. Since 1.38 it ends all but those that charge for themselves in any case. */
  #stopsAtError(name: string, overload: string | undefined, count: number): boolean {
    if (this.#declarations.behaviour === "1.38") return name !== "!_" && name !== "@not_strictly_false";
    return count > 2 || (count === 2 && this.#isSequential(name, overload));
  }

  /** Whether the reference calls a function of two arguments with a list: where the overload says so, or is chosen only at run time; its newest releases always do. */
  #isSequential(name: string, overload: string | undefined): boolean {
    if (!this.#folds) return true;
    const declaration = this.#declarations.functions.get(name);
    if (declaration === undefined || declaration.dynamic !== undefined) return false;
    const implemented = declaration.overloads.filter(({ implementation }) => implementation !== undefined);
    if (overload === undefined) return implemented.length > 1;
    return implemented.some(({ id, sequential }) => id === overload && sequential === true);
  }

  /** The overload the checker has left, or all that take so many arguments. Only an unchecked expression can name a function without a fitting overload. */
  #candidates(name: string, overload: string | undefined, arity: number): readonly Overload[] {
    const declared = this.#declarations.functions.get(name)?.overloads ?? [];
    const chosen = overload === undefined ? undefined : declared.find(({ id }) => id === overload);
    return chosen === undefined ? declared.filter(({ params }) => params.length === arity) : [chosen];
  }

  /** The lazy form of a call of two arguments, when all overloads that may apply have the same. */
  #lazyForm(name: string, overloads: readonly string[]): LazyForm | undefined {
    let form: LazyForm | undefined;
    for (const { id, params, lazy } of this.#declarations.functions.get(name)?.overloads ?? []) {
      if (overloads.length === 0 ? params.length !== 2 : !overloads.includes(id)) continue;
      if (lazy === undefined || (form !== undefined && form !== lazy)) return undefined;
      form = lazy;
    }
    return form;
  }

  #index(id: number, key: Plan, expr: Expr, optional: boolean): Qualifier {
    const kind = this.#kind(expr.id);
    const since138 = this.#declarations.behaviour === "1.38";
    const constant = key.kind === "const" && key.cost === undefined;
    if (constant && !isQualifier(key.value) && this.#declarations.flavour !== "standard") {
      const name = since138 ? genericNameOf(key.value, MADE) : nativeNameOf(key.value);
      throw new PlanError(`invalid qualifier type: ${name}`);
    }
    const keyKind = kind === "string" || kind === "int" ? kind : undefined;
    const keyParts = since138 && keyKind === undefined ? { keyParts: partsOf(expr, this.#origins) } : {};
    return { id, key, keyKind, optional, test: false, ...keyParts };
  }

  get #origins(): Origins {
    return {
      typeOf: (expr) => this.#checked.types.get(expr.id),
      rangeOf: (name) => this.#scope.findLast((slot) => slot.name === name)?.range,
    };
  }

  #list(expr: ListExpr): Plan {
    const elements = expr.elements.map((element) => this.#plan(element));
    if (elements.every((element) => element.kind === "const") && !expr.optional.includes(true)) {
      const constants = elements as readonly ConstPlan[];
      const values = constants.map(({ value }) => value);
      const list = this.#declarations.marksLists ? MadeList.containing(values) : values;
      return this.#literal(expr.id, list, LIST_COST, constants);
    }
    return { kind: "list", id: expr.id, elements, optional: expr.optional };
  }

  /** A constant list or map; `cost` and those of its parts are counted where it is not folded. */
  #literal(id: number, value: Value, cost: number, parts: readonly ConstPlan[]): ConstPlan {
    if (this.#folds) return { kind: "const", id, value };
    return { kind: "const", id, value, cost: parts.reduce((sum, part) => sum + (part.cost ?? 0), cost) };
  }

  #map(expr: MapExpr): Plan {
    const entries = expr.entries.map((entry) => ({
      key: this.#plan(entry.key),
      value: this.#plan(entry.value),
      optional: entry.optional,
    }));
    // The definition forbids keys that Kubernetes accepts: those are found when the literal is evaluated.
    if (this.#declarations.flavour === "standard" && entries.length > 0) return { kind: "map", id: expr.id, entries };
    const constant = entries.every(
      ({ key, value, optional }) => key.kind === "const" && value.kind === "const" && !optional,
    );
    if (constant && (this.#folds || entries.every(({ key }) => key.kind === "const" && isUsableKey(key.value)))) {
      const map = new MapValue();
      const parts = entries.flatMap(({ key, value }) => [key as ConstPlan, value as ConstPlan]);
      for (let i = 0; i + 1 < parts.length; i += 2) {
        const [key, value] = parts.slice(i, i + 2) as [ConstPlan, ConstPlan];
        if (!isUsableKey(key.value)) throw new PlanError(`${typeNameOf(key.value)} cannot be a key of a map`);
        map.set(key.value, value.value);
      }
      return this.#literal(expr.id, map, MAP_COST, parts);
    }
    return { kind: "map", id: expr.id, entries };
  }

  #struct(expr: StructExpr): Plan {
    const { typeName } = expr;
    const { objectTypes, typeProvider } = this.#declarations;
    const own = objectTypes.get(typeName)?.construct ?? typeProvider?.find(typeName)?.construct;
    return {
      kind: "struct",
      id: expr.id,
      fields: expr.fields.map(({ field, value, optional }) => ({ name: field, value: this.#plan(value), optional })),
      construct: own ?? WELL_KNOWN_CONSTRUCTORS.get(typeName) ?? (() => new CelError(`unknown type '${typeName}'`)),
    };
  }

  #comprehension(expr: ComprehensionExpr): Plan {
    const start = this.#plan(expr.accuInit);
    const range = this.#plan(expr.range);
    const accumulator: Slot = { name: expr.accuVar };
    const first: Slot = { name: expr.iterVar, range: expr.range };
    const second: Slot | undefined =
      expr.iterVar2 === undefined ? undefined : { name: expr.iterVar2, range: expr.range };
    const outer = this.#scope;
    const withAccumulator = [...outer, accumulator];
    this.#scope = second === undefined ? [...withAccumulator, first] : [...withAccumulator, first, second];
    // The accumulator hides an iteration variable of its name.
    this.#scope.push(accumulator);
    const condition = this.#plan(expr.loopCondition);
    const step = this.#plan(expr.loopStep);
    this.#scope = withAccumulator;
    const result = this.#plan(expr.result);
    this.#scope = outer;
    return { kind: "fold", id: expr.id, range, first, second, accumulator, start, condition, step, result };
  }
}

const LAZY_PLANS = { or: "or-optional", orValue: "or-value" } as const satisfies Record<LazyForm, string>;

/**
 * Appends a step: to an attribute, to the branches of a conditional, or to anything else as the operand of a new attribute.
 * @param maybeOptional whether the operand's static type lets it be an optional
 */
function qualified(id: number, operand: Plan, maybeOptional: boolean, qualifier: Qualifier): Plan {
  // No step follows `has()` in its own chain: its answer is a bool.
  if (operand.kind === "attribute" && operand.qualifiers.at(-1)?.test !== true) {
    return { ...operand, id, qualifiers: [...operand.qualifiers, qualifier] };
  }
  const kind = operand.kind === "conditional" ? "choice" : "operand";
  const root = { kind, plan: operand } as AttributePlan["root"];
  return { kind: "attribute", id, rootId: operand.id, root, maybeOptional, qualifiers: [qualifier] };
}
