/**
 * The walk through a pattern, as steps: Kyverno visits the anchors of a map first, in the order of their written keys, then other keys with anchors somewhere inside,
 * backwards, then the other keys. The first step that fails or skips ends the walk.
 */
import { isObject } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { NotConverted, placed } from "../not-converted.js";
import { loopOf, type Scope } from "../scope.js";
import { type LeafUse, leafHolds } from "./leaf.js";
import type { Shape } from "./shape.js";

/** A value that a pattern looks at. */
export interface Value {
  /** An error where the value is missing. */
  readonly plain: Cel;
  /** The value as an optional one; absent where the value is always there. */
  readonly optional?: Cel;
  /** What is known about its type: then it is never null. */
  readonly shape: Shape | undefined;
  /** Its place in messages: keys, and lists whose index is meant. */
  readonly path: readonly string[];
}

/** The loop over a list in which a step stands: the list, the name of an item, and the step's own test of an item. */
export interface StepLoop {
  readonly list: Cel;
  readonly name: string;
  readonly test: Cel;
  /** The path below the item. */
  readonly path: readonly string[];
}

/** A step of the walk. */
export interface Step {
  /** Where it is false, the walk fails. */
  readonly ok: Cel;
  /** Where it is true, and `ok`, the walk ends as skipped. */
  readonly skip?: Cel;
  /** Whether the skip ends a map's anchors in any case: that of a list or map inside does so only where all others skip. */
  readonly isFirm?: boolean;
  readonly path: readonly string[];
  readonly loop?: StepLoop;
}

/** What a walk is made for. */
export interface Walk {
  readonly scope: Scope;
  /** Whether no test may be an error, as it decides whether something else is tested. */
  readonly exact: boolean;
}

/** What a walk through steps amounts to, where a skip and the end count as given. */
export function outcome(steps: readonly Step[], skip: boolean, end: Cel): Cel {
  return steps.reduceRight((rest: Cel, step) => {
    const then =
      step.skip === undefined ? rest : skip ? cel.or(step.skip, rest) : cel.and(cel.not(step.skip), rest);
    return cel.and(step.ok, then);
  }, end);
}

/** Whether the steps fail nowhere; whether they pass without a skip. */
export const fails = (steps: readonly Step[]): Cel => outcome(steps, true, cel.TRUE);
export const passes = (steps: readonly Step[]): Cel => outcome(steps, false, cel.TRUE);

/** Whether the steps, which fail nowhere, skip. */
export const skips = (steps: readonly Step[]): Cel => cel.or(...steps.flatMap(({ skip }) => skip ?? []));

const NEVER = "never";

const ANCHOR = /^([+<=X^])?\((.+)\)$/s;

/** A key with the kind of its anchor: `()`, `<()`, `=()`, `X()`, `^()`; "" for a plain key. */
export function anchorOf(written: string): { readonly anchor: string; readonly key: string } {
  const match = ANCHOR.exec(written.trim());
  if (match === null || match[1] === "+") return { anchor: "", key: written };
  return { anchor: `${match[1] ?? ""}()`, key: match[2] ?? "" };
}

function hasAnchors(pattern: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.some(hasAnchors);
  if (!isObject(pattern)) return false;
  return Object.entries(pattern).some(([key, value]) => anchorOf(key).anchor !== "" || hasAnchors(value));
}

/** In the order of bytes, as Go sorts. */
const inOrder = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** The steps of a pattern of any type against a value. */
export function stepsOf(pattern: unknown, value: Value, walk: Walk, missing: LeafUse["missing"] = "null"): readonly Step[] {
  if (isObject(pattern)) return mapSteps(pattern, value, walk);
  if (Array.isArray(pattern)) return listSteps(pattern, value, walk);
  return [{ ok: leafHolds(pattern, value, { ...walk, missing }), path: value.path }];
}

const optionalOf = ({ plain, optional }: Value): Cel => optional ?? plain;

/** The value, or null where it is missing. */
const orNull = ({ plain, optional }: Value): Cel => (optional === undefined ? plain : cel.orValue(optional, cel.NULL));

/** Whether a member is there: it may be null. */
export function isThere({ plain, optional }: Value): Cel {
  if (optional === undefined) return cel.TRUE;
  const [, parent, key] = /^(.*)(?:\.\?(\w+)|\[\?"[^"]*"\])$/.exec(optional.text) ?? [];
  if (parent !== undefined && !parent.includes("?")) {
    if (key !== undefined) return cel.call("has", cel.primary(`${parent}.${key}`));
    const [name = ""] = /"[^"]*"(?=\]$)/.exec(optional.text) ?? [];
    return cel.relation("in", cel.primary(name), cel.primary(parent));
  }
  return plain.text === optional.text ? cel.TRUE : cel.method(optional, "hasValue");
}

function memberOf(value: Value, key: string): Value {
  const isKnown = value.path.length === 0 && (key === "spec" || key === "metadata") && value.shape?.member(key) !== undefined;
  return {
    plain: cel.member(value.plain, key),
    ...(!isKnown && { optional: cel.optionalMember(optionalOf(value), key) }),
    shape: value.shape?.member(key),
    path: [...value.path, key],
  };
}

/** The value where it is known to be there. */
const there = ({ plain, shape, path }: Value): Value => ({ plain, shape, path });

/** The step that a value is a list or map. */
function typeStep(value: Value, type: "list" | "map", { exact }: Walk): readonly Step[] {
  const { shape, path } = value;
  if (shape?.type !== undefined && shape.type !== type) return [{ ok: cel.FALSE, path }];
  if (shape?.type === undefined) {
    const isSure = value.optional === undefined && !exact && value.path.at(-1) === "*";
    return isSure ? [] : [{ ok: cel.isType(orNull(value), type), path }];
  }
  return value.optional === undefined ? [] : [{ ok: isThere(value), path }];
}

function mapSteps(pattern: object, value: Value, walk: Walk): readonly Step[] {
  const isInner = value.path.includes("*") && value.shape?.type !== undefined && !walk.exact;
  // In a loop one test of a member that must be there says that its parents are.
  if (isInner && value.optional !== undefined && isRequired(pattern)) return membersSteps(pattern, value, walk);
  return [...typeStep(value, "map", walk), ...membersSteps(pattern, there(value), walk)];
}

/** Whether a map without the members would fail. */
function isRequired(pattern: object): boolean {
  const firm = Object.entries(pattern).filter(([key, item]) => {
    if (anchorOf(key).anchor !== "") return false;
    if (isObject(item)) return isRequired(item);
    return typeof item === "string" && /^[^<>=!()|&-]*$/.test(item) && item !== "*";
  });
  return firm.length > 0 && !hasAnchors(pattern);
}

function membersSteps(pattern: object, value: Value, walk: Walk): readonly Step[] {
  const keys = Object.keys(pattern).sort(inOrder);
  const isLabels = /^(labels|annotations)$/.test(value.path.at(-1) ?? "") && value.path.at(-2) === "metadata";
  const entries = keys.map((written) => {
    const item: unknown = pattern[written as keyof typeof pattern];
    return { written, item, ...anchorOf(written) };
  });
  // Below metadata Kyverno looks at texts only.
  const kept = isLabels ? entries.filter(({ item }) => typeof item === "string") : entries;
  const isFirst = ({ anchor }: (typeof kept)[number]): boolean => anchor !== "" && anchor !== "<()";
  const anchors = kept.filter(isFirst);
  const others = kept.filter((entry) => !isFirst(entry));
  const isEarly = ({ anchor, item }: (typeof kept)[number]): boolean => anchor === "<()" || hasAnchors(item);
  const sorted = [...others.filter(isEarly).reverse(), ...others.filter((entry) => !isEarly(entry))];
  const stepsFor = (entry: (typeof kept)[number]): readonly Step[] =>
    placed([entry.written], () => memberSteps(entry.anchor, entry.key, entry.item, value, walk));
  return [...anchorSteps(anchors.map(stepsFor)), ...sorted.flatMap(stepsFor)];
}

/** The steps of a map's anchors: a skip inside of one counts only if all of them skip, and every skip is one of the map then. */
function anchorSteps(anchors: readonly (readonly Step[])[]): readonly Step[] {
  const soft = anchors.filter((steps) => steps.some(({ skip, isFirm }) => skip !== undefined && isFirm !== true));
  const steps = anchors.flatMap((each) =>
    each.map(({ skip, isFirm, ...step }) => (skip === undefined || isFirm !== true ? step : { ...step, skip })),
  );
  if (soft.length === 0 || soft.length < anchors.length) return steps;
  const all = soft.map((each) => skips(each.filter(({ isFirm }) => isFirm !== true)));
  return [...steps, { ok: cel.TRUE, skip: cel.and(...all), path: [] }];
}

function memberSteps(anchor: string, key: string, item: unknown, parent: Value, walk: Walk): readonly Step[] {
  const value = memberOf(parent, key);
  const { path } = value;
  const isMissing = cel.not(isThere(value));
  switch (anchor) {
    case "X()":
      return [{ ok: isMissing, path }];
    case "()":
    case "<()": {
      const inside = passes(stepsOf(item, there(value), { ...walk, exact: true }));
      const holds = anchor === "()" ? cel.and(isThere(value), inside) : cel.or(isMissing, inside);
      return [{ ok: cel.TRUE, skip: cel.not(holds), isFirm: true, path }];
    }
    case "^()":
      return [{ ok: cel.or(isMissing, exists(item, there(value), walk)), path }];
    case "=()":
      return equalitySteps(item, value, walk);
  }
  if (item === "*") return [{ ok: notNull(value), path: parent.path }];
  return stepsOf(item, value, walk);
}

const notNull = (value: Value): Cel =>
  value.shape?.type === undefined ? cel.relation("!=", orNull(value), cel.NULL) : isThere(value);

/** The steps of `=()`: those of its value where it is there. */
function equalitySteps(item: unknown, value: Value, walk: Walk): readonly Step[] {
  const { path, shape, optional } = value;
  const isMissing = cel.not(isThere(value));
  if (!isObject(item) && !Array.isArray(item)) return stepsOf(item, value, walk, "passes");
  const isPlainList = Array.isArray(item) && (shape?.type === "list" || !walk.exact) && optional !== undefined;
  if (isPlainList && Array.isArray(item) && item.length === 1 && isObject(item[0])) {
    const list = { ...value, plain: cel.orValue(optional, cel.list([])) };
    return itemSteps(item[0], list, walk);
  }
  if (isObject(item) && shape?.type === "map" && Object.keys(item).every((key) => /^[=X]\(.+\)$/.test(key)))
    return membersSteps(item, value, walk);
  const steps = stepsOf(item, there(value), walk);
  return steps.map((step) => {
    const { loop, ...rest } = step;
    const ok = cel.or(isMissing, step.ok);
    const skip = step.skip && { skip: cel.and(isThere(value), step.skip) };
    return { ...rest, ok, ...skip, ...(loop && { loop }), path: step.path.length > 0 ? step.path : path };
  });
}

/** Whether for every pattern of a list one item passes it. */
function exists(patterns: unknown, value: Value, walk: Walk): Cel {
  if (!Array.isArray(patterns) || !patterns.every(isObject)) return cel.FALSE;
  const found = patterns.map((pattern, index) =>
    placed([index], () => {
      const { name, inner, item } = itemOf(value, walk);
      return cel.loop(value.plain, "exists", name, passes(stepsOf(pattern, item, inner)));
    }),
  );
  return cel.and(...typeStep(value, "list", walk).map(({ ok }) => ok), ...found);
}

function itemOf(list: Value, walk: Walk): { readonly name: string; readonly inner: Walk; readonly item: Value } {
  const { name, inner } = loopOf(walk.scope, singular(list.path.filter((part) => part !== "*").at(-1) ?? "item"));
  const item = { plain: cel.primary(name), shape: list.shape?.items, path: [...list.path, "*"] };
  return { name, inner: { ...walk, scope: inner }, item };
}

/** The name of a list's item. */
function singular(key: string): string {
  const name = key.replace(/[^A-Za-z0-9]/g, "").replace(/^\d+/, "");
  if (/ies$/.test(name)) return name.replace(/ies$/, "y");
  if (/(s|x|ch)es$/.test(name)) return name.replace(/es$/, "");
  if (/[^s]s$/.test(name)) return name.replace(/s$/, "");
  return "item";
}

function listSteps(pattern: readonly unknown[], value: Value, walk: Walk): readonly Step[] {
  const { path } = value;
  if (pattern.length === 0) return [{ ok: cel.FALSE, path }];
  const [first] = pattern;
  const type = typeStep(value, "list", walk);
  const list = there(value);
  if (Array.isArray(first)) return [...type, ...positions(pattern, list, walk)];
  // Of several entries Kyverno looks at the first one only.
  if (isObject(first)) return [...type, ...placed([0], () => itemSteps(first, list, walk))];
  const { name, inner, item } = itemOf(list, walk);
  const test = placed([0], () => leafHolds(first, item, { ...inner, missing: "null", isItem: true }));
  return [...type, { ok: cel.loop(list.plain, "all", name, test), path }];
}

/** The steps of a pattern that every item of a list must pass. */
function itemSteps(pattern: object, list: Value, walk: Walk): readonly Step[] {
  const { name, inner, item } = itemOf(list, walk);
  const steps = stepsOf(pattern, item, inner);
  const before: Cel[] = [];
  const result: Step[] = [];
  for (const step of steps) {
    const test = cel.or(...before, step.ok);
    if (step.ok.text !== "true")
      result.push({
        ok: cel.loop(list.plain, "all", name, test),
        path: list.path,
        loop: { list: list.plain, name, test, path: step.path.slice(list.path.length + 1) },
      });
    if (step.skip !== undefined) before.push(step.skip);
  }
  if (before.length === 0) return result;
  const all = cel.loop(list.plain, "all", name, cel.or(...before));
  const some = cel.relation(">", cel.call("size", list.plain), cel.literal(0));
  return [...result, { ok: cel.TRUE, skip: cel.and(some, all), path: list.path }];
}

/** Lists in lists are compared by position. */
function positions(pattern: readonly unknown[], list: Value, walk: Walk): readonly Step[] {
  const size = cel.relation(">=", cel.call("size", list.plain), cel.literal(pattern.length));
  const steps = pattern.flatMap((each, index) => {
    const item = { plain: cel.item(list.plain, index), shape: list.shape?.items, path: [...list.path, String(index)] };
    return placed([index], () => stepsOf(each, item, walk));
  });
  if (steps.some(({ skip }) => skip !== undefined))
    throw new NotConverted([], "anchors in lists of lists are not converted: write the condition in CEL");
  return [{ ok: size, path: list.path }, ...steps];
}
export { NEVER };
