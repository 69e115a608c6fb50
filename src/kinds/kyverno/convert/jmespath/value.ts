/** Values of queries: how CEL reads their members and items, and what counts as true. */
import { stringifyJson } from "../../../../data/json.js";
import { isObject } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import type { Shape } from "../pattern/shape.js";
import { loopOf, type Scope } from "../scope.js";
import type { Term } from "../term.js";

/** A value, while a query is converted. */
export interface Value extends Term {
  /** The value where it is known to be there. */
  readonly sure?: Cel;
  /** Whether it is there: shorter than a test of `optional`. */
  readonly present?: Cel;
  /** Of a member of an item: the item as an optional value, and the way from the item to the member. */
  readonly inside?: { readonly item: Cel; readonly path: (item: Cel) => Cel };
  /** Of a list that is made of another one: whether that one is a list. */
  readonly there?: Cel;
  /** Whether it is a list that a projection made: its items may be lists. */
  readonly projected?: boolean;
  /** Its members, where they are not those of an object. */
  readonly member?: (key: string) => Value;
  /** A member by an expression of its name. */
  readonly memberBy?: (key: Cel) => Value;
  /** The values of its members, as a list. */
  readonly values?: Value;
  /** Whether it stands for each of the values of a map. */
  readonly isAny?: boolean;
  /** Of a list: what its items stand for. */
  readonly each?: (item: Cel) => Value;
  /** {@link member} of a variable that holds the value. */
  readonly again?: (value: Cel) => (key: string) => Value;
  /** Whether it is taken to be of the type that is asked for: an error where it is not, as in Kyverno. */
  readonly trusted?: boolean;
}

const EMPTY_LIST = cel.list([]);
const NUMBERS: ReadonlySet<string> = new Set(["double", "int", "number"]);
const SCALARS: ReadonlySet<string> = new Set([...NUMBERS, "bool", "null", "scalar", "string"]);

/** The value of an expression of which no more is known than is said. */
export const known = (text: Cel, type: Term["type"] = "dyn", more: Partial<Value> = {}): Value => ({
  cel: text,
  type,
  nullable: false,
  fails: false,
  ...more,
});

export function constant(value: unknown): Value {
  const type = Array.isArray(value)
    ? "list"
    : isObject(value)
      ? "map"
      : value === null || value === undefined
        ? "null"
        : typeof value === "string"
          ? "string"
          : typeof value === "boolean"
            ? "bool"
            : "number";
  return known(cel.literal(value), type, { nullable: type === "null", constant: { value: value ?? null } });
}

/** The value where a missing key is null: inside of functions, comparisons, `||`, projections and behind pipes. */
export const lenient = (value: Value): Value =>
  value.optional === undefined
    ? value.present !== undefined && value.type !== "list"
      ? {
          ...value,
          cel: cel.conditional(value.present, cel.call("dyn", value.cel), cel.NULL),
          nullable: true,
          fails: false,
        }
      : value
    : {
        ...value,
        cel: cel.orValue(value.optional, cel.NULL),
        sure: value.sure ?? value.cel,
        nullable: true,
        fails: false,
      };

/** An expression that uses a value more than once. */
export function shared(value: Cel, scope: Scope, use: (value: Cel) => Cel): Cel {
  if (value.text.length <= 30) return use(value);
  if (scope.depth === 0 && !scope.inline) return use(scope.draft.variable("value", value, []));
  const { name } = loopOf(scope, "v");
  return cel.call("cel.bind", cel.primary(name), value, use(cel.primary(name)));
}

/** A member, of the type that the schema tells. @param key its name, or an expression of it */
export function memberOf(value: Value, key: Cel | string, scope: Scope): Value {
  const made = plainMember(value, key, scope);
  return shaped(made, typeof key === "string" ? value.shape?.member(key) : undefined);
}

/** The value with what a schema tells about it: the API server drops null where a field has a type. */
export function shaped(value: Value, shape: Shape | undefined): Value {
  if (shape === undefined || value.constant !== undefined) return value;
  const type = shape.type === "quantity" ? "scalar" : (shape.type ?? "dyn");
  if (value.type !== "dyn" || type === "dyn") return { ...value, shape };
  const { optional } = value;
  const { cel: _, ...items } = shaped(known(cel.NULL), shape.items);
  return {
    ...value,
    shape,
    type,
    nullable: value.nullable && !value.fails,
    ...(type === "list" && optional !== undefined && { orEmpty: cel.orValue(optional, EMPTY_LIST) }),
    ...(shape.items !== undefined && { items }),
  };
}

function plainMember(value: Value, key: Cel | string, scope: Scope): Value {
  // Queries write `null` and `false` without backticks: names of keys that no object has.
  if (key === "null" || key === "true" || key === "false") return constant(null);
  if (typeof key === "string" && value.member !== undefined) return value.member(key);
  if (typeof key !== "string" && value.memberBy !== undefined) return value.memberBy(key);
  if (typeof key === "string" && value.constant !== undefined) {
    const { value: map } = value.constant;
    return constant(isObject(map) && Object.hasOwn(map, key) ? map[key] : null);
  }
  if (SCALARS.has(value.type) || value.type === "list") return constant(null);
  const strict = (target: Cel): Cel => (typeof key === "string" ? cel.member(target, key) : cel.item(target, key));
  const optional =
    value.optional !== undefined
      ? strict(value.optional)
      : typeof key === "string"
        ? cel.optionalMember(value.cel, key)
        : cel.optionalItem(value.cel, key);
  const made = { optional, sure: strict(value.sure ?? value.cel), nullable: true, fails: true };
  if (value.inside !== undefined) {
    const { item, path } = value.inside;
    const { name } = loopOf(scope);
    const inside = { item, path: (each: Cel) => strict(path(each)) };
    const mapped = cel.method(item, "optMap", cel.primary(name), inside.path(cel.primary(name)));
    return known(cel.orValue(mapped, cel.NULL), "dyn", { ...made, inside });
  }
  if (value.optional === undefined && value.nullable)
    return known(
      shared(value.cel, scope, (map) => cel.conditional(cel.equal(map, cel.NULL), cel.NULL, strict(map))),
      "dyn",
      made,
    );
  const isCertain = value.optional === undefined && typeof key === "string";
  return known(strict(value.cel), "dyn", { ...made, ...(isCertain && { present: cel.has(value.cel, key) }) });
}

/** An item of a list; null where there is none. */
export function itemOf(value: Value, index: number, scope: Scope): Value {
  if (value.constant !== undefined) {
    const { value: list } = value.constant;
    return constant(Array.isArray(list) ? list.at(index) : null);
  }
  if (SCALARS.has(value.type) || value.type === "map") return constant(null);
  const type = value.items?.type ?? "dyn";
  const items = { ...value.items, nullable: true };
  const base = value.orEmpty;
  if (base !== undefined || value.optional === undefined) {
    const optional = itemAt(base ?? value.cel, index);
    return known(cel.orValue(optional, cel.NULL), type, { ...clean(items), optional, sure: sureItem(value, index) });
  }
  const item = itemAt(value.cel, index);
  const { name } = loopOf(scope, "l");
  const optional =
    index >= 0
      ? cel.item(value.optional, index)
      : cel.method(value.optional, "optFlatMap", cel.primary(name), itemAt(cel.primary(name), index));
  return known(cel.orValue(item, cel.NULL), type, {
    ...clean(items),
    optional,
    fails: value.fails,
    sure: sureItem(value, index),
    inside: { item, path: (each) => each },
  });
}

const clean = (items: Partial<Omit<Term, "cel">> & { readonly nullable: boolean }): Partial<Value> => ({
  nullable: items.nullable,
  ...(items.items !== undefined && { items: items.items }),
  ...(items.shape !== undefined && { shape: items.shape }),
});

function itemAt(list: Cel, index: number): Cel {
  if (index >= 0) return cel.optionalItem(list, index);
  if (index === -1) return cel.method(list, "last");
  return cel.optionalItem(list, cel.minus(cel.call("size", list), cel.literal(-index)));
}

function sureItem(value: Value, index: number): Cel {
  const list = value.sure ?? value.cel;
  return index >= 0 ? cel.item(list, index) : cel.method(itemAt(list, index), "value");
}

/**
 * What becomes of a list, or of the values of a map: null where there is none.
 * @param change the new list, made of the old one
 */
export function changed(
  value: Value,
  type: "list" | "map",
  scope: Scope,
  change: (list: Cel) => Cel,
  more: Partial<Value> = {},
): Value {
  if (value.type !== type && (SCALARS.has(value.type) || value.type === "list" || value.type === "map"))
    return constant(null);
  if ((value.type === type || value.trusted) && !value.nullable && value.optional === undefined)
    return known(change(value.cel), "list", { fails: value.fails, ...more });
  const none = type === "list" ? EMPTY_LIST : cel.map([]);
  const { optional } = value;
  if (optional === undefined && value.there === undefined) {
    const or = (otherwise: Cel): Cel =>
      shared(value.cel, scope, (list) =>
        cel.conditional(cel.isType(list, type), cel.call("dyn", change(list)), otherwise),
      );
    return known(or(cel.NULL), "list", { nullable: true, orEmpty: or(EMPTY_LIST), ...more });
  }
  const old = value.sure ?? value.cel;
  const sure = change(old);
  const whole = optional === undefined ? value.cel : cel.orValue(optional, cel.NULL);
  const there = value.there ?? cel.isType(whole, type);
  const orEmpty = change(value.orEmpty ?? (optional === undefined ? whole : cel.orValue(optional, none)));
  const present = value.present ?? (optional === undefined ? there : cel.method(optional, "hasValue"));
  const common = { nullable: true, orEmpty, sure, present, ...more };
  if (sure.text === old.text && optional !== undefined) return known(value.cel, "list", { ...common, optional });
  return known(cel.conditional(there, cel.call("dyn", sure), cel.NULL), "list", { ...common, there });
}

/** The values that count as false. */
const FALSY = cel.list(
  [cel.NULL, cel.FALSE, cel.literal(""), EMPTY_LIST, cel.map([])].map((each) => cel.call("dyn", each)),
);

const isFalsy = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === false ||
  value === "" ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

/** Whether a value counts as false: `false`, null, `""`, `[]` and `{}` do, 0 does not. */
export function falsy(value: Value, scope: Scope): Cel {
  if (value.constant !== undefined) return isFalsy(value.constant.value) ? cel.TRUE : cel.FALSE;
  if (value.truth !== undefined) return cel.not(value.truth);
  const { type, optional, nullable } = value;
  const isSure = !nullable && optional === undefined;
  if (NUMBERS.has(type)) return isSure ? cel.FALSE : cel.equal(value.cel, cel.NULL);
  if (type === "string" && (isSure || optional !== undefined))
    return cel.equal(optional === undefined ? value.cel : cel.orValue(optional, cel.literal("")), cel.literal(""));
  if (type === "bool" && isSure) return cel.not(value.cel);
  if (type === "bool") return cel.relation("!=", value.cel, cel.TRUE);
  if (type === "list" && (isSure || value.orEmpty !== undefined))
    return cel.equal(cel.call("size", value.orEmpty ?? value.cel), cel.literal(0));
  if (type === "map" && isSure) return cel.equal(value.cel, cel.map([]));
  return cel.relation("in", value.cel, scope.inline ? FALSY : scope.draft.variable("empty", FALSY, []));
}

/** Whether a value counts as true. */
export function truthy(value: Value, scope: Scope): Cel {
  if (value.truth !== undefined) return value.truth;
  if (value.type === "bool" && value.constant === undefined)
    return value.nullable ? cel.equal(value.cel, cel.TRUE) : value.cel;
  if (value.type === "list" && value.constant === undefined && (value.orEmpty !== undefined || !value.nullable))
    return cel.relation(">", cel.call("size", value.orEmpty ?? value.cel), cel.literal(0));
  if (value.type === "string" && value.constant === undefined && (!value.nullable || value.optional !== undefined)) {
    const text = value.optional === undefined ? value.cel : cel.orValue(value.optional, cel.literal(""));
    return cel.relation("!=", text, cel.literal(""));
  }
  return cel.not(falsy(value, scope));
}

export const isNumber = (value: Term): boolean => NUMBERS.has(value.type);

/** A value inside of text. */
export function printed({ cel: text, type, nullable, fails, constant: only }: Term): Value {
  if (only !== undefined) return constant(typeof only.value === "string" ? only.value : stringifyJson(only.value));
  if (type === "string" && !nullable) return known(text, type, { fails });
  return known(cel.call(type === "list" || type === "map" ? "json.marshal" : "string", text), "string", { fails });
}
