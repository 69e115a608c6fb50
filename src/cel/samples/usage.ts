/** Derives from a checked expression what it does with its data: the places it reads, and the values that make a difference there. */
import type { CallExpr, ComprehensionExpr, Expr, SelectExpr } from "../ast.js";
import type { CheckedExpr, Declarations } from "../checked.js";
import { DYN, type Type } from "../types.js";
import { isDouble, isInt, makeDouble } from "../values/numbers.js";
import { uintOf } from "../values/uint.js";
import type { Value } from "../values/value.js";
import { walk } from "../walk.js";
import { Shape } from "./shape.js";
import { TEXTS, textsFor, UPGRADE_TEXTS } from "./texts.js";

/** The use that an expression makes of its data. */
export interface Usage {
  /** The shapes by the names of variables. */
  readonly variables: ReadonlyMap<string, Shape>;
  /** The answers of functions that ask the world, by their names. */
  readonly answers: ReadonlyMap<string, Shape>;
  /** The texts and numbers in the expression. */
  readonly literals: readonly Value[];
  /** The fields of object types. */
  readonly objectTypes: Declarations["objectTypes"];
}

const BOOLS: readonly Value[] = [true, false];
const NUMBERS: readonly Value[] = [1, 2, 3, -1000, 1000];
/** Values for an operand of unknown type that is compared with one of a known type. */
const ANY_OF: ReadonlyMap<Type["kind"], readonly Value[]> = new Map<Type["kind"], readonly Value[]>([
  ["bool", BOOLS],
  ["int", NUMBERS],
  ["string", ["a", "b"]],
]);
const ORDERED: ReadonlySet<string> = new Set(["_<_", "_<=_", "_>_", "_>=_"]);
/** Calls that give their receiver, or a part of it. */
const TRANSPARENT: ReadonlySet<string> = new Set([
  "dyn",
  "optional.of",
  "optional.ofNonZeroValue",
  "value",
  "or",
  "orValue",
  "lowerAscii",
  "upperAscii",
  "trim",
  "string",
  "int",
  "uint",
  "double",
  "bool",
  "timestamp",
  "duration",
  "quantity",
  "semver",
  "ip",
  "cidr",
  "url",
]);

/** The usage of a checked expression. */
export function usageOf(checked: CheckedExpr, { functions, objectTypes }: Declarations): Usage {
  const reader = new Reader(checked, functions, objectTypes);
  reader.read(checked.expr, BOOLS);
  return reader;
}

/** An expression of a policy; one with a name is read by later ones as `variables.NAME`. */
export interface NamedChecked {
  readonly name?: string | undefined;
  readonly checked: CheckedExpr;
  readonly declarations: Declarations;
}

/**
 * The common usage of a policy's expressions, with values that servers of different releases take differently.
 * @param literals more texts
 */
export function usageOfAll(parts: readonly NamedChecked[], literals: readonly Value[]): Usage {
  const named = new Map(parts.flatMap((part) => (part.name === undefined ? [] : [[part.name, part] as const])));
  const common: Common = {
    variables: new Map(),
    answers: new Map(),
    literals: [...literals],
    named,
    left: MOST_READINGS,
  };
  for (const { name, checked, declarations } of parts)
    if (name === undefined)
      new Reader(checked, declarations.functions, declarations.objectTypes, common).read(checked.expr, BOOLS);
  return { ...common, objectTypes: parts[0]?.declarations.objectTypes ?? new Map() };
}

/** Most readings of variables: each is read where it is used, and may use others. */
const MOST_READINGS = 1_000;

/** The common state of the readers of a policy's expressions. */
interface Common {
  readonly variables: Map<string, Shape>;
  readonly answers: Map<string, Shape>;
  readonly literals: Value[];
  readonly named: ReadonlyMap<string, NamedChecked>;
  left: number;
}

class Reader implements Usage {
  readonly variables: Map<string, Shape>;
  readonly answers: Map<string, Shape>;
  readonly literals: Value[];
  /** Set where values are wanted that servers of different releases take differently. */
  readonly #common: Common | undefined;
  readonly #checked: CheckedExpr;
  readonly #functions: Declarations["functions"];
  /** The shapes of the variables of loops, innermost last; undefined for those without a place in the data. */
  readonly #scope: (readonly [name: string, shape: Shape | undefined])[] = [];

  constructor(
    checked: CheckedExpr,
    functions: Declarations["functions"],
    readonly objectTypes: Declarations["objectTypes"],
    common?: Common,
  ) {
    this.variables = common?.variables ?? new Map();
    this.answers = common?.answers ?? new Map();
    this.literals = common?.literals ?? [];
    this.#common = common;
    this.#checked = checked;
    this.#functions = functions;
    walk(checked.expr, (expr) => {
      const value = expr.kind === "literal" ? expr.value : null;
      if (typeof value === "string" || isInt(value)) this.literals.push(value);
    });
  }

  #texts(name: string): readonly Value[] {
    return [...(TEXTS.get(name) ?? []), ...((this.#common && UPGRADE_TEXTS.get(name)) ?? [])];
  }

  #type(expr: Expr): Type {
    return this.#checked.types.get(expr.id) ?? DYN;
  }

  /** Reads a part, for which some values make a difference. Answers its place in the data, if it has one. */
  read(expr: Expr, wanted: readonly Value[] = []): Shape | undefined {
    switch (expr.kind) {
      case "literal":
        return undefined;
      case "ident":
        return this.#wanting(this.#named(expr.name, expr.rooted, expr), wanted);
      case "select":
        return this.#select(expr, wanted);
      case "call":
        return this.#call(expr, wanted);
      case "comprehension":
        return this.#loop(expr, wanted);
      case "list": {
        const [known] = expr.elements.flatMap((element) => constantOf(element) ?? []);
        for (const element of expr.elements) this.read(element, known === undefined ? [] : around(known));
        return undefined;
      }
      case "map":
        for (const { key, value } of expr.entries) for (const part of [key, value]) this.read(part);
        return undefined;
      case "struct":
        for (const { value } of expr.fields) this.read(value);
        return undefined;
    }
  }

  #wanting(shape: Shape | undefined, wanted: readonly Value[]): Shape | undefined {
    shape?.want(wanted);
    return shape;
  }

  #named(name: string, rooted: boolean, expr: Expr): Shape | undefined {
    const local = rooted ? undefined : this.#scope.findLast(([each]) => each === name);
    if (local !== undefined) return local[1];
    if (this.#checked.typeNames.has(expr.id)) return undefined;
    return kept(this.variables, name, this.#type(expr));
  }

  #select(expr: SelectExpr, wanted: readonly Value[]): Shape | undefined {
    const common = this.#common;
    const isVariable = expr.operand.kind === "ident" && expr.operand.name === "variables";
    const variable = isVariable && !expr.testOnly ? common?.named.get(expr.field) : undefined;
    if (common !== undefined && variable !== undefined) {
      if (common.left-- <= 0) return undefined;
      const { checked, declarations } = variable;
      return new Reader(checked, declarations.functions, declarations.objectTypes, common).read(checked.expr, wanted);
    }
    const type = expr.testOnly ? DYN : this.#type(expr);
    const field = this.read(expr.operand)?.field(expr.field, contentOf(type));
    if (field !== undefined && (expr.testOnly || type !== contentOf(type))) field.optional = true;
    return expr.testOnly ? undefined : this.#wanting(field, wanted);
  }

  #call(expr: CallExpr, wanted: readonly Value[]): Shape | undefined {
    const { function: name } = expr;
    const args = expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    const [first, second, third] = args;
    if (first === undefined) return this.#answer(expr, args, wanted);
    if (name === "_&&_" || name === "_||_" || name === "!_") return void args.map((arg) => this.read(arg, BOOLS));
    if (second === undefined) return this.#ofOne(expr, first, wanted);
    switch (name) {
      case "_?_:_": {
        this.read(first, BOOLS);
        const shape = this.read(second, wanted);
        return third === undefined ? shape : (this.read(third, wanted) ?? shape);
      }
      case "_[_]":
      case "_[?_]":
      case "_?._":
        return this.#wanting(this.#index(expr, first, second, wanted), wanted);
      case "_==_":
      case "_!=_":
        return this.#compared(first, second, (value) => [value, otherThan(value)], []);
      case "@in":
        return this.#in(first, second);
    }
    if (ORDERED.has(name) || /^_[-+*/%]_$/.test(name))
      return this.#compared(first, second, around, this.#common ? [...NUMBERS, 0] : NUMBERS);
    return this.#ofMany(expr, args, wanted);
  }

  #index(expr: CallExpr, operand: Expr, key: Expr, wanted: readonly Value[]): Shape | undefined {
    const shape = this.read(operand, this.#common && operand.kind === "call" ? wanted : []);
    const name = constantOf(key);
    const type = contentOf(this.#type(expr));
    if (typeof name !== "string") {
      if (shape !== undefined && this.#type(key).kind === "string") shape.keyed = true;
      this.read(key);
      return shape?.elements(type);
    }
    const field = shape?.field(name, type);
    if (field !== undefined && expr.function !== "_[_]") field.optional = true;
    return field;
  }

  /** Two parts that are compared: each may have the other's values. */
  #compared(left: Expr, right: Expr, values: (value: Value) => readonly Value[], unknown: readonly Value[]): undefined {
    const read = (part: Expr, other: Expr): Shape | undefined => {
      const constant = constantOf(other);
      const any = [...(ANY_OF.get(this.#type(other).kind) ?? unknown), ...begunBy(other)];
      return this.read(part, constant === undefined ? any : values(constant));
    };
    const twin = read(left, right);
    const shape = read(right, left);
    if (shape !== undefined && shape !== twin) shape.twin = twin;
  }

  #in(element: Expr, range: Expr): undefined {
    const values = range.kind === "list" ? range.elements.flatMap((each) => constantOf(each) ?? []) : [];
    const [first] = values;
    this.read(element, first === undefined ? [] : [...values, otherThan(first)]);
    const value = constantOf(element);
    if (value === undefined) return void this.read(range)?.elements(this.#type(element));
    const shape = this.read(range);
    if (typeof value === "string" && this.#type(range).kind !== "list") {
      const key = shape?.field(value, DYN);
      if (key !== undefined) key.optional = true;
    }
    if (this.#type(range).kind !== "map") shape?.want([[value], [otherThan(value)], []]);
  }

  #ofOne(expr: CallExpr, operand: Expr, wanted: readonly Value[]): Shape | undefined {
    const { function: name } = expr;
    if (name === "hasValue") {
      const shape = this.read(operand);
      if (shape !== undefined) shape.optional = true;
      return undefined;
    }
    if (name === "size") return void this.read(operand, sizes(wanted, this.#type(operand)));
    if (name === "type") return void this.read(operand, ["a", 1, true, makeDouble(1.5), [], {}]);
    if (name === "-_") return void this.read(operand, [1, -1]);
    if (TRANSPARENT.has(name)) return this.read(operand, [...wanted.flatMap(alike), ...this.#texts(name)]);
    return this.#ofMany(expr, [operand], wanted);
  }

  #ofMany(expr: CallExpr, args: readonly Expr[], wanted: readonly Value[]): Shape | undefined {
    const { function: name } = expr;
    const [first, second] = args;
    if (TRANSPARENT.has(name) && first !== undefined && second !== undefined) {
      const shape = this.read(first, wanted);
      if (name === "or" && shape !== undefined) shape.optional = true;
      const other = constantOf(second);
      shape?.want(other === undefined ? [] : [other]);
      return this.read(second, wanted) ?? shape;
    }
    return this.#answer(expr, args, wanted);
  }

  /** Any other call: its arguments have the types that its overloads take. */
  #answer(expr: CallExpr, args: readonly Expr[], wanted: readonly Value[]): Shape | undefined {
    const { function: name } = expr;
    const chosen = this.#checked.overloads.get(expr.id);
    const declared = this.#functions.get(name)?.overloads ?? [];
    const overload = declared.find(({ id }) => chosen?.includes(id) === true);
    const constant = constantOf(args[1] ?? expr);
    // Values that are wanted of a text may be wanted of its origin: `double(text.replace("%", ""))`.
    const passed = this.#common ? wanted.filter((value) => typeof value === "string") : [];
    for (const [i, arg] of args.entries()) {
      const shape = this.read(
        arg,
        i === 0
          ? [...(typeof constant === "string" ? textsFor(name, constant) : this.#texts(name)), ...passed]
          : this.#texts(name),
      );
      if (shape?.type.kind === "dyn") shape.type = overload?.params[i] ?? shape.type;
    }
    return overload?.call === undefined ? undefined : this.#wanting(kept(this.answers, name, this.#type(expr)), wanted);
  }

  #loop(expr: ComprehensionExpr, wanted: readonly Value[]): Shape | undefined {
    const type = this.#type(expr.range);
    const range = this.read(expr.range, this.#common && type.kind === "dyn" ? [""] : []);
    const element = type.kind === "list" ? type.element : type.kind === "map" ? type.value : DYN;
    const keys = type.kind === "map" && expr.iterVar2 === undefined;
    const depth = this.#scope.length;
    const accumulated = this.read(expr.accuInit);
    this.#scope.push([expr.accuVar, accumulated]);
    if (expr.iterVar2 !== undefined) this.#scope.push([expr.iterVar, undefined]);
    this.#scope.push([expr.iterVar2 ?? expr.iterVar, keys ? undefined : range?.elements(element)]);
    this.read(expr.loopCondition, BOOLS);
    this.read(expr.loopStep, wanted);
    this.#scope.length = depth + 1;
    const result = this.read(expr.result, wanted);
    this.#scope.length = depth;
    return result ?? accumulated;
  }
}

function kept(shapes: Map<string, Shape>, name: string, type: Type): Shape {
  const shape = shapes.get(name) ?? new Shape(type);
  shapes.set(name, shape);
  return shape;
}

/** The value that a part always has, as far as that is easily found; undefined for all others. */
function constantOf(expr: Expr): Value | undefined {
  if (expr.kind === "literal") return expr.value;
  if (expr.kind === "list") return all(expr.elements.map(constantOf));
  if (expr.kind === "map") {
    const [keys, values] = [
      all(expr.entries.map(({ key }) => constantOf(key))),
      all(expr.entries.map(({ value }) => constantOf(value))),
    ];
    return keys && values && Object.fromEntries(keys.map((key, i) => [String(key), values[i] as Value]));
  }
  if (expr.kind !== "call" || expr.target !== undefined || expr.args.length !== 1) return undefined;
  // `quantity("1")`, `int("5")`: the value compared with it comes from such a text.
  return expr.function === "-_" ? undefined : constantOf(expr.args[0] as Expr);
}

/** Texts that begin with the literal of a sum. */
function begunBy(expr: Expr): readonly string[] {
  if (expr.kind !== "call" || expr.function !== "_+_") return [];
  const [first, second] = expr.args.map((arg) => constantOf(arg));
  if (typeof first === "string") return [`${first}a`, `${first}b`, `${first}1`];
  return typeof second === "string" ? [`a${second}`, `b${second}`, `1${second}`] : [];
}

/** The type of an optional's content. */
const contentOf = (type: Type): Type =>
  type.kind === "opaque" && type.name === "optional_type" ? (type.params[0] ?? DYN) : type;

const all = (values: readonly (Value | undefined)[]): readonly Value[] | undefined =>
  values.includes(undefined) ? undefined : (values as readonly Value[]);

function otherThan(value: Value): Value {
  if (typeof value === "string") return `${value}z`;
  if (typeof value === "boolean") return !value;
  return isInt(value) ? Number(value) + 1 : "z";
}

/** The value itself, and those just below and above it. */
function around(value: Value): readonly Value[] {
  if (isInt(value)) return [value, Number(value) - 1, Number(value) + 1, ...NUMBERS.slice(-2)];
  if (isDouble(value)) return [value, makeDouble(Number(value) - 0.75), makeDouble(Number(value) + 0.75)];
  return [value, otherThan(value)];
}

/** A value in the forms of other types that conversions make of it. */
function alike(value: Value): readonly Value[] {
  if (typeof value === "string")
    return /^-?\d{1,9}$/.test(value) ? [value, Number(value), uintOf(BigInt(value))] : [value];
  return isInt(value) || typeof value === "boolean" ? [value, String(value)] : [value];
}

/** Lists, texts and maps of some sizes. */
function sizes(wanted: readonly Value[], type: Type): readonly Value[] {
  const numbers = wanted.flatMap((value) =>
    isInt(value) && value >= 0 && value <= MOST_ELEMENTS ? [Number(value)] : [],
  );
  return [0, 1, 2, ...numbers].map((count) => {
    if (type.kind === "string") return "a".repeat(count);
    const each = Array.from({ length: count }, (_, i) => `k${i}`);
    return type.kind === "map" ? Object.fromEntries(each.map((key) => [key, key])) : each;
  });
}

/** Most elements of a list whose size is compared. */
const MOST_ELEMENTS = 64;
