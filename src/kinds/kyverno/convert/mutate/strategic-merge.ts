/** `patchStrategicMerge`: a merge as Kyverno makes it by kustomize, as JSON Patches. */
import { isObject, type JsonObject } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { hasVariables, template } from "../jmespath/template.js";
import { NotConverted, placed } from "../not-converted.js";
import { patternHolds } from "../pattern/pattern-rule.js";
import { loopOf, type Scope } from "../scope.js";
import { childOf, ensured, forEach, itemOf, made, operation, type Piece, type Place, textOf, when } from "./patches.js";

/** Lists of built-in kinds by the keys by which their items are merged; other lists are replaced. */
const MERGED_BY: Readonly<Record<string, string>> = {
  name: "containers initContainers ephemeralContainers volumes env imagePullSecrets secrets webhooks",
  mountPath: "volumeMounts",
  devicePath: "volumeDevices",
  ip: "hostAliases",
  topologyKey: "topologySpreadConstraints",
  containerPort: "ports",
  port: "ports",
};

const mergeKeyOf = (list: string, value: readonly JsonObject[]): string | undefined =>
  Object.keys(MERGED_BY).find(
    (key) => MERGED_BY[key]?.split(" ").includes(list) && (list !== "ports" || Object.hasOwn(value[0] ?? {}, key)),
  );

/** The circumstances of a merge. */
export interface MergeContext {
  readonly scope: Scope;
  /** Whether the object is of a built-in kind. */
  readonly isBuiltin: boolean;
  /** Whether it is a Pod or a controller of Pods: it has a spec then. */
  readonly isWorkload: boolean;
  /** Whether the merge is repeated for the elements of a list: the order of its items stays then. */
  readonly isLoop: boolean;
  /** The element of the loop, where it loops over a list of the object. */
  readonly element?: Place | undefined;
}

interface Key {
  readonly name: string;
  readonly anchor: "" | "()" | "+()" | "<()";
}

function keyOf(written: string): Key {
  const [, anchor, name] = /^([+<^=X]?)\((.+)\)$/s.exec(written) ?? [];
  if (name === undefined || anchor === undefined) return { name: written, anchor: "" };
  if (anchor === "" || anchor === "+" || anchor === "<") return { name, anchor: `${anchor}()` };
  throw new NotConverted([written], "a merge knows the anchors (key), <(key) and +(key)");
}

const entriesOf = (pattern: JsonObject): readonly (readonly [string, Key, unknown])[] =>
  Object.entries(pattern)
    .sort(([a], [b]) => Number(a > b) - Number(a < b))
    .map(([written, value]) => {
      if (written.startsWith("$")) throw new NotConverted([written], `${written} is not converted: write a JSON patch`);
      if (Object.hasOwn(pattern, `+(${written})`))
        throw new NotConverted([written], `of ${written} and +(${written}) only one can be there: Kyverno fails`);
      return [written, keyOf(written), value];
    });

function hasAnchor(value: unknown, isWanted: (key: Key) => boolean): boolean {
  if (Array.isArray(value)) return value.some((item) => hasAnchor(item, isWanted));
  return isObject(value) && entriesOf(value).some(([, key, inner]) => isWanted(key) || hasAnchor(inner, isWanted));
}

const isAny = ({ anchor }: Key) => anchor !== "";
const isGlobal = ({ anchor }: Key) => anchor === "<()";
const isListOfMaps = (value: unknown): value is readonly JsonObject[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject);

const keyIn = (name: string, { scope }: MergeContext): Cel | string =>
  hasVariables(name) ? template(name, scope).cel : name;

/** Whether the conditions of a patch hold: those of lists' items count where they are global. */
export function mergeConditions(pattern: JsonObject, place: Place, context: MergeContext): Cel {
  const all = entriesOf(pattern).map(([written, { name, anchor }, value]) =>
    placed([written], () => {
      const child = sure(childOf(place, keyIn(name, context)), place, name, context);
      if (anchor === "+()") return cel.TRUE;
      if (anchor !== "") return cel.and(child.exists, matches(child.value, value, context));
      if (isObject(value)) return mergeConditions(value, child, context);
      if (!isListOfMaps(value)) return cel.TRUE;
      const globals = value.filter((item) => hasAnchor(item, isGlobal));
      return cel.and(...globals.map((item) => anyItem(item, child, context)));
    }),
  );
  return cel.and(...all);
}

function anyItem(pattern: JsonObject, list: Place, context: MergeContext): Cel {
  const { names, place, inside } = itemLoop(list, context);
  return cel.loop(itemsOf(list), "exists", names.item, mergeConditions(pattern, place, inside));
}

const itemsOf = (list: Place): Cel => (list.isSure ? list.value : cel.orValue(list.optional, cel.list([])));

/** Whether a value is as a condition wants it. Kyverno compares scalars as texts. */
function matches(value: Cel, pattern: unknown, { scope }: MergeContext): Cel {
  if (isObject(pattern) && Object.keys(pattern).length === 0) return cel.isType(value, "map");
  if (Array.isArray(pattern) || isObject(pattern))
    throw new NotConverted([], "a condition on a map or a list is not converted: write conditions on its fields");
  if (typeof pattern !== "string") return cel.equal(value, cel.literal(pattern));
  if (hasVariables(pattern)) return cel.equal(value, template(pattern, scope).cel);
  if (pattern === "*") return cel.TRUE;
  return patternHolds(pattern, value, scope).ok;
}

/**
 * The patches of a merge, without its conditions.
 * @param probe where `+(key)` looks whether the key is there
 */
export function mergePieces(pattern: JsonObject, place: Place, context: MergeContext, probe = place): readonly Piece[] {
  return entriesOf(pattern).flatMap(([written, { name, anchor }, value]) =>
    placed([written], () => {
      if (anchor === "()" || anchor === "<()") return [];
      const key = keyIn(name, context);
      const [child, probed] = [childOf(place, key), childOf(probe, key)];
      if (anchor === "+()") return when(probed.exists, [], set(child, value, context));
      if (value === null) return when(child.exists, [operation("remove", child.pointer)]);
      if (isEmpty(value)) return [];
      if (isObject(value)) {
        const map = sure(child, place, name, context);
        const isOwn = probed.value.text === map.value.text;
        const needed = ensured(map, cel.primary("{}"), isOwn ? cel.TRUE : remains(value, probed, context));
        return [...needed, ...mergePieces(value, map, context, probed)];
      }
      if (isListOfMaps(value)) {
        const mergeKey = context.isBuiltin ? mergeKeyOf(name, value) : undefined;
        if (hasAnchor(value, isAny) && mergeKey !== "name")
          throw new NotConverted([], "anchors in a list are converted where Kyverno merges its items by name");
        if (mergeKey !== undefined)
          return elementPieces(value, child, context) ?? itemPieces(value, child, mergeKey, context);
      }
      if (name === "finalizers") throw new NotConverted([], "finalizers are not converted: write a JSON patch");
      return set(child, value, context);
    }),
  );
}

/** Puts a value at a place. A variable that is null takes away what is there. */
function set(place: Place, value: unknown, { scope }: MergeContext): readonly Piece[] {
  const { cel: text, nullable, optional } = template(plainOf(value), scope);
  const added = [operation("add", place.pointer, { value: text })];
  if (!nullable || optional !== undefined || value === null) return added;
  return when(cel.equal(text, cel.NULL), when(place.exists, [operation("remove", place.pointer)]), added);
}

/** A value without its `+(key)` anchors, which hold where there is nothing yet; and without empty maps, which Kyverno drops. */
function plainOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !isEmpty(item)).map(plainOf);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    entriesOf(value).flatMap(([written, { name, anchor }, inner]) => {
      if (anchor === "" || anchor === "+()") return isEmpty(inner) ? [] : [[name, plainOf(inner)]];
      throw new NotConverted([written], "a condition below +(key) is not converted");
    }),
  );
}

/** Whether nothing but conditions and empty maps is in a map, or items with global conditions in a list. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((item) => hasAnchor(item, isGlobal));
  if (!isObject(value)) return false;
  return entriesOf(value).every(([, { anchor }, inner]) => anchor === "()" || anchor === "<()" || isEmpty(inner));
}

/** Whether anything of a map is left where keys are there already that `+(key)` would add. */
const remains = (value: JsonObject, probe: Place, context: MergeContext): Cel =>
  cel.or(
    ...entriesOf(value).map(([, { name, anchor }, inner]) => {
      const child = childOf(probe, keyIn(name, context));
      if (anchor === "+()") return cel.not(child.exists);
      if (anchor !== "" || isEmpty(inner)) return cel.FALSE;
      return isObject(inner) ? remains(inner, child, context) : cel.TRUE;
    }),
  );

/** Marks members that every object has, or every Pod and controller, or every item that is merged by its name. */
function sure(child: Place, { pointer }: Place, name: string, { isWorkload }: MergeContext): Place {
  const isMetadata = name === "metadata" && pointer.length === 0;
  const isName = name === "name" && pointer.length > 1;
  const isOfPod = isWorkload && ["spec", "template", "jobTemplate", "containers"].includes(name);
  return isMetadata || isName || isOfPod ? made(child) : child;
}

function itemPieces(items: readonly JsonObject[], list: Place, key: string, context: MergeContext): readonly Piece[] {
  const anchored = items.filter((item) => hasAnchor(item, isAny));
  const plain = items.filter((item) => !anchored.includes(item));
  return [
    ...anchored.filter((item) => !hasAnchor(item, isGlobal)).flatMap((item) => anchoredPieces(item, list, context)),
    ...(plain.length > 0 ? plainPieces(plain, list, key, context) : []),
  ];
}

/** An item with anchors is merged into every item that fulfils its conditions; its own name does not count. */
function anchoredPieces(pattern: JsonObject, list: Place, context: MergeContext): readonly Piece[] {
  const { names, item, place, inside } = itemLoop(list, context);
  const holds = mergeConditions(pattern, place, inside);
  const { name: _, ...rest } = pattern;
  for (const [written, , value] of entriesOf(rest))
    if (Array.isArray(value) && hasAnchor(value, isAny))
      throw new NotConverted([written], "anchors in a list inside of a list are not converted");
  // Kyverno looks at the first item only to see what `+(key)` adds to all of them.
  const items = itemsOf(list);
  const top = cel.item(items, 0);
  const isSame = Object.hasOwn(pattern, "(name)") && holds.text !== "true";
  const first = holds.text === "true" ? top : isSame ? item : cel.item(cel.loop(items, "filter", names.item, holds), 0);
  const part = (isOwn: boolean) =>
    Object.fromEntries(Object.entries(rest).filter(([written]) => (keyOf(written).anchor === "+()") === isOwn));
  const probe = (value: Cel) => itemOf(list, cel.literal(0), value);
  const pieces = [
    ...mergePieces(part(true), place, inside, probe(top)),
    ...mergePieces(part(false), place, inside, probe(first)),
  ];
  const isMoved = holds.text !== "true" && !context.isLoop && pieces.length > 0;
  if (!isMoved) return forEach(items, names, holds, pieces);
  const before = cel.method(items, "slice", cel.literal(0), cel.primary(names.index));
  const count = cel.call("size", cel.loop(before, "filter", names.item, holds));
  const to = [...list.pointer, cel.literal("/"), cel.call("string", count)];
  return forEach(items, names, holds, [...pieces, operation("move", to, { from: place.pointer })]);
}

/** Items without anchors are merged into those of their keys, or put in front. An only item comes first in any case. */
function plainPieces(items: readonly JsonObject[], list: Place, key: string, context: MergeContext): readonly Piece[] {
  const { names, item, place, inside } = itemLoop(list, context);
  const front = [...list.pointer, cel.literal("/0")];
  const isMoved = items.length === 1 && !context.isLoop;
  const merges: Piece[] = [];
  const inserts: Piece[] = [];
  for (const [index, pattern] of items.entries()) {
    const { [key]: value, ...rest } = pattern;
    if (value === undefined) throw new NotConverted([index], `an item needs ${key}, by which Kyverno merges this list`);
    const isIt = cel.equal(cel.member(item, key), template(value, inside.scope).cel);
    const moves = isMoved ? [operation("move", front, { from: place.pointer })] : [];
    merges.push(...forEach(list.value, names, isIt, [...mergePieces(rest, place, inside), ...moves]));
    const added = operation("add", front, { value: template(plainOf(pattern), context.scope).cel });
    inserts.unshift(...when(cel.loop(list.value, "exists", names.item, isIt), [], [added]));
  }
  return when(list.exists, [...merges, ...inserts], set(list, items, context));
}

/** The item, where the list is that of the loop and the only item is the loop's element. */
function elementPieces(items: readonly JsonObject[], list: Place, context: MergeContext): readonly Piece[] | undefined {
  const [pattern = {}, ...others] = items;
  const { element, scope } = context;
  const { name = pattern["(name)"], "(name)": _, ...rest } = pattern;
  const isSame = element !== undefined && textOf(element) === [textOf(list), textOf(element, -2)].join(" ");
  if (!isSame || others.length > 0 || hasAnchor(rest, isAny) || typeof name !== "string") return undefined;
  return template(name, scope).cel.text === `${element.value.text}.name`
    ? mergePieces(rest, element, { ...context, isLoop: false })
    : undefined;
}

/** A loop over the items of a list. */
function itemLoop(list: Place, context: MergeContext) {
  const { name, inner } = loopOf(context.scope, "item");
  const index = loopOf(context.scope, "i").name;
  const item = cel.primary(name);
  const place = itemOf(list, cel.primary(index), item);
  return { names: { index, item: name }, item, place, inside: { ...context, scope: inner, isLoop: false } };
}
