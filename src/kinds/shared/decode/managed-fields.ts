/**
 * Mistakes in `metadata.managedFields`. What it cannot read the API server throws away without a word, all entries at once; and it checks
 * only who manages and which subresource.
 */
import { isPrintable } from "../../../data/go/quote.js";
import { type FieldError, type FieldPath, invalid, tooLong } from "../../../kubernetes/field-error.js";
import { isObject } from "../../../kubernetes/object.js";

/** Who last set which fields. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: unknown;
  readonly subresource?: string;
}

/** Limits of the API, in bytes. */
const MAX_MANAGER_BYTES = 128;
const MAX_SUBRESOURCE_BYTES = 256;

/** How a member of a set of fields begins: the set itself, a field, a value, the key of an item, or an index. */
const FIELD = /^(\.$|[fvki]:)/;

/** The mistakes of entries. */
export function managedFieldsErrors(entries: readonly ManagedFieldsEntry[]): FieldError[] {
  return entries.every(isReadable)
    ? entries.flatMap((entry, i) => entryErrors(entry, ["metadata", "managedFields", i]))
    : [];
}

const isReadable = ({ operation, apiVersion = "", fieldsType, fieldsV1 }: ManagedFieldsEntry): boolean =>
  (operation === "Apply" || operation === "Update") &&
  apiVersion !== "" &&
  fieldsType === "FieldsV1" &&
  (fieldsV1 === undefined || isFieldSet(fieldsV1));

const isFieldSet = (value: unknown): boolean =>
  isObject(value) && Object.entries(value).every(([key, inner]) => FIELD.test(key) && isFieldSet(inner));

function entryErrors({ manager = "", subresource = "" }: ManagedFieldsEntry, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const at = [...path, "manager"];
  if (Buffer.byteLength(manager) > MAX_MANAGER_BYTES) errors.push(tooLong(at, MAX_MANAGER_BYTES));
  let position = 0;
  for (const character of manager) {
    if (!isPrintable(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      errors.push(invalid(at, manager, `invalid character U+${code} (at position ${position})`));
    }
    position += Buffer.byteLength(character);
  }
  if (Buffer.byteLength(subresource) > MAX_SUBRESOURCE_BYTES) {
    errors.push(tooLong([...path, "subresource"], MAX_SUBRESOURCE_BYTES));
  }
  return errors;
}
