/** The data that an expression needs, derived from what it does with it. */
import type { Type } from "../types.js";
import type { Value } from "../values/value.js";

/** One place in the data, such as `object.spec.containers`. */
export class Shape {
  /** The fields that are read of it, and the keys that are looked up in it. */
  readonly fields = new Map<string, Shape>();
  /** The shape of the elements, or of the values of a map. */
  element: Shape | undefined;
  /** Whether its elements are looked up by keys that are texts. */
  keyed = false;
  /** Whether the expression tests if it is present. */
  optional = false;
  /** The place it is compared with. */
  twin: Shape | undefined;
  /** Values that make a difference where this is read. */
  readonly values: Value[] = [];

  constructor(
    /** The static type. */
    public type: Type,
  ) {}

  /** The shape of a field or key. */
  field(name: string, type: Type): Shape {
    const shape = this.fields.get(name) ?? new Shape(type);
    this.fields.set(name, shape);
    return shape;
  }

  /** The shape of all elements. */
  elements(type: Type): Shape {
    this.element ??= new Shape(type);
    return this.element;
  }

  /** Adds values that make a difference. */
  want(values: readonly Value[]): void {
    if (this.values.length < MOST_VALUES) this.values.push(...values);
  }
}

/** Most values of one place: an expression that compares it with a hundred texts needs no more to differ. */
const MOST_VALUES = 24;
