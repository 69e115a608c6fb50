/**
 * The walk through a pattern, as steps: Kyverno visits the anchors of a map first, in the order of their written keys, then other keys with anchors somewhere inside,
 * backwards, then the other keys. The first step that fails or skips ends the walk.
 */
import { isObject, type JsonObject } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { hasVariables } from "../jmespath/template.js";
import { NotConverted, placed } from "../not-converted.js";
import { loopOf, type Scope } from "../scope.js";
import { isThere, type LeafUse, leafHolds, type Value } from "./leaf.js";
import { hasWildcard, matching, testOf, wildcardMatches } from "./scalar.js";

/** The loop over a list in which a step stands: the list, the name of an item, and the step's own test of an item. */
export interface StepLoop {
  readonly list: Cel;
  readonly name: string;
  readonly test: Cel;
  /** The step's path and parents below the item, and its own loop. */
  readonly path: readonly string[];
  readonly parents?: readonly Parent[];
  readonly inner?: StepLoop;
}

/** A map that a step is about, too: where it is missing, the walk fails there. */
export type Parent = { readonly presence: Cel; readonly path: readonly string[] };

/** A step of the walk. */
export interface Step {
  /** Where it is false, the walk fails, */
  readonly ok: Cel;
  /** unless this is true. */
  readonly unless?: Cel;
  /** Where it is true, and `ok`, the walk ends as skipped. */
  readonly skip?: Cel;
  /** Whether the skip ends a map's anchors in any case: that of a list or map inside does so only where all others skip. */
  readonly isFirm?: boolean;
  readonly path: readonly string[];
  readonly parents?: readonly Parent[];
  /** The last key of the path, where it is one of several. */
  readonly key?: Cel;
  readonly loop?: StepLoop;
}

/** The purpose of a walk. */
export interface Walk {
  readonly scope: Scope;
  /** Whether no test may be an error, as it decides whether something else is tested. */
  readonly exact: boolean;
}

const okOf = ({ ok, unless = cel.FALSE }: Step): Cel => cel.or(unless, ok);

/** Most characters of an expression: conditions in lists in lists are repeated at every level. */
const MAX_LENGTH = 50_000;

function limited(expression: Cel): Cel {
  if (expression.text.length <= MAX_LENGTH) return expression;
  throw new NotConverted([], `this would be an expression of more than ${MAX_LENGTH} characters: split the rule`);
}

/** The result of a walk through steps, where a skip and the end count as given. */
export function outcome(steps: readonly Step[], skip: boolean, end: Cel): Cel {
  return steps.reduceRight((rest: Cel, step) => {
    const then = step.skip === undefined ? rest : skip ? cel.or(step.skip, rest) : cel.and(cel.not(step.skip), rest);
    return limited(cel.and(okOf(step), then));
  }, end);
}

/** Whether the steps pass without a skip. */
export const passes = (steps: readonly Step[]): Cel => outcome(steps, false, cel.TRUE);

const ANCHOR = /^([+<=X^])?\((.+)\)$/s;

/** A key of a pattern's map: the kind of its anchor is `()`, `<()`, `=()`, `X()`, `^()`, or "" for a plain key. */
interface Entry {
  readonly written: string;
  readonly anchor: string;
  readonly key: string;
  readonly item: unknown;
}

function anchorOf(written: string): Pick<Entry, "anchor" | "key"> {
  if (hasVariables(written))
    throw new NotConverted([written], "a key with variables is not converted: write the condition in CEL");
  const match = ANCHOR.exec(written.trim());
  if (match?.[1] === "+") throw new NotConverted([written], "Kyverno refuses +(…) in what a rule validates");
  return match === null ? { anchor: "", key: written } : { anchor: `${match[1] ?? ""}()`, key: match[2] ?? "" };
}

function hasAnchors(pattern: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.some(hasAnchors);
  if (!isObject(pattern)) return false;
  return Object.entries(pattern).some(([key, value]) => ANCHOR.test(key.trim()) || hasAnchors(value));
}

/** In the order of bytes, as Go sorts. */
const inOrder = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** The steps of a pattern of any type against a value. */
export function stepsOf(pattern: unknown, value: Value, walk: Walk, missing?: LeafUse["missing"]): readonly Step[] {
  if (isObject(pattern)) return mapSteps(pattern, value, walk);
  if (Array.isArray(pattern)) return listSteps(pattern, value, walk);
  return [{ ok: leafHolds(pattern, value, { ...walk, missing }), path: value.path }];
}

/** The value, or null where it is missing. */
const orNull = ({ plain, optional }: Value): Cel => (optional === undefined ? plain : cel.orValue(optional, cel.NULL));

function memberOf(value: Value, key: string, isAnchored: boolean, { scope }: Walk): Value {
  const [path, shape] = [[...value.path, key], value.shape?.member(key)];
  const plain = cel.member(value.plain, key);
  const isPod = scope.roots.pod !== undefined;
  const always = isPod ? ["spec", "spec.containers"] : isAnchored ? ["metadata"] : ["metadata", "spec"];
  if (shape !== undefined && always.includes(path.join("."))) return { plain, shape, path };
  const optional = cel.optionalMember(value.optional ?? value.plain, key);
  const presence = value.optional === undefined ? cel.has(value.plain, key) : cel.method(optional, "hasValue");
  return { plain, optional, presence, shape, path };
}

/** The value where it is known to be there. */
const there = ({ plain, shape, path }: Value): Value => ({ plain, shape, path });

/** The step that a value is a list or map. @param isCovered whether a step behind it fails for values of other types */
function typeStep(value: Value, type: "list" | "map", { exact }: Walk, isCovered = false): readonly Step[] {
  const { shape, path } = value;
  if (shape?.type !== undefined && shape.type !== type) return [{ ok: cel.FALSE, path }];
  const isKnown = shape?.type !== undefined || (isCovered && !exact);
  if (!isKnown) return [{ ok: cel.isType(orNull(value), type), path }];
  return value.optional === undefined ? [] : [{ ok: isThere(value), path }];
}

function mapSteps(pattern: JsonObject, value: Value, walk: Walk): readonly Step[] {
  const isRequired = needsMember(pattern);
  // In a loop one test of a member that must be there says that its parents are; and so it does of a template's metadata.
  const isInner = value.path.includes("*") || value.path.join() === "metadata";
  const isShort = isInner && !walk.exact && value.optional !== undefined && isRequired;
  if (isShort) {
    const parent = { presence: isThere(value), path: value.path };
    return memberSteps(pattern, value, walk).map((step) => ({ ...step, parents: [parent, ...(step.parents ?? [])] }));
  }
  return [...typeStep(value, "map", walk, isRequired), ...memberSteps(pattern, there(value), walk)];
}

/** Whether every value but a map with certain members fails the first step of a pattern, which no skip comes before. */
function needsMember(pattern: JsonObject): boolean {
  return (
    !hasAnchors(pattern) &&
    Object.values(pattern).some((item) => {
      if (isObject(item)) return needsMember(item);
      return Array.isArray(item) || (!hasVariables(item) && !testOf(item, { type: undefined, exact: true }).nullPasses);
    })
  );
}

/** The steps of a map's keys. */
export function memberSteps(pattern: JsonObject, value: Value, walk: Walk): readonly Step[] {
  const keys = Object.keys(pattern).sort(inOrder);
  const entries = keys.map((written): Entry => ({ written, item: pattern[written], ...anchorOf(written) }));
  // Below metadata Kyverno looks at texts only.
  const [parent, own] = value.path.slice(-2);
  const isLabels = parent === "metadata" && (own === "labels" || own === "annotations");
  const kept = isLabels ? entries.filter(({ item }) => typeof item === "string") : entries;
  const isFirst = ({ anchor }: Entry): boolean => anchor !== "" && anchor !== "<()";
  const isEarly = ({ anchor, item }: Entry): boolean => anchor === "<()" || hasAnchors(item);
  const others = kept.filter((entry) => !isFirst(entry));
  const sorted = [...others.filter(isEarly).reverse(), ...others.filter((entry) => !isEarly(entry))];
  const stepsFor = (entry: Entry): readonly Step[] =>
    placed([entry.written], () =>
      isLabels && hasWildcard(entry.key) ? wildcardSteps(entry, kept, value) : entrySteps(entry, value, walk),
    );
  return [...anchorSteps(kept.filter(isFirst).map(stepsFor)), ...sorted.flatMap(stepsFor)];
}

/** The steps of a key with wildcards, which stands for one label that matches: of several Kyverno takes any, so that the value can't matter. */
function wildcardSteps(entry: Entry, entries: readonly Entry[], labels: Value): readonly Step[] {
  const { anchor, key, item } = entry;
  const others = entries.filter((other) => other !== entry && other.anchor === anchor);
  const isShared = others.some((other) => hasWildcard(other.key) || wildcardMatches(key, other.key));
  if (isShared || (item !== "*" && anchor !== "X()") || anchor === "^()")
    throw new NotConverted(
      [],
      "a key with wildcards may match several labels, of which Kyverno takes any: write out the key, or a condition in CEL that says which count",
    );
  const matches = matching(cel.primary("key"), key);
  const { path, plain, optional } = labels;
  const all = optional === undefined ? plain : cel.orValue(optional, cel.map([]));
  const some = cel.loop(all, "exists", "key", matches);
  if (anchor === "X()")
    return [{ ok: cel.not(some), path, key: cel.item(cel.loop(plain, "filter", "key", matches), 0) }];
  if (anchor === "()") return [{ ok: cel.TRUE, skip: cel.not(some), isFirm: true, path }];
  return anchor === "" ? [{ ok: some, path }] : [];
}

/** The steps of a map's anchors: a skip of a list or map inside of one counts only if all of them skip. */
function anchorSteps(anchors: readonly (readonly Step[])[]): readonly Step[] {
  const result: Step[] = [];
  const soft = anchors.map((steps) => {
    const before: Cel[] = [];
    let [firm, inside] = [cel.FALSE, cel.FALSE];
    for (const { skip, isFirm, unless = cel.FALSE, ...step } of steps) {
      if (step.ok.text !== "true") result.push({ ...step, unless: cel.or(...before, unless) });
      if (skip === undefined) continue;
      before.push(skip);
      if (isFirm === true) firm = cel.or(firm, cel.and(cel.not(inside), skip));
      else inside = cel.or(inside, cel.and(cel.not(firm), skip));
    }
    if (firm.text !== "false") result.push({ ok: cel.TRUE, skip: firm, path: [] });
    return inside;
  });
  const skip = soft.length === 0 ? cel.FALSE : cel.and(...soft);
  return skip.text === "false" ? result : [...result, { ok: cel.TRUE, skip, path: [] }];
}

function entrySteps({ anchor, key, item }: Entry, parent: Value, walk: Walk): readonly Step[] {
  const value = memberOf(parent, key, anchor !== "", walk);
  const { path } = value;
  const isMissing = cel.not(isThere(value));
  switch (anchor) {
    case "X()":
      return [{ ok: isMissing, path }];
    case "()":
    case "<()": {
      const missing = anchor === "()" ? "fails" : "passes";
      const isScalar = !isObject(item) && !Array.isArray(item) && !hasVariables(item);
      const isShort = isScalar && value.shape?.type !== undefined;
      const inside = passes(stepsOf(item, isShort ? value : there(value), { ...walk, exact: true }, missing));
      const holds = anchor === "()" ? cel.and(isThere(value), inside) : cel.or(isMissing, inside);
      return [{ ok: cel.TRUE, skip: cel.not(isShort ? inside : holds), isFirm: true, path }];
    }
    case "^()":
      return [{ ok: cel.or(isMissing, exists(item, there(value), walk)), path }];
    case "=()":
      return equalitySteps(item, value, walk);
  }
  if (item !== "*") return stepsOf(item, value, walk);
  const isTyped = value.shape?.type !== undefined;
  return [{ ok: isTyped ? isThere(value) : cel.relation("!=", orNull(value), cel.NULL), path: parent.path }];
}

/** The steps of `=()`: those of its value where it is there. */
function equalitySteps(item: unknown, value: Value, walk: Walk): readonly Step[] {
  const { shape, optional } = value;
  const isMissing = cel.not(isThere(value));
  if (!isObject(item) && !Array.isArray(item)) return stepsOf(item, value, walk, "passes");
  if (Array.isArray(item) && optional !== undefined) {
    const [first]: readonly unknown[] = item;
    const list = { ...there(value), plain: cel.orValue(optional, cel.list([])) };
    if (isObject(first) && (shape?.type === "list" || !walk.exact)) return itemSteps(first, list, walk);
    if (shape?.type === "list" && first !== undefined && !Array.isArray(first)) return listSteps(item, list, walk);
  }
  if (isObject(item) && shape?.type === "map" && Object.keys(item).every((key) => /^[=X]\(.+\)$/.test(key)))
    return memberSteps(item, value, walk);
  return stepsOf(item, there(value), walk).map(({ skip, unless = cel.FALSE, ...step }) => ({
    ...step,
    unless: cel.or(isMissing, unless),
    ...(skip && { skip: cel.and(isThere(value), skip) }),
  }));
}

/** Whether for every pattern of a list one item passes it. */
function exists(patterns: unknown, value: Value, walk: Walk): Cel {
  if (!Array.isArray(patterns) || patterns.length === 0)
    throw new NotConverted([], "Kyverno refuses ^(…) without a list");
  if (!patterns.every(isObject)) return cel.FALSE;
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

/** Names that mean something in CEL or in a policy. */
const TAKEN =
  /^(object|request|variable|resource|namespace|function|type|string|list|map|int|double|bool|loop|key|ok)$/;

/** The name of a list's item. */
function singular(key: string): string {
  const [, name = ""] = /^([A-Za-z]\w*[^s])s$/.exec(key) ?? [];
  const single = name.replace(/ie$/, "y").replace(/(ss|x|ch)e$/, "$1");
  return single === "" || TAKEN.test(single) ? "item" : single;
}

function listSteps(pattern: readonly unknown[], value: Value, walk: Walk): readonly Step[] {
  const { path } = value;
  if (pattern.length === 0) return [{ ok: cel.FALSE, path }];
  // Of several entries Kyverno looks at the first one only.
  const [first] = pattern;
  const type = typeStep(value, "list", walk);
  const list = there(value);
  return placed([0], () => {
    if (Array.isArray(first)) return [...type, ...positions(pattern, list, walk)];
    if (isObject(first)) return [...type, ...itemSteps(first, list, walk)];
    const { name, inner, item } = itemOf(list, walk);
    const every = cel.loop(list.plain, "all", name, leafHolds(first, item, { ...inner, isItem: true }));
    return [{ ok: cel.and(...type.map(({ ok }) => ok), every), path }];
  });
}

/** The steps of a pattern that every item of a list must pass. */
function itemSteps(pattern: object, list: Value, walk: Walk): readonly Step[] {
  const { name, inner, item } = itemOf(list, walk);
  const steps = stepsOf(pattern, item, inner);
  const before: Cel[] = [];
  const result: Step[] = [];
  const below = (path: readonly string[]): readonly string[] => path.slice(item.path.length);
  for (const step of steps) {
    if (step.ok.text !== "true") {
      const test = limited(cel.or(...before, okOf(step)));
      const parents = (step.parents ?? []).map(({ presence, path }) => ({ presence, path: below(path) }));
      const loop = {
        list: list.plain,
        name,
        test,
        path: below(step.path),
        parents,
        ...(step.loop && { inner: step.loop }),
      };
      result.push({ ok: cel.loop(list.plain, "all", name, test), path: list.path, loop });
    }
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
    return stepsOf(each, item, walk);
  });
  if (steps.some(({ skip }) => skip !== undefined))
    throw new NotConverted([], "anchors in lists of lists are not converted: write the condition in CEL");
  return [{ ok: size, path: list.path }, ...steps];
}
