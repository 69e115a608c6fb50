/** The cost of functions, at least and at most, where Kubernetes 1.38 estimates otherwise (spec kubernetes-1-38.md 1). */
import type { Type } from "../../types.js";
import type { CallCost, CostCall, CostNode } from "./cost-node.js";
import { STRING_FACTOR } from "./library-costs.js";
import { fixed, product, type Range, scaled, sum, UINT_MAX, UNKNOWN } from "./range.js";
import { mergedParts, type Size, unionSize } from "./size.js";

type Rule = (call: CostCall) => CallCost | undefined;

const ONE = fixed(1n);
/** A call that makes a list. */
const MADE = fixed(11n);
const REGEX_QUARTERS = 4n;
const TEXT_TENTHS = 10n;

const sizeOf = (node: CostNode): Size => node.size ?? UNKNOWN;

/** A fraction of a size, rounded up; of one that has no bound there is none. */
const share = ({ min, max }: Range, of: bigint): Range => ({ min: up(min, of), max: up(max, of) });
const up = (value: bigint, of: bigint): bigint => (value === UINT_MAX ? value : (value + of - 1n) / of);
const times = (size: Range, factor: bigint): Range => product(size, fixed(factor));
/** The least of one and the most of another. */
const between = (least: Range, most: Range): Range => ({
  min: least.min < most.max ? least.min : most.max,
  max: most.max,
});

/** Of arguments that are joined, the parts: those of a value that may hold some, but tells nothing of them, are unknown. */
function partsAmong(...nodes: readonly CostNode[]): Pick<Size, "key" | "elem"> {
  const sizes = nodes.map(sizeOf);
  const [keys, elements] = [sizes.some(({ key }) => key), sizes.some(({ elem }) => elem)];
  let parts: Pick<Size, "key" | "elem"> = {};
  sizes.forEach((size, index) => {
    const untold =
      size.max > 0n && size.key === undefined && size.elem === undefined && mayHold((nodes[index] as CostNode).type);
    const elem = size.elem ?? (untold || (size.key !== undefined && size.max > 0n) ? UNKNOWN : undefined);
    const key = size.key ?? (untold ? UNKNOWN : undefined);
    const own = { ...UNKNOWN, ...(elements && { elem }), ...(keys && { key }) };
    parts = mergedParts({ ...UNKNOWN, ...parts }, own);
  });
  return parts;
}

const WITHOUT_PARTS: ReadonlySet<Type["kind"]> = new Set([
  ...(["bool", "double", "duration", "int", "null", "timestamp", "uint", "string", "bytes"] as const),
]);
const mayHold = ({ kind }: Type): boolean => !WITHOUT_PARTS.has(kind);

const joined: Rule = ({ args: [a, b], overload }) => {
  if (a === undefined || b === undefined) return undefined;
  const size = sum(sizeOf(a), sizeOf(b));
  return { cost: overload === "add_list" ? ONE : share(size, TEXT_TENTHS), size: { ...size, ...partsAmong(a, b) } };
};

const search = (text: CostNode | undefined, pattern: CostNode | undefined): CallCost | undefined =>
  text &&
  pattern && { cost: product(share(sum(sizeOf(text), ONE), TEXT_TENTHS), share(sizeOf(pattern), REGEX_QUARTERS)) };

const converted =
  (resize: (size: Size) => Range): Rule =>
  ({ args: [argument] }) =>
    argument && { cost: share(sizeOf(argument), TEXT_TENTHS), size: resize(sizeOf(argument)) };

const begins: Rule = ({ args: [part] }) => part && { cost: share(sizeOf(part), TEXT_TENTHS) };

/** An element, whose size is that of the parts. */
const element: Rule = ({ args: [container] }) => container && { cost: ONE, size: sizeOf(container).elem ?? UNKNOWN };

/** Comparing every element with every other. */
const compared =
  (texts: (call: CostCall) => boolean, keys: (call: CostCall) => CostNode | undefined): Rule =>
  (call) => {
    const node = keys(call);
    if (node === undefined || call.target === undefined) return undefined;
    const squared = product(sizeOf(node), sizeOf(node));
    const cost = sum(scaled(squared, texts(call) ? 2 + STRING_FACTOR : 2), MADE);
    return { cost, size: { ...squared, elem: sizeOf(call.target).elem } };
  };

const isText = ({ kind }: Type): boolean => kind === "string" || kind === "bytes";
const distinct = compared(
  ({ target }) => target !== undefined && target.type.kind === "list" && isText(target.type.element),
  ({ target }) => target,
);

/** The value of an int literal; `undefined` where it is none, or negative. */
function literalOf(node: CostNode | undefined): bigint | undefined {
  if (node?.expr?.kind !== "literal") return undefined;
  const { value } = node.expr;
  if (typeof value !== "bigint" && !(typeof value === "number" && Number.isSafeInteger(value))) return undefined;
  return BigInt(value) < 0n ? undefined : BigInt(value);
}

const flatten: Rule = ({ target, args: [depth] }) => {
  if (target === undefined) return undefined;
  const factor = depth === undefined ? 1n : (literalOf(depth) ?? UINT_MAX);
  return { cost: sum(scaled(sizeOf(target), Number(factor)), MADE), size: sizeOf(target) };
};

const BY_OVERLOAD: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["index_list", element],
  ["index_map", element],
  ["starts_with_string", begins],
  ["ends_with_string", begins],
  ["string_to_bytes", converted((size) => between(size, times(size, 4n)))],
  ["bytes_to_string", converted((size) => between(share(size, 4n), size))],
  ["strings_quote", converted((size) => between(sum(size, fixed(2n)), sum(times(size, 2n), fixed(2n))))],
  ["string_format", ({ target }) => target && { cost: share(sizeOf(target), TEXT_TENTHS) }],
  ["in_list", ({ args: [, list] }) => list && { cost: sizeOf(list) }],
  ["add_string", joined],
  ["add_bytes", joined],
  ["add_list", joined],
  ["matches", ({ args: [text, pattern] }) => search(text, pattern)],
  ["matches_string", ({ target, args: [pattern] }) => search(target, pattern)],
  [
    "contains_string",
    ({ target, args: [part] }) =>
      target && part && { cost: product(share(sizeOf(target), TEXT_TENTHS), share(sizeOf(part), TEXT_TENTHS)) },
  ],
  [
    "conditional",
    ({ args: [, yes, no] }) =>
      yes && no && { cost: ONE, size: { ...unionSize(sizeOf(yes), sizeOf(no)), ...partsAmong(yes, no) } },
  ],
  ["list_flatten", flatten],
  ["list_flatten_int", flatten],
  ["list_distinct", distinct],
  ["list_reverse", ({ target }) => target && { cost: sum(sizeOf(target), MADE), size: sizeOf(target) }],
]);

const ACCESSORS: ReadonlySet<string> = new Set([
  "getScheme",
  "getHostname",
  "getHost",
  "getPort",
  "getEscapedPath",
  "getQuery",
]);

/** `list_int_sort`, `list_string_sortByAssociatedKeys`, … */
const SORT = /^list_(.+)_sort(ByAssociatedKeys)?$/;

function sort(call: CostCall): CallCost | undefined {
  const [, kind, byKeys] = SORT.exec(call.overload) ?? [];
  if (kind === undefined) return undefined;
  const texts = kind === "string" || kind === "bytes";
  return compared(
    () => texts,
    ({ target, args }) => (byKeys === undefined ? target : args[0]),
  )(call);
}

/** The cost of a call whose rule is another one since 1.38; `undefined` where it is not. */
export function sizedCost(call: CostCall): CallCost | undefined {
  const { overload, target } = call;
  if (ACCESSORS.has(call.function) && target !== undefined) {
    const size = sizeOf(target);
    const escaped = { min: size.min, max: times(size, 3n).max };
    return { cost: ONE, size: call.function === "getEscapedPath" ? escaped : { min: size.min, max: size.max } };
  }
  return BY_OVERLOAD.get(overload)?.(call) ?? sort(call);
}
