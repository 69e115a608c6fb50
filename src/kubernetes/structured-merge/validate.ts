/** Whether a value fits its type: for patches and the objects that they are merged into (spec mutating-admission-policy.md 7). */
import { PatchMemory, REMEMBERED_SIZE } from "../patch-memory.js";
import {
  type ItemIdentity,
  itemIdentity,
  itemPath,
  itemProblem,
  PATCH_ITEMS_MAX,
  type PatchItems,
} from "./list-items.js";
import { LIST, type ListType, MAP, type MapType, SCALAR, type Scalar, type TypeReference } from "./schema.js";
import { formOf, goSyntax, goText, goType, isNumeric, type Members } from "./value.js";

/** An error at a place. */
interface Mistake {
  /** The path; extended at its front while the walk returns. */
  path: string;
  readonly message: string;
}

/**
 * Most mistakes in one list or object, after which the value is not searched further: more would make a text of many megabytes. It is
 * refused anyway.
 */
const MISTAKES_MAX = 1000;

/**
 * The errors of a value as one text; `undefined` when it fits. Of several members that an object may not have, one is reported.
 * @param items records the items of a patch, whose lists may have no repeated ones; for an object, where they may, the kept facts about its parts
 */
export function typeProblems(
  type: TypeReference,
  value: unknown,
  items?: PatchItems | PatchMemory,
): string | undefined {
  const mistakes =
    items instanceof PatchMemory ? check(type, value, undefined, items) : check(type, value, items, undefined);
  if (mistakes === undefined) return undefined;
  const texts = mistakes.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return texts.length === 1 ? texts[0] : `errors:\n  ${texts.join("\n  ")}`;
}

/** The one error that the API server does not have. */
const TOO_MANY = `more than ${PATCH_ITEMS_MAX} items of lists and maps in one patch`;

/** The mistakes; `undefined` for none: an array for every value would cost more than the walk. */
type Mistakes = Mistake[] | undefined;

function check(
  reference: TypeReference,
  value: unknown,
  items: PatchItems | undefined,
  memory: PatchMemory | undefined,
): Mistakes {
  const type = reference.resolve();
  if (type === undefined) return mistake(`schema error: no type found matching: ${reference.name}`);
  const { map, list, scalar } = type;
  const form = formOf(value);
  const forms = type.forms & form || type.forms;
  if (map !== undefined && (forms & MAP) !== 0) return checkMap(map, value, form, items, memory);
  if (scalar !== undefined && (forms & SCALAR) !== 0) return checkScalar(scalar, value);
  return list === undefined ? undefined : checkList(list, value, form, items, memory);
}

function checkScalar(scalar: Scalar, value: unknown): Mistakes {
  if (value === null) return undefined;
  switch (scalar) {
    case "numeric":
      return isNumeric(value) ? undefined : mistake(`expected numeric (int or float), got ${goType(value)}`);
    case "string":
      if (typeof value === "string") return undefined;
      return mistake(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
    case "boolean":
      return typeof value === "boolean" ? undefined : mistake(`expected boolean, got ${shown(value)}`);
    case "untyped":
      return formOf(value) === SCALAR ? undefined : mistake(`expected any scalar, got ${shown(value)}`);
  }
}

function checkMap(
  map: MapType,
  value: unknown,
  form: number,
  items: PatchItems | undefined,
  memory: PatchMemory | undefined,
): Mistakes {
  if (form !== MAP) return value === null ? undefined : mistake(`expected map, got ${shown(value)}`);
  const members = value as Members;
  if (memory?.fitting.get(members) === map) return undefined;
  const names = Object.keys(members);
  if (items !== undefined && map.element !== undefined && !items.admits(names.length)) return mistake(TOO_MANY);
  let mistakes: Mistakes;
  for (const name of names) {
    const type = map.member(name);
    // The walk through this object ends here, as the API server's does.
    if (type === undefined) return add(mistakes, mistake("field not declared in schema"), `.${name}`);
    const inner = check(type, members[name], items, memory);
    if (inner === undefined) continue;
    mistakes = add(mistakes, inner, `.${name}`);
    if (mistakes.length >= MISTAKES_MAX) break;
  }
  if (mistakes === undefined && names.length >= REMEMBERED_SIZE) memory?.fitting.set(members, map);
  return mistakes;
}

function checkList(
  list: ListType,
  value: unknown,
  form: number,
  items: PatchItems | undefined,
  memory: PatchMemory | undefined,
): Mistakes {
  if (form !== LIST) return value === null ? undefined : mistake(`expected list, got ${shown(value)}`);
  const values = value as readonly unknown[];
  const fitting = values.length < REMEMBERED_SIZE ? undefined : memory?.fitting;
  if (fitting?.get(values) === list) return undefined;
  if (items !== undefined && !items.admits(values.length)) return mistake(TOO_MANY);
  const places = items !== undefined && !list.atomic ? new Map<ItemIdentity, number>() : undefined;
  let mistakes: Mistakes;
  for (let i = 0; i < values.length; i++) {
    const item = values[i];
    const isPart = fitting !== undefined && typeof item === "object" && item !== null;
    if (isPart && fitting.get(item) === list) continue;
    const problem = list.atomic ? undefined : itemProblem(list, item);
    if (problem !== undefined) return add(mistakes, mistake(`element ${i}: ${problem}`), "");
    if (places !== undefined) {
      const identity = itemIdentity(list, item);
      if (places.has(identity)) {
        mistakes = add(mistakes, mistake(`duplicate entries for key ${itemPath(list, item)}`), "");
      } else places.set(identity, i);
    }
    const inner = check(list.element, item, items, memory);
    if (inner === undefined) {
      if (isPart) fitting.set(item, list);
      continue;
    }
    mistakes = add(mistakes, inner, list.atomic ? `[${i}]` : itemPath(list, item));
    if (mistakes.length >= MISTAKES_MAX) break;
  }
  if (mistakes === undefined) fitting?.set(values, list);
  if (places !== undefined) items?.add(list, values, places);
  return mistakes;
}

/** A value's text in messages. */
const shown = (value: unknown): string => `&{${goText(value)}}`;

const mistake = (message: string): Mistake[] => [{ path: "", message }];

/** All mistakes, with a step added to the paths of the later ones. */
function add(earlier: Mistakes, later: Mistake[], step: string): Mistake[] {
  for (const one of later) one.path = step + one.path;
  if (earlier === undefined) return later;
  for (const one of later) earlier.push(one);
  return earlier;
}
