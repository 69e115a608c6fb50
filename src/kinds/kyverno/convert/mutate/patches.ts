/** JSON Patches as CEL: places in the object, operations, and lists of them. */
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";

/** A place in the object that is changed. */
export interface Place {
  /** Its JSON pointer, as texts that are joined. */
  readonly pointer: readonly Cel[];
  /** Its value, an error where it is missing. */
  readonly value: Cel;
  /** The same as an optional value. */
  readonly optional: Cel;
  /** Whether it is always there. */
  readonly isSure: boolean;
  /** Whether it is there. */
  readonly exists: Cel;
}

/** A place that is always there. */
export const surePlace = (pointer: readonly Cel[], value: Cel): Place => {
  return { pointer, value, optional: value, isSure: true, exists: cel.TRUE };
};

/** A member of a map. @param key its name, or an expression of it */
export function childOf(place: Place, key: Cel | string): Place {
  const parent = place.isSure ? place.value : place.optional;
  const isName = typeof key === "string";
  const optional = isName ? cel.optionalMember(parent, key) : cel.optionalItem(parent, key);
  const there = isName ? cel.has(place.value, key) : cel.relation("in", key, place.value);
  const value = isName ? cel.member(place.value, key) : cel.item(place.value, key);
  const exists = place.isSure ? there : cel.method(optional, "hasValue");
  const step = isName
    ? [cel.literal(`/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`)]
    : [cel.literal("/"), cel.call("jsonpatch.escapeKey", key)];
  return { pointer: [...place.pointer, ...step], value, optional, isSure: false, exists };
}

/** An item of a list. @param at an index */
export const itemOf = (place: Place, at: Cel, value: Cel): Place =>
  surePlace([...place.pointer, cel.literal("/"), cel.call("string", at)], value);

/** The place, once it is certain to be there. */
export const made = (place: Place): Place => surePlace(place.pointer, place.value);

/** A place's pointer, by which places are compared. @param from the part that it begins with */
export const textOf = ({ pointer }: Place, from = 0): string =>
  pointer
    .slice(from)
    .map(({ text }) => text)
    .join(" ");

/** Operations that are always there, or a list of them. */
export type Piece = { readonly operation: Cel } | { readonly list: Cel };

export type Operation = "add" | "copy" | "move" | "remove" | "replace";

/** One operation; `more`: its value, or where it takes it from. */
export function operation(
  op: Operation,
  pointer: readonly Cel[],
  more: { readonly value?: Cel; readonly from?: readonly Cel[] } = {},
): Piece {
  const fields = [
    `op: ${cel.quoted(op)}`,
    ...(more.from === undefined ? [] : [`from: ${pointerText(more.from)}`]),
    `path: ${pointerText(pointer)}`,
    ...(more.value === undefined ? [] : [`value: ${more.value.text}`]),
  ];
  return { operation: cel.primary(`JSONPatch{${fields.join(", ")}}`) };
}

/** The parts as one text: constants that stand beside one another are joined. */
function pointerText(parts: readonly Cel[]): string {
  const joined: Cel[] = [];
  const isText = (part?: Cel) => part !== undefined && /^"(?:[^"\\]|\\.)*"$/.test(part.text);
  for (const part of parts) {
    const last = joined.at(-1);
    if (last !== undefined && isText(last) && isText(part))
      joined[joined.length - 1] = cel.primary(`${last.text.slice(0, -1)}${part.text.slice(1)}`);
    else joined.push(part);
  }
  return joined.length === 0 ? '""' : cel.plus(...joined).text;
}

/** The pieces as one list. */
export function listOf(pieces: readonly Piece[]): Cel {
  const lists: (Cel | Cel[])[] = [];
  for (const piece of pieces) {
    const last = lists.at(-1);
    if ("list" in piece) lists.push(piece.list);
    else if (Array.isArray(last)) last.push(piece.operation);
    else lists.push([piece.operation]);
  }
  const parts = lists.map((each) => (Array.isArray(each) ? cel.list(each) : each));
  return parts.length === 0 ? cel.list([]) : cel.plus(...parts);
}

/** The pieces where a condition holds, and others where it does not. */
export function when(condition: Cel, pieces: readonly Piece[], otherwise: readonly Piece[] = []): readonly Piece[] {
  if (pieces.length === 0 && otherwise.length === 0) return [];
  if (condition.text === "true") return pieces;
  return [{ list: cel.conditional(condition, listOf(pieces), listOf(otherwise)) }];
}

/** Makes a map or a list where there is none. @param condition where it is needed at all */
export const ensured = (place: Place, value: Cel, condition = cel.TRUE): readonly Piece[] =>
  when(cel.or(place.exists, cel.not(condition)), [], [operation("add", place.pointer, { value })]);

/** The pieces for each item of a list. @param condition on an item */
export function forEach(
  list: Cel,
  { index, item }: { readonly index: string; readonly item: string },
  condition: Cel,
  pieces: readonly Piece[],
  isReversed = false,
): readonly Piece[] {
  if (pieces.length === 0 || condition.text === "false") return [];
  const [only] = pieces;
  const isSingle = pieces.length === 1 && only !== undefined && "operation" in only;
  const made = isSingle ? only.operation : listOf(pieces);
  const conditions = condition.text === "true" ? [] : [condition];
  const each = cel.method(list, "transformList", cel.primary(index), cel.primary(item), ...conditions, made);
  const ordered = isReversed ? cel.method(each, "reverse") : each;
  return [{ list: isSingle ? ordered : cel.method(ordered, "flatten") }];
}
