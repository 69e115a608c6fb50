/** How values are merged: the types of structured-merge-diff (spec mutating-admission-policy.md 7). All of this is immutable once made. */
import { compareNames } from "../names.js";

/** The kind of a scalar; `untyped` is any of them. */
export type Scalar = "numeric" | "string" | "boolean" | "untyped";

/** The forms that a value may have, as bits. */
export const SCALAR = 1;
export const LIST = 2;
export const MAP = 4;

/** A type by its name or written in place. */
export interface TypeReference {
  /** The name in messages. */
  readonly name: string;
  /** `undefined` when no schema has this name. */
  resolve(): Type | undefined;
}

/** A type: one or several forms that its values may have. */
export class Type implements TypeReference {
  readonly name = "inlined type";
  /** The bits of the forms that it has. */
  readonly forms: number;

  constructor(
    readonly scalar: Scalar | undefined,
    readonly list: ListType | undefined,
    readonly map: MapType | undefined,
  ) {
    this.forms = (scalar ? SCALAR : 0) | (list ? LIST : 0) | (map ? MAP : 0);
  }

  resolve(): this {
    return this;
  }
}

/** An object or map. */
export class MapType {
  /**
   * @param fields by name
   * @param defaults the default values of fields, by name
   * @param element the type of members that are not fields; `undefined` when there may be none
   * @param atomic whether it is replaced as a whole
   */
  constructor(
    readonly fields: ReadonlyMap<string, TypeReference>,
    readonly defaults: ReadonlyMap<string, unknown>,
    readonly element: TypeReference | undefined,
    readonly atomic: boolean,
  ) {}

  /** The type of a member; `undefined` when it is not allowed. */
  member(name: string): TypeReference | undefined {
    return this.fields.get(name) ?? this.element;
  }
}

/** A list: replaced as a whole (atomic), or merged by the values of members of its items (keys), or a set. */
export class ListType {
  /** The keys in the order of their names. */
  readonly sortedKeys: readonly string[];

  /** @param keys as the schema lists them; none for a set */
  constructor(
    readonly element: TypeReference,
    readonly atomic: boolean,
    readonly keys: readonly string[],
  ) {
    this.sortedKeys = keys.toSorted(compareNames);
  }
}
