/** What a patch may not touch: lists and objects that would be replaced as a whole (spec mutating-admission-policy.md 7). */
import { LIST, MAP, type TypeReference } from "./schema.js";
import { formOf, type Members } from "./value.js";

/** More than so many paths are not told: the patch is refused anyway. */
const PATHS_MAX = 1000;

/**
 * The paths of all atomic lists, maps and structs in a value that fits the type. Members that no field is declared for are not looked at, as the
 * API server doesn't.
 */
export function atomicsIn(type: TypeReference, value: unknown): readonly string[] {
  const found: string[] = [];
  find(type, value, [], found);
  return found;
}

/** @param path the way here, of names and indices: a text for every value would cost more than the search */
function find(reference: TypeReference, value: unknown, path: (string | number)[], found: string[]): void {
  const type = reference.resolve();
  if (type === undefined || found.length >= PATHS_MAX) return;
  const { map, list } = type;
  const form = formOf(value);
  if (form === MAP && map !== undefined) {
    if (map.atomic) found.push(pathOf(path));
    const members = value as Members;
    for (const name of Object.keys(members)) {
      const field = map.fields.get(name);
      if (field === undefined) continue;
      path.push(name);
      find(field, members[name], path, found);
      path.pop();
    }
  }
  if (form === LIST && list !== undefined) {
    if (list.atomic) found.push(pathOf(path));
    const items = value as readonly unknown[];
    for (let i = 0; i < items.length; i++) {
      path.push(i);
      find(list.element, items[i], path, found);
      path.pop();
    }
  }
}

const pathOf = (path: readonly (string | number)[]): string =>
  path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
