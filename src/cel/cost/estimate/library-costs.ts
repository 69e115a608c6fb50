/** The cost of Kubernetes' and the extension libraries' functions, at least and at most (spec kubernetes-cel.md 5.4). */
import { partsOf } from "../../types.js";
import type { CallCost, CostCall, CostNode } from "./cost-node.js";
import { fixed, product, type Range, scaled, sum, UINT_MAX, UNKNOWN, wrap } from "./range.js";

/** The cost of traversing a string, for each character. */
export const STRING_FACTOR = 0.1;
/** The cost of running a pattern, for each of its characters. */
const REGEX_FACTOR = 0.25;
/** The cost of an authorization check: it keeps their number per expression small. */
const CHECK_COST = 350_000n;
/** The cost of making a list. */
const LIST_COST = 10n;
/** The largest name format's pattern, in characters. */
const NAME_FORMAT_SIZE = 128;
/** The longest format name. */
const FORMAT_NAME_SIZE = 64n;
/** An address takes 4 or 16 bytes. */
const ADDRESS: Range = { min: 4n, max: 16n };
/** A selector has at most one requirement per two characters; each needs a list and a structure. */
const REQUIREMENTS_PER_CHARACTER = 0.5;
const REQUIREMENT_COST = 50;

const ONE = fixed(1n);

/** A rule for a function; `undefined` when the general rules are to be used. */
type Rule = (call: CostCall) => CallCost | undefined;

/** The size of an argument, or {@link UNKNOWN}. */
export const sizeOf = (node: CostNode): Range => node.size ?? UNKNOWN;

const nominal: Rule = () => ({ cost: ONE });

/** Cost by the size of the first argument. */
const byFirst =
  (factor: number, keepsSize = false): Rule =>
  ({ args: [first] }) => {
    if (first === undefined) return undefined;
    const size = sizeOf(first);
    return { cost: scaled(size, factor), ...(keepsSize ? { size } : {}) };
  };

const byTarget: Rule = ({ target }) =>
  target === undefined ? undefined : { cost: scaled(sizeOf(target), STRING_FACTOR), size: sizeOf(target) };

const selector: Rule = ({ args }) => {
  if (args.length !== 1) return undefined;
  const size = sizeOf(args[0]!);
  const requirements = scaled(scaled(size, REQUIREMENTS_PER_CHARACTER), REQUIREMENT_COST);
  return { cost: sum(fixed(LIST_COST), scaled(size, STRING_FACTOR), requirements) };
};

/** A function that looks at every element, or at every character of a string. */
const traversal: Rule = ({ target, function: name }) => {
  if (target === undefined) return undefined;
  const [element] = partsOf(target.type);
  if (element === undefined) {
    const size = sizeOf(target);
    return { cost: name === "includes" ? size : scaled(size, STRING_FACTOR) };
  }
  const textual = element.kind === "string" || element.kind === "bytes";
  const each = textual ? sum(ONE, scaled(UNKNOWN, STRING_FACTOR)) : ONE;
  return { cost: product(sizeOf(target), each) };
};

const ceilDivide = (a: bigint, b: bigint): bigint => BigInt(Math.min(Math.ceil(Number(a) / Number(b)), 2 ** 64 - 2048));

const afterOne = (size: bigint): bigint => (size < UINT_MAX ? size + 1n : size);

/** `replace`: the result may be longer or shorter, depending on how often what is replaced can occur. */
const replace: Rule = ({ target, args: [what, replacement] }) => {
  if (target === undefined || what === undefined || replacement === undefined) return undefined;
  const size = sizeOf(target);
  const from = sizeOf(what);
  const to = sizeOf(replacement);
  const count = { min: 0n, max: 0n };
  const kept = { min: 0n, max: 0n };
  if (from.min === 0n) {
    count.max = afterOne(size.max);
    kept.max = size.max;
  } else if (to.max <= from.min) {
    kept.max = size.max;
  } else {
    count.max = ceilDivide(size.max, from.min);
  }
  if (from.max === 0n) {
    count.min = afterOne(size.min);
    kept.min = size.min;
  } else if (from.max <= to.min) {
    kept.min = size.min;
  } else {
    count.min = ceilDivide(size.min, from.max);
  }
  return { cost: scaled(size, 2 * STRING_FACTOR), size: sum(product(count, to), kept) };
};

function literalInt(node: CostNode | undefined): bigint | undefined {
  if (node?.expr?.kind !== "literal") return undefined;
  const { value } = node.expr;
  if (typeof value === "bigint") return value;
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

const split: Rule = ({ target, args }) => {
  if (target === undefined) return undefined;
  const size = sizeOf(target);
  const limit = literalInt(args[1]);
  const max = limit === undefined ? size.max : wrap(limit);
  return { cost: scaled(size, 2 * STRING_FACTOR), size: { min: 0n, max } };
};

const join: Rule = ({ target, args }) => {
  if (target === undefined) return undefined;
  const list = sizeOf(target);
  let size: Range = partsOf(target.type).length === 0 ? fixed(0n) : product(list, UNKNOWN);
  if (args[0] !== undefined) {
    const separators = { min: list.min > 0n ? list.min - 1n : 0n, max: list.max > 0n ? list.max - 1n : 0n };
    size = sum(size, product(sizeOf(args[0]), separators));
  }
  return { cost: scaled(size, STRING_FACTOR), size };
};

/** The cost of running a pattern over a text; one character more, so that an empty text doesn't make the pattern free. */
export function patternCost(text: CostNode, pattern: CostNode): Range {
  return product(scaled(sum(sizeOf(text), ONE), STRING_FACTOR), scaled(sizeOf(pattern), REGEX_FACTOR));
}

const find: Rule = ({ target, args }) => {
  if (target === undefined || args[0] === undefined) return undefined;
  return { cost: patternCost(target, args[0]), size: { min: 0n, max: sizeOf(target).max } };
};

const contains: Rule = ({ function: name, overload, args }) => {
  if (args[0] === undefined) return undefined;
  const comparison = scaled(sum(ADDRESS, ADDRESS), STRING_FACTOR);
  const mask = name === "containsCIDR" ? sum(scaled(ADDRESS, STRING_FACTOR), ONE) : fixed(0n);
  const parse = overload.endsWith("_string") ? scaled(sizeOf(args[0]), STRING_FACTOR) : fixed(0n);
  return { cost: sum(comparison, mask, parse) };
};

const ip: Rule = (call) => (call.overload === "cidr_ip" ? { cost: ONE } : byFirst(STRING_FACTOR)(call));

const validate: Rule = ({ args: [text] }) =>
  text === undefined
    ? undefined
    : { cost: scaled(scaled(sizeOf(text), STRING_FACTOR), NAME_FORMAT_SIZE * REGEX_FACTOR) };

/** Equality of library values; everything else compares by size. */
const equality: Rule = ({ args: [left, right] }) => {
  if (left?.type.kind !== "opaque" || right?.type.kind !== "opaque") return undefined;
  const { name } = left.type;
  if (name !== right.type.name || (!name.startsWith("kubernetes.") && !name.startsWith("net."))) return undefined;
  if (name === "kubernetes.NamedFormat") return { cost: scaled({ min: 1n, max: FORMAT_NAME_SIZE }, STRING_FACTOR) };
  if (name !== "kubernetes.URL") return { cost: ONE };
  return { cost: scaled({ min: 1n, max: right.size?.max ?? 1n }, STRING_FACTOR) };
};

const check: Rule = () => ({ cost: fixed(CHECK_COST) });

const rules = (rule: Rule, ...names: readonly string[]): readonly (readonly [string, Rule])[] =>
  names.map((name) => [name, rule] as const);

/** Rules by function. */
const BY_FUNCTION: ReadonlyMap<string, Rule> = new Map([
  ...rules(check, "check"),
  ...rules(nominal, "serviceAccount", "path", "group", "resource", "subresource", "namespace", "name"),
  ...rules(nominal, "allowed", "reason", "error", "errored", "format.named"),
  ...rules(
    nominal,
    "isMask",
    "masked",
    "prefixLength",
    "family",
    "isUnspecified",
    "isLoopback",
    "isLinkLocalMulticast",
  ),
  ...rules(nominal, "isLinkLocalUnicast", "isGlobalUnicast", "sign", "asInteger", "isInteger", "asApproximateFloat"),
  ...rules(nominal, "isGreaterThan", "isLessThan", "compareTo", "add", "sub", "major", "minor", "patch"),
  ...rules(nominal, "getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery"),
  ...rules(selector, "fieldSelector", "labelSelector"),
  ...rules(traversal, "isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"),
  ...rules(byFirst(STRING_FACTOR, true), "url", "jsonpatch.escapeKey"),
  ...rules(byTarget, "lowerAscii", "upperAscii", "substring", "trim"),
  ...rules(replace, "replace"),
  ...rules(split, "split"),
  ...rules(join, "join"),
  ...rules(find, "find", "findAll"),
  ...rules(byFirst(STRING_FACTOR), "cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"),
  ...rules(ip, "ip"),
  ...rules(byFirst(2 * STRING_FACTOR), "ip.isCanonical"),
  ...rules(contains, "containsIP", "containsCIDR"),
  ...rules(validate, "validate"),
  ...rules(equality, "_==_"),
]);

/** A call that makes a list: `factor` per element of `size`. */
const allocating = (factor: number, size: Range): CallCost => ({
  cost: sum(scaled(size, factor), ONE, fixed(LIST_COST)),
  size,
});

/** The value of a literal int argument, negative ones counting as 0. */
function literalUint(node: CostNode, otherwise: bigint): bigint {
  const value = literalInt(node);
  if (value === undefined) return otherwise;
  return value < 0n ? 0n : value;
}

const sets =
  (factor: number): Rule =>
  ({ args: [a, b] }) =>
    a === undefined || b === undefined ? undefined : { cost: sum(scaled(product(sizeOf(a), sizeOf(b)), factor), ONE) };

const flatten: Rule = ({ target, args: [depth] }) =>
  target === undefined
    ? undefined
    : allocating(depth === undefined ? 1 : Number(literalUint(depth, UINT_MAX)), sizeOf(target));

/** Rules by overload; they come before those by function. */
const BY_OVERLOAD: ReadonlyMap<string, Rule> = new Map([
  ...rules(sets(1), "list_sets_contains_list", "list_sets_intersects_list"),
  ...rules(sets(2), "list_sets_equivalent_list"),
  ...rules(flatten, "list_flatten", "list_flatten_int"),
  ...rules(({ target, args: [from, to] }) => {
    if (target === undefined || from === undefined || to === undefined) return undefined;
    const size = wrap(literalUint(to, sizeOf(target).max) - literalUint(from, 0n));
    return allocating(1, fixed(size));
  }, "list_slice"),
  ...rules(({ args: [count] }) => count && allocating(1, fixed(literalUint(count, UINT_MAX))), "lists_range"),
  ...rules(({ target }) => target && allocating(1, sizeOf(target)), "list_reverse"),
  ...rules(({ target }) => target && allocating(2, product(sizeOf(target), sizeOf(target))), "list_distinct"),
]);

/** `list_int_sort`, `list_string_sortByAssociatedKeys`, … */
const SORT = /^list_(.+)_sort(ByAssociatedKeys)?$/;

const sort: Rule = ({ overload, target, args }) => {
  const [, element, byKeys] = SORT.exec(overload) ?? [];
  const node = byKeys === undefined ? target : args[0];
  if (element === undefined || node === undefined) return undefined;
  const factor = element === "string" || element === "bytes" ? 2 + STRING_FACTOR : 2;
  return allocating(factor, product(sizeOf(node), sizeOf(node)));
};

/** The cost of a library's function; `undefined` when the general rules apply. */
export function libraryCost(call: CostCall): CallCost | undefined {
  const byOverload = BY_OVERLOAD.get(call.overload)?.(call);
  return byOverload ?? sort(call) ?? BY_FUNCTION.get(call.function)?.(call);
}
