/** Gives every node of a tree its type and resolves its names (spec kubernetes-cel.md section 7). */

import { isSince, type KubernetesVersion } from "../../data/kubernetes-version.js";
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
import type { FunctionDeclaration } from "../declarations.js";
import type { IssueCollector } from "../issues.js";
import { BOOL, DYN, ERROR, INT, listType, mapType, objectType, optionalType, type Type, typeParam } from "../types.js";
import { type DottedPath, dottedPath } from "./dotted-path.js";
import { literalType } from "./literal-type.js";
import { Locals } from "./locals.js";
import type { Names } from "./names.js";
import { type PreparedOverload, rename } from "./overloads.js";
import { type Part, Problems } from "./problems.js";
import { Substitution } from "./substitution.js";
import { isDynamic, isExactType, optionalContent } from "./type-relations.js";
import { NULL_VALUE } from "./well-known-types.js";

/** The first version of Kubernetes whose checker orders numbers of different types. */
const ACROSS_TYPES_SINCE: KubernetesVersion = "1.28";

/** Checks one tree; an instance serves for one tree. */
export class Checker {
  readonly types = new Map<number, Type>();
  readonly overloads = new Map<number, readonly string[]>();
  readonly typeNames = new Set<number>();
  readonly #substitution: Substitution;
  readonly #locals = new Locals();
  readonly #problems: Problems;
  #freeTypes = 0;
  /** Whether numbers of different types may be ordered: before Kubernetes 1.28, and outside of it, only from the first comprehension on, a quirk of the reference. */
  #acrossTypes: boolean;

  constructor(
    readonly names: Names,
    readonly prepared: (declaration: FunctionDeclaration) => readonly PreparedOverload[],
    issues: IssueCollector,
  ) {
    const { container, flavour, version, behaviour } = names.declarations;
    this.#problems = new Problems(issues, container, names.catalog);
    this.#substitution = new Substitution(behaviour);
    this.#acrossTypes = flavour === "standard" || (flavour === "kubernetes" && isSince(version, ACROSS_TYPES_SINCE));
  }

  /** Checks a whole tree and answers it with its names resolved. Afterwards {@link types} has no type parameters. */
  run(expr: Expr): Expr {
    const resolved = this.#check(expr);
    for (const [id, type] of this.types) {
      const bound = this.#substitution.apply(type, true);
      if (bound !== type) this.types.set(id, bound);
    }
    return resolved;
  }

  #check(expr: Expr): Expr {
    switch (expr.kind) {
      case "literal":
        return this.#typed(expr, literalType(expr.value));
      case "ident":
        return this.#ident(expr);
      case "select":
        return this.#select(expr);
      case "call":
        return expr.function === "_?._" ? this.#optionalSelect(expr) : this.#call(expr);
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

  #typed<E extends Expr>(expr: E, type: Type): E {
    this.types.set(expr.id, type);
    return expr;
  }

  #typeOf(expr: Expr): Type {
    return this.types.get(expr.id)!;
  }

  #freshType(): Type {
    this.#freeTypes += 1;
    return typeParam(`_var${this.#freeTypes - 1}`);
  }

  #ident(expr: IdentExpr): Expr {
    const local = expr.rooted ? undefined : this.#locals.find(expr.name);
    if (local !== undefined) return this.#typed(expr, local);
    const resolved = this.#global(expr, expr.name, expr.rooted);
    if (resolved !== undefined) return resolved;
    this.#problems.undeclared(expr, expr.rooted ? `.${expr.name}` : expr.name);
    return this.#typed(expr, ERROR);
  }

  /** The ident that takes the place of `expr` if this is a name of the environment, else `undefined`. */
  #global(expr: Expr, name: string, rooted: boolean): Expr | undefined {
    const resolved = this.names.resolve(name, rooted);
    if (resolved === undefined) {
      const { container } = this.names.declarations;
      if (name !== NULL_VALUE && (rooted || `${container}.${name}` !== NULL_VALUE)) return undefined;
      return this.#typed({ kind: "literal", id: expr.id, offset: expr.offset, value: 0 }, INT);
    }
    if (resolved.isType) this.typeNames.add(expr.id);
    const ident: Expr = { kind: "ident", id: expr.id, offset: expr.offset, name: resolved.name, rooted: true };
    return this.#typed(ident, resolved.type);
  }

  #select(expr: SelectExpr): Expr {
    const path = expr.testOnly ? undefined : dottedPath(expr);
    if (path !== undefined && this.names.mayBeDotted(path.first)) {
      const shadowed = !path.rooted && this.#locals.find(path.first) !== undefined;
      const resolved = shadowed ? undefined : this.#global(expr, path.name, path.rooted);
      if (resolved !== undefined) return resolved;
    }
    if (path !== undefined && this.#isUndeclared(expr, path)) return this.#typed(expr, ERROR);
    const operand = this.#check(expr.operand);
    const type = this.#fieldType(expr, operand, expr.field, false);
    this.types.set(expr.id, expr.testOnly ? BOOL : this.#substitution.apply(type, false));
    return operand === expr.operand ? expr : { ...expr, operand };
  }

  #optionalSelect(expr: CallExpr): Expr {
    const target = expr.args[0]!;
    const field = expr.args[1]!;
    const operand = this.#check(target);
    const name = field.kind === "literal" && typeof field.value === "string" ? field.value : "";
    const type = this.#fieldType(expr, operand, name, true);
    this.types.set(expr.id, this.#substitution.apply(type, false));
    this.overloads.set(expr.id, ["select_optional_field"]);
    return operand === target ? expr : { ...expr, args: [operand, field] };
  }

  /** The type of `operand.field`; `expr` is the node that errors are placed at. */
  #fieldType(expr: Expr, operand: Expr, field: string, optional: boolean): Type {
    const operandType = this.#substitution.apply(this.#typeOf(operand), false);
    const content = optionalContent(operandType);
    const target = content ?? operandType;
    let type: Type = DYN;
    switch (target.kind) {
      case "map":
        type = target.value;
        break;
      case "object":
        type = this.#lookupField(expr, target.name, field);
        break;
      case "param":
        this.#substitution.assign(DYN, target);
        break;
      case "dyn":
      case "any":
      case "error":
        break;
      default:
        // The reference knows Kubernetes' library types as object types without a declaration.
        if (target.kind === "opaque" && target.name.startsWith("kubernetes.")) {
          type = this.#lookupField(expr, target.name, field);
          break;
        }
        this.#problems.noFieldSelection(expr, target);
    }
    return optional || content !== undefined ? optionalType(type) : type;
  }

  #lookupField(part: Part, typeName: string, field: string): Type {
    const type = this.names.fieldType(typeName, field);
    if (type === "unknown") this.#problems.unknownType(part, typeName);
    else if (type === undefined) this.#problems.undefinedField(part, field, objectType(typeName));
    else return type;
    return ERROR;
  }

  #call(expr: CallExpr): Expr {
    const args = this.#checkAll(expr.args);
    const { target } = expr;
    if (target === undefined) {
      const declaration = this.names.resolveFunction(expr.function, expr.rooted);
      if (declaration !== undefined) return this.#resolve(freeCall(expr, declaration.name, args), declaration);
      this.#problems.undeclared(expr, expr.rooted ? `.${expr.function}` : expr.function);
      return this.#typed(expr, ERROR);
    }
    const path = dottedPath(target);
    if (path !== undefined && this.names.mayBeNamespace(path.first)) {
      const declaration = this.names.resolveFunction(`${path.name}.${expr.function}`, path.rooted);
      if (declaration !== undefined) return this.#resolve(freeCall(expr, declaration.name, args), declaration);
    }
    if (path !== undefined && this.#isUndeclared(expr, path, expr.function)) return this.#typed(expr, ERROR);
    const receiver = this.#check(target);
    const resolved = receiver === target && args === expr.args ? expr : { ...expr, target: receiver, args };
    const declaration = this.names.resolveFunction(expr.function, false);
    if (declaration !== undefined) return this.#resolve(resolved, declaration);
    this.#problems.undeclared(expr, expr.function);
    return this.#typed(resolved, ERROR);
  }

  /** Reports a chain of names as one undeclared name, where the reference does (see {@link Names.undeclaredPath}). */
  #isUndeclared(part: Part, path: DottedPath, method?: string): boolean {
    if (!path.rooted && this.#locals.find(path.first) !== undefined) return false;
    const whole = this.names.undeclaredPath(path, method);
    if (whole !== undefined) this.#problems.undeclared(part, whole);
    return whole !== undefined;
  }

  /** Checks expressions in order; answers the same array if nothing changed. */
  #checkAll(exprs: readonly Expr[]): readonly Expr[] {
    let changed: Expr[] | undefined;
    for (let index = 0; index < exprs.length; index += 1) {
      const resolved = this.#check(exprs[index]!);
      if (resolved !== exprs[index] && changed === undefined) changed = exprs.slice(0, index);
      changed?.push(resolved);
    }
    return changed ?? exprs;
  }

  /** Finds the overloads that fit a call whose arguments are checked. */
  #resolve(expr: CallExpr, declaration: FunctionDeclaration): Expr {
    const argTypes = expr.args.map((arg) => this.#typeOf(arg));
    if (declaration.name === "_&&_" || declaration.name === "_||_") return this.#logic(expr, declaration, argTypes);
    const member = expr.target !== undefined;
    if (expr.target !== undefined) argTypes.unshift(this.#typeOf(expr.target));
    const fitting: string[] = [];
    let type: Type | undefined;
    for (const overload of this.prepared(declaration)) {
      if (overload.member !== member || (overload.acrossTypes && !this.#acrossTypes)) continue;
      const result = this.#fit(overload, argTypes);
      if (result === undefined) continue;
      fitting.push(overload.id);
      if (type === undefined) type = result;
      else if (!isDynamic(type) && !isExactType(result, type)) type = DYN;
    }
    if (type !== undefined) {
      this.overloads.set(expr.id, fitting);
      return this.#typed(expr, type);
    }
    const shown = argTypes.map((argType) => this.#substitution.apply(argType, true));
    this.#problems.noMatchingOverload(expr, declaration.name, member ? shown.shift() : undefined, shown);
    return this.#typed(expr, ERROR);
  }

  /** The result type of an overload for these arguments; `undefined` when it doesn't fit. */
  #fit(overload: PreparedOverload, argTypes: readonly Type[]): Type | undefined {
    let { params, result } = overload;
    if (overload.typeParams.length > 0) {
      const first = this.#freeTypes;
      this.#freeTypes += overload.typeParams.length;
      if (params.length !== argTypes.length) return undefined;
      const names = new Map(overload.typeParams.map((name, index) => [name, `_var${first + index}`]));
      params = params.map((param) => rename(param, names));
      result = rename(result, names);
    }
    return this.#substitution.assignAll(argTypes, params) ? this.#substitution.apply(result, false) : undefined;
  }

  #logic(expr: CallExpr, declaration: FunctionDeclaration, argTypes: readonly Type[]): Expr {
    let type: Type = BOOL;
    for (const [index, argType] of argTypes.entries()) {
      if (this.#substitution.assign(argType, BOOL)) continue;
      this.#problems.mismatch(expr.args[index]!, BOOL, argType);
      type = ERROR;
    }
    if (type === BOOL) this.overloads.set(expr.id, [declaration.overloads[0]!.id]);
    return this.#typed(expr, type);
  }

  /** The type of an element; one marked optional must be an optional value, and counts as its content. */
  #elementType(expr: Expr, optional: boolean): Type {
    const type = this.#typeOf(expr);
    if (!optional) return type;
    const content = optionalContent(type);
    if (content === undefined && !isDynamic(type)) this.#problems.mismatch(expr, optionalType(type), type);
    return content ?? type;
  }

  /** The type of a literal's elements, one more taken in: dyn where they have nothing in common. */
  #join(previous: Type | undefined, current: Type): Type {
    if (previous === undefined) return current;
    return this.#substitution.assign(previous, current) ? this.#substitution.mostGeneral(previous, current) : DYN;
  }

  #list(expr: ListExpr): Expr {
    let type: Type | undefined;
    let changed = false;
    const elements = expr.elements.map((element, index) => {
      const resolved = this.#check(element);
      changed ||= resolved !== element;
      type = this.#join(type, this.#elementType(resolved, expr.optional[index] === true));
      return resolved;
    });
    return this.#typed(changed ? { ...expr, elements } : expr, listType(type ?? this.#freshType()));
  }

  #map(expr: MapExpr): Expr {
    let keyType: Type | undefined;
    let valueType: Type | undefined;
    const entries = expr.entries.map((entry) => {
      const key = this.#check(entry.key);
      keyType = this.#join(keyType, this.#typeOf(key));
      const value = this.#check(entry.value);
      valueType = this.#join(valueType, this.#elementType(value, entry.optional));
      return key === entry.key && value === entry.value ? entry : { ...entry, key, value };
    });
    const type = mapType(keyType ?? this.#freshType(), valueType ?? this.#freshType());
    return this.#typed({ ...expr, entries }, type);
  }

  #struct(expr: StructExpr): Expr {
    const rooted = expr.typeName.startsWith(".");
    const named = this.names.resolveType(rooted ? expr.typeName.slice(1) : expr.typeName, rooted);
    if (named === undefined) {
      this.#problems.undeclared(expr, expr.typeName);
      return this.#typed(expr, ERROR);
    }
    let type: Type = named.type.kind === "type" && named.type.of !== undefined ? named.type.of : ERROR;
    const typeName = this.names.messageName(type);
    if (typeName === undefined) {
      this.#problems.noMessage(expr, type);
      type = ERROR;
    }
    this.types.set(expr.id, type);
    const fields = expr.fields.map((field) => {
      const value = this.#check(field.value);
      const expected = this.#lookupField(field, typeName ?? named.name, field.field);
      const found = this.#elementType(value, field.optional);
      if (!this.#substitution.assign(expected, found)) {
        this.#problems.fieldMismatch(field, expected, found);
      }
      return { ...field, value };
    });
    return { ...expr, typeName: named.name, fields };
  }

  #comprehension(expr: ComprehensionExpr): Expr {
    const range = this.#check(expr.range);
    const accuInit = this.#check(expr.accuInit);
    const rangeType = this.#substitution.apply(this.#typeOf(range), false);
    const accuType = this.#typeOf(accuInit);
    const depth = this.#locals.depth;
    this.#acrossTypes = true;
    this.#locals.add(expr.accuVar, accuType);
    const [first, second] = this.#iterationTypes(range, rangeType);
    if (expr.iterVar2 === undefined) {
      this.#locals.add(expr.iterVar, rangeType.kind === "list" ? second : first);
    } else {
      this.#locals.add(expr.iterVar, first);
      this.#locals.add(expr.iterVar2, second);
    }
    const loopCondition = this.#check(expr.loopCondition);
    this.#assertType(loopCondition, BOOL);
    const loopStep = this.#check(expr.loopStep);
    this.#assertType(loopStep, accuType);
    this.#locals.leave(depth + 1);
    const result = this.#check(expr.result);
    this.#locals.leave(depth);
    const resolved = { ...expr, range, accuInit, loopCondition, loopStep, result };
    return this.#typed(resolved, this.#substitution.apply(this.#typeOf(result), false));
  }

  /** The types of index or key, and of element or value, when iterating over `rangeType`. */
  #iterationTypes(range: Expr, rangeType: Type): readonly [Type, Type] {
    switch (rangeType.kind) {
      case "list":
        return [INT, rangeType.element];
      case "map":
        return [rangeType.key, rangeType.value];
      case "dyn":
      case "error":
      case "param":
        this.#substitution.assign(DYN, rangeType);
        return [DYN, DYN];
      default: {
        this.#problems.notIterable(range, rangeType);
        return [ERROR, ERROR];
      }
    }
  }

  #assertType(expr: Expr, expected: Type): void {
    const found = this.#typeOf(expr);
    if (!this.#substitution.assign(expected, found)) this.#problems.mismatch(expr, expected, found);
  }
}

/** A call of a function by its full name, without receiver. */
function freeCall(expr: CallExpr, name: string, args: readonly Expr[]): CallExpr {
  if (expr.target === undefined && expr.function === name && args === expr.args) return expr;
  return { ...expr, function: name, target: undefined, args };
}
