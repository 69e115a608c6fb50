/** JMESPath as CEL. */

import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { NotConverted } from "../not-converted.js";
import { loopOf, type Scope } from "../scope.js";
import type { Term } from "../term.js";
import { FUNCTIONS } from "./functions/index.js";
import { WHOLE } from "./images.js";
import { type Node, type ParsedQuery, Placeholder, parseQuery } from "./parse.js";
import { rootOf } from "./roots.js";
import {
  about,
  changed,
  constant,
  equal,
  falsy,
  isNumber,
  itemOf,
  known,
  lenient,
  memberOf,
  multiHash,
  multiList,
  printed,
  selected,
  shared,
  truthy,
  type Value,
} from "./value.js";

/** Variables inside of a query, such as `{{ a.{{ b }} }}`, by the words that stand for them. */
export type Nested = ReadonlyMap<string, Term>;

/** The circumstances in which a node is evaluated. */
interface Place {
  readonly scope: Scope;
  readonly literals: ParsedQuery["literals"];
  readonly nested: Nested;
  /** Whether a key that is missing before the last one of a path is an error, not null. */
  readonly isStrict: boolean;
  /** Whether it is a filter's condition: a key that is missing is null in all of it. */
  readonly isFilter?: boolean;
}

type Of<T extends Node["type"]> = Extract<Node, { readonly type: T }>;

/** More about a query. */
export interface QueryOptions {
  /** Variables inside of it. */
  readonly nested?: Nested;
  /** The current value, default the context of the policy: `request`, `element`, ... */
  readonly current?: Value;
  /** Whether what is missing is null: the query's error has a default. */
  readonly isSoft?: boolean;
}

/**
 * Converts an expression of JMESPath, as it stands between `{{` and `}}` or in `jmesPath`, `list`, ...: a key that is missing at the end of a plain path is an
 * error, as in CEL.
 * @throws NotConverted where it has no counterpart
 */
export function query(source: string, scope: Scope, { nested = new Map(), current, isSoft }: QueryOptions = {}): Value {
  const { tree, literals } = parseQuery(source);
  // Kyverno's autogen changes the plain text request.object: what is quoted stays the whole object.
  const made = evaluate(tree, current ?? rootOf(scope, source.includes('request."object"')), {
    scope,
    literals,
    nested,
    isStrict: isSoft !== true,
  });
  if (made.cel.text.includes(WHOLE))
    throw new NotConverted([], "images as a whole are not converted: write their registry, path, name, tag or digest");
  return made;
}

/** The longest CEL that a query may become, in characters: some parts of JMESPath repeat their operand. */
const LONGEST_TEXT = 10_000;

function evaluate(node: Node, current: Value, place: Place): Value {
  const made = evaluated(node, current, place);
  if (made.cel.text.length > LONGEST_TEXT)
    throw new NotConverted([], `the query would become more than ${LONGEST_TEXT} characters of CEL: divide it`);
  return made;
}

/** The value of a node where what is missing is null. */
const softly = (node: Node, current: Value, place: Place): Value =>
  lenient(evaluate(node, current, { ...place, isStrict: false }));

function evaluated(node: Node, current: Value, place: Place): Value {
  const { scope } = place;
  const soft = (each: Node, value = current): Value => softly(each, value, place);
  const operand = (each: Node): Value => (isBareWord(each) ? constant(null) : soft(each));
  switch (node.type) {
    case "Identity":
    case "Current":
      return current;
    case "Field":
      return field(node.name, current, place);
    case "Literal": {
      const literal = place.literals[node.value as number];
      return literal instanceof Placeholder ? nestedLiteral(literal, place) : textOf(literal, place);
    }
    case "Subexpression":
      return within(node.right, evaluate(node.left, current, place), place);
    case "IndexExpression":
      return evaluate(node.right, evaluate(node.left, current, place), place);
    case "Pipe":
      return soft(node.right, soft(node.left));
    case "Index":
      return itemOf(current, node.value, scope);
    case "Projection":
      return node.left.type === "IndexExpression" && node.left.right.type === "Slice"
        ? project(slice(node.left.right, soft(node.left.left), scope), node.right, undefined, place)
        : project(soft(node.left), node.right, undefined, place);
    case "FilterProjection":
      return project(soft(node.left), node.right, node.condition, place);
    case "ValueProjection":
      return values(soft(node.left), node.right, place);
    case "Flatten":
      return flatten(node.child, current, place);
    case "OrExpression":
      return either(soft(node.left), () => soft(node.right), scope);
    case "AndExpression":
      return both(
        soft(node.left),
        () => (place.isFilter ? soft(node.right) : evaluate(node.right, current, place)),
        scope,
      );
    case "NotExpression": {
      const child = soft(node.child);
      return known(falsy(child, scope), "bool", { fails: child.fails });
    }
    case "Comparator":
      return compare(node, operand(node.left), operand(node.right));
    case "MultiSelectList":
      return selected(current, multiList(node.children.map(operand)));
    case "MultiSelectHash":
      return selected(current, multiHash(new Map(node.children.map((pair) => [pair.name, operand(pair.value)]))));
    case "Function":
      return callFunction(node, current, place);
    default:
      throw new NotConverted([], `${node.type} is not part of Kyverno's JMESPath`);
  }
}

/** The value of what stands behind a dot: functions and selections there are of a value that must be there. */
function within(node: Node, owner: Value, place: Place): Value {
  const isOther =
    (node.type === "Projection" && place.isStrict) ||
    ["Function", "MultiSelectList", "MultiSelectHash"].includes(first(node).type);
  if (!isOther || owner.optional === undefined || owner.inside !== undefined) return evaluate(node, owner, place);
  const { optional, ...strict } = owner;
  const made = evaluate(node, { ...strict, nullable: false }, place);
  const { sure = made.cel } = made;
  const present = strict.present ?? cel.method(optional, "hasValue");
  if (node.type === "Function" && (node.name === "keys" || node.name === "values")) {
    const map = known(cel.orValue(optional, cel.map([])), "map");
    return { ...made, present, sure, fails: true, there: present, orEmpty: evaluate(node, map, place).cel };
  }
  return made.constant === undefined ? { ...made, present, sure, fails: true, breaks: made.fails } : made;
}

/** The part of a node that is evaluated first. */
function first(node: Node): Node {
  if ("left" in node) return first(node.left);
  return node.type === "Flatten" ? first(node.child) : node;
}

function field(name: string, current: Value, place: Place): Value {
  const key = place.nested.get(name) ?? textOf(name, place);
  return memberOf(current, key.constant === undefined ? key.cel : String(key.constant.value), place.scope);
}

/** A literal that is a variable: Kyverno reads the variable's text as JSON, so that a text has no place there. */
function nestedLiteral({ word }: Placeholder, { nested }: Place): Value {
  const term = nested.get(word);
  if (term === undefined) throw new NotConverted([], `\`${word}\` is not a literal`);
  // It has its value before the query is read: a missing key in it is an error anywhere.
  const { optional: _, present: __, ...value }: Value = term;
  return value;
}

/** A text in which words stand for nested variables. */
function textOf(value: unknown, { nested }: Place): Value {
  if (typeof value !== "string" || nested.size === 0) return constant(value);
  const parts = value.split(/(_variable_\d+_)/).filter((part) => part !== "");
  const terms = parts.map((part) => printed(nested.get(part) ?? constant(part)));
  if (terms.every((term) => term.constant !== undefined))
    return constant(terms.map((term) => term.constant?.value).join(""));
  return known(cel.plus(...terms.map((term) => term.cel)), "string", { fails: true });
}

function project(list: Value, right: Node, condition: Node | undefined, place: Place): Value {
  const { name, inner } = loopOf(place.scope);
  const each = cel.primary(name);
  const { type: typeOfEach = "dyn", nullable = false } = list.items ?? {};
  const element = list.each?.(each) ?? known(each, typeOfEach, { nullable, ...about(list.items) });
  const inside = { ...place, scope: inner, isStrict: false };
  const asked = condition === undefined ? constant(true) : softly(condition, element, { ...inside, isFilter: true });
  const made = evaluate(right, element, inside);
  const { type, optional, present } = made;
  const fails = asked.fails || (made.fails && optional === undefined && present === undefined);
  return changed(list, "list", place.scope, (old) => collected(old, name, asked, made, inner), {
    items: { type, nullable: false, fails: false, ...about(made) },
    ...(fails && { fails }),
    ...((right.type !== "Identity" || list.projected === true) && { projected: true }),
  });
}

/** The items of a list that are made of another one's; those that are null are left out. */
function collected(list: Cel, name: string, condition: Value, made: Value, scope: Scope): Cel {
  const holds = truthy(condition, scope);
  const value = made.sure ?? made.cel;
  const { optional, present } = made;
  // A value that counts as true is there.
  const isTested =
    holds.text.includes(`${optional?.text}.orValue(`) && holds.text === truthy(lenient(made), scope).text;
  const there = present ?? (optional === undefined ? cel.TRUE : cel.method(optional, "hasValue"));
  const guard = isTested || there.text === "true" ? holds : allOf(condition, holds, there);
  const isNullable = made.nullable && optional === undefined && present === undefined;
  const isSome = cel.relation("!=", cel.primary(name), cel.NULL);
  if (value.text === name) {
    const kept = cel.and(guard, isNullable ? isSome : cel.TRUE);
    return kept.text === "true" ? list : cel.loop(list, "filter", name, kept);
  }
  const mapped = cel.loop(list, "map", name, ...(guard.text === "true" ? [] : [guard]), value);
  return isNullable ? cel.loop(mapped, "filter", name, isSome) : mapped;
}

function values(map: Value, right: Node, place: Place): Value {
  const { scope } = place;
  if (map.isAny === true) return evaluate(right, map, place);
  if (map.values !== undefined) return project(map.values, right, undefined, place);
  const name = loopOf(scope, "k").name;
  const list = changed(map, "map", scope, (old) => cel.loop(old, "map", name, cel.item(old, cel.primary(name))));
  return project(list, right, undefined, place);
}

/** A changed list of unknown items: without `dyn` functions with several signatures do not work on its items. */
const dynamic = (list: Cel): Cel => cel.call("dyn", list);

function slice({ start, stop, step }: Of<"Slice">, list: Value, scope: Scope): Value {
  const by = step ?? 1;
  if (by !== 1 && !(by === -1 && start === null && stop === null))
    throw new NotConverted([], "a slice with a step is not converted, except [::-1]");
  return changed(list, "list", scope, (old) => {
    if (by === -1) return dynamic(cel.method(old, "reverse"));
    const size = cel.call("size", old);
    const bound = (at: number | null, otherwise: Cel): Cel => {
      if (at === null) return otherwise;
      return at < 0
        ? cel.call("math.greatest", cel.literal(0), cel.minus(size, cel.literal(-at)))
        : cel.call("math.least", cel.literal(at), size);
    };
    const [from, to] = [start === 0 ? cel.literal(0) : bound(start, cel.literal(0)), bound(stop, size)];
    // A slice that ends before it begins is empty.
    const isOrdered = start === null || start === 0 || stop === null || (start <= stop && start < 0 === stop < 0);
    return dynamic(cel.method(old, "slice", from, isOrdered ? to : cel.call("math.greatest", from, to)));
  });
}

function flatten(child: Node, current: Value, place: Place): Value {
  const lists =
    child.type === "MultiSelectList"
      ? { parts: child.children, of: current }
      : child.type === "Subexpression" && child.right.type === "MultiSelectList"
        ? { parts: child.right.children, of: softly(child.left, current, place) }
        : undefined;
  if (lists !== undefined) {
    const parts = lists.parts.map((part) => softly(part, lists.of, place));
    const images = parts.map(({ values: list }) => list).filter((list) => list !== undefined);
    const each = images[0]?.each;
    const isAlike = parts.every(({ items }) => items?.shape !== undefined && items.type === parts[0]?.items?.type);
    if (each === undefined) return known(cel.plus(...parts.map(listOf)), "list", isAlike ? about(parts[0]) : {});
    // Maps of images by their names: what is asked of all of their members is asked of each container.
    return known(cel.plus(...images.map(listOf)), "list", { each: (item) => ({ ...each(item), isAny: true }) });
  }
  const list = softly(child, current, place);
  const isFlat = list.projected !== true || FLAT.has(list.items?.type ?? "");
  const items = list.items?.items ?? (isFlat ? list.items : undefined);
  return changed(list, "list", place.scope, (old) => (isFlat ? old : dynamic(cel.method(old, "flatten"))), {
    ...(items !== undefined && { items }),
    ...(isFlat && list.each !== undefined && { each: list.each }),
  });
}

/** The types of items, except lists. */
const FLAT: ReadonlySet<string> = new Set(["bool", "double", "int", "number", "scalar", "string", "map"]);

/** A part of a list of lists: a list, nothing where it is missing, or a single item. */
function listOf(part: Value): Cel {
  if (part.orEmpty !== undefined) return part.orEmpty;
  if (part.optional !== undefined && part.type !== "string") return cel.orValue(part.optional, cel.list([]));
  return part.type === "list" && !part.nullable ? part.cel : cel.list([part.cel]);
}

/** Whether CEL, in which a decisive `b` hides an error of `a`, would differ: not where `b` looks at the same members. */
function isHidden({ fails, cel: a }: Value, b: Cel): boolean {
  const members = a.text.replaceAll(/\.\w+\(/g, "(").match(/\w+(?:\.\w+)+/g) ?? [];
  return fails && members.some((path) => !b.text.includes(path));
}

const firstOf = (left: Value, a: Cel, b: Cel): Cel =>
  isHidden(left, b) ? cel.conditional(a, cel.TRUE, b) : cel.or(a, b);

const allOf = (left: Value, a: Cel, b: Cel): Cel =>
  isHidden(left, b) ? cel.conditional(a, b, cel.FALSE) : cel.and(a, b);

function either(left: Value, rightOf: () => Value, scope: Scope): Value {
  const isFalse = falsy(left, scope);
  if (isFalse.text === "false") return left;
  const right = rightOf();
  if (isFalse.text === "true") return right;
  if (left.type === "bool" && right.type === "bool" && !left.nullable && !right.nullable)
    return known(firstOf(left, left.cel, right.cel), "bool", { fails: left.fails || right.fails });
  const truth = firstOf(left, cel.not(isFalse), truthy(right, scope));
  const otherwise = right.constant?.value;
  const { optional, orEmpty } = left;
  if (Array.isArray(otherwise) && otherwise.length === 0 && left.type === "list") {
    if (!left.nullable) return left;
    const { items, projected = false } = left;
    if (orEmpty !== undefined) return known(orEmpty, "list", { ...(items !== undefined && { items }), projected });
  }
  const isSame = left.type === right.type || (isNumber(left) && isNumber(right));
  // A default that counts as false, too, and any one of a number.
  if (
    isSame &&
    optional !== undefined &&
    (isNumber(left) || (left.type !== "dyn" && falsy(right, scope).text === "true"))
  )
    return known(cel.orValue(optional, right.cel), left.type);
  const { type, nullable } = left;
  if (left.cel.text.length > 120) {
    const again = (ref: Cel): Cel => either(known(ref, type, { nullable }), () => right, scope).cel;
    const more = { nullable: right.nullable, fails: left.fails || right.fails };
    return known(shared(left.cel, scope, again), isSame ? type : "dyn", more);
  }
  const no = right.constant !== undefined || isSame ? right.cel : cel.call("dyn", right.cel);
  const sure = left.sure ?? left.cel;
  const yes = optional === undefined && !isSame ? cel.call("dyn", sure) : sure;
  const more = { nullable: right.nullable, fails: left.fails || right.fails, truth };
  return known(cel.conditional(isFalse, no, yes), isSame ? type : "dyn", more);
}

function both(left: Value, rightOf: () => Value, scope: Scope): Value {
  const isFalse = falsy(left, scope);
  if (isFalse.text === "true") return left;
  const right = rightOf();
  if (isFalse.text === "false") return right;
  if (left.type === "bool" && right.type === "bool" && !left.nullable && !right.nullable)
    return known(allOf(left, left.cel, right.cel), "bool", { fails: left.fails || right.fails });
  const truth = allOf(left, truthy(left, scope), truthy(lenient(right), scope));
  const isSame = left.type === right.type;
  const [no, yes] = isSame ? [left.cel, right.cel] : [cel.call("dyn", left.cel), cel.call("dyn", right.cel)];
  const more = { nullable: left.nullable || right.nullable, fails: left.fails || right.fails, truth };
  return known(cel.conditional(isFalse, no, yes), isSame ? left.type : "dyn", more);
}

/** Queries compare with `null` and `false` without backticks: keys that no object has. */
const isBareWord = (node: Node): boolean => node.type === "Field" && ["false", "null", "true"].includes(node.name);

const ORDERS = { GT: ">", GTE: ">=", LT: "<", LTE: "<=" } as const;

function compare(node: Of<"Comparator">, left: Value, right: Value): Value {
  const fails = left.fails || right.fails;
  if (node.name === "EQ" || node.name === "NE")
    return known(equal(node.name === "EQ" ? "==" : "!=", left, right), "bool", { fails });
  if ([left, right].some((each) => !isNumber(each) && each.type !== "dyn" && each.type !== "scalar"))
    return constant(null);
  const isOrdered = cel.and(
    ...[left, right].map((each) => {
      if (!isNumber(each)) return cel.isType(each.cel, "int", "double");
      return each.nullable ? cel.relation("!=", each.cel, cel.NULL) : cel.TRUE;
    }),
  );
  const result = cel.relation(ORDERS[node.name], left.sure ?? left.cel, right.sure ?? right.cel);
  if (isOrdered.text === "true") return known(result, "bool", { fails });
  const text = cel.conditional(isOrdered, cel.call("dyn", result), cel.NULL);
  return known(text, "dyn", { nullable: true, fails, truth: cel.and(isOrdered, result) });
}

function callFunction(node: Of<"Function">, current: Value, place: Place): Value {
  const write = FUNCTIONS.get(node.name);
  if (write === undefined) throw new NotConverted([], `the function ${node.name} of JMESPath is not converted`);
  const args = node.children.map((child) =>
    child.type === "ExpressionReference"
      ? { apply: (item: Term) => softly(child.child, item, { ...place, scope: loopOf(place.scope).inner }) }
      : softly(child, current, place),
  );
  return write(args, place.scope);
}
