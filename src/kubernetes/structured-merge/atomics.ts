/** What a patch may not touch: lists and objects that would be replaced as a whole (spec mutating-admission-policy.md 7). */
import { LIST, MAP, type TypeReference } from "./schema.js";
import { formOf, type Members } from "./value.js";

/**
 * The paths of all atomic lists, maps and structs in a value that fits the type. Members that no field is declared for are not looked at, as the
 * API server doesn't.
 */
export function atomicsIn(type: TypeReference, value: unknown): readonly string[] {
  const found: string[] = [];
  find(type, value, "", found);
  return found;
}

function find(reference: TypeReference, value: unknown, path: string, found: string[]): void {
  const type = reference.resolve();
  if (type === undefined) return;
  const { map, list } = type;
  const form = formOf(value);
  if (form === MAP && map !== undefined) {
    if (map.atomic) found.push(path);
    const members = value as Members;
    for (const name of Object.keys(members)) {
      const field = map.fields.get(name);
      if (field !== undefined) find(field, members[name], `${path}.${name}`, found);
    }
  }
  if (form === LIST && list !== undefined) {
    if (list.atomic) found.push(path);
    const items = value as readonly unknown[];
    for (let i = 0; i < items.length; i++) find(list.element, items[i], `${path}[${i}]`, found);
  }
}
