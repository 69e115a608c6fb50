/** What data an expression asks for, told by what it does with it. */
import type { Type } from "../types.js";
import type { Value } from "../values/value.js";

/** One place in the data, such as `object.spec.containers`. */
export class Shape {
  /** The fields that are read of it, and the keys that are looked up in it. */
  readonly fields = new Map<string, Shape>();
  /** What is done with its elements, or with the values of a map. */
  element: Shape | undefined;
  /** Whether its elements are found by keys that are texts. */
  keyed = false;
  /** Whether it is asked if this is there. */
  optional = false;
  /** What it is compared with. */
  twin: Shape | undefined;
  /** Values that make a difference where this is looked at. */
  readonly values: Value[] = [];

  constructor(
    /** The static type. */
    public type: Type,
  ) {}

  /** A field or key of it. */
  field(name: string, type: Type): Shape {
    const shape = this.fields.get(name) ?? new Shape(type);
    this.fields.set(name, shape);
    return shape;
  }

  /** Its elements, all of one shape. */
  elements(type: Type): Shape {
    this.element ??= new Shape(type);
    return this.element;
  }

  /** Adds values that make a difference. */
  want(values: readonly Value[]): void {
    if (this.values.length < MOST_VALUES) this.values.push(...values);
  }
}

/** Values of one place: an expression that compares it with a hundred texts needs no more to differ. */
const MOST_VALUES = 24;
