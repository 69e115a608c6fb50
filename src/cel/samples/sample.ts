/** Samples of data for an expression. The same number gives the same one. */
import { AuthorizerValue, ResourceCheckValue } from "../kubernetes/authz-values.js";
import type { Type } from "../types.js";
import { isInt, makeDouble } from "../values/numbers.js";
import { Duration, Timestamp } from "../values/time.js";
import { uintOf } from "../values/uint.js";
import { OpaqueValue, Optional, type Value } from "../values/value.js";
import { valueText } from "../values/value-text.js";
import type { Shape } from "./shape.js";
import type { Usage } from "./usage.js";

/** A value of a library that samples cannot make: it has a name, and nothing more. */
class Unknown extends OpaqueValue {
  constructor(readonly typeName: string) {
    super();
  }

  equals(other: Value): boolean {
    return other === this;
  }

  toString(): string {
    return this.typeName;
  }
}

/** Levels of data below which every value is a text: types may contain themselves. */
const MOST_LEVELS = 12;

/** Levels of objects that are made whole. */
const MOST_DECLARED_LEVELS = 2;

/** One sample: the values of the variables, and the answers of functions that ask the world. */
export class Sample {
  readonly bindings: { readonly [name: string]: Value };
  readonly #usage: Usage;
  readonly #answers = new Map<string, Value>();
  readonly #made = new Map<Shape, Value>();
  #state: number;
  readonly #visits = new Map<Shape, number>();

  /**
   * @param number 0: all optional parts are present; 1: none is
   * @param seeds a number for each place: two samples differ only where their numbers do
   */
  constructor(
    usage: Usage,
    readonly number: number,
    readonly seeds?: ReadonlyMap<Shape, number>,
  ) {
    this.#usage = usage;
    this.#state = number * 7919 + 1;
    const entries = Array.from(usage.variables, ([name, shape]) => [name, this.#value(shape, 0)] as const);
    this.bindings = Object.fromEntries(entries);
  }

  /** The answer of a function; the same for the same arguments. */
  answer(name: string, args: readonly Value[]): Value {
    const key = `${name} ${valueText(args) ?? ""}`;
    const shape = this.#usage.answers.get(name);
    const answer = this.#answers.get(key) ?? (shape === undefined ? null : this.#value(shape, 0));
    this.#answers.set(key, answer);
    return answer;
  }

  /** A number from 0, less than `below`. */
  #pick(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    const mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  }

  #one(values: readonly Value[]): Value {
    return values[this.#pick(values.length)] as Value;
  }

  #isThere(): boolean {
    return this.number === 0 || (this.number !== 1 && this.#pick(3) > 0);
  }

  /** A value; one of three times that of its comparison partner, if that is made already. */
  #value(shape: Shape, level: number): Value {
    const seed = this.seeds?.get(shape);
    if (seed !== undefined) {
      const visits = (this.#visits.get(shape) ?? 0) + 1;
      this.#visits.set(shape, visits);
      this.#state = seed + visits * 7919;
    }
    const twin = shape.twin && this.#made.get(shape.twin);
    const value = twin !== undefined && this.#pick(3) === 0 ? twin : this.#anew(shape, level);
    this.#made.set(shape, value);
    return value;
  }

  #anew(shape: Shape, level: number): Value {
    const { fields, element, values, type } = shape;
    const isPlain = values.length > 0 && this.#pick(4) === 0;
    if (type.kind === "opaque" && type.name === "optional_type" && type.params[0] !== undefined)
      return this.#isThere() ? Optional.of(this.#ofType(type.params[0], values)) : Optional.NONE;
    if (level > MOST_LEVELS) return "a";
    if (fields.size > 0 && !isPlain) {
      // Where releases are compared, any part of some samples may be missing: what is charged for a failure differs, too.
      const mayMiss = this.seeds !== undefined && this.number % 4 === 2;
      const present = [...fields].filter(([, { optional }]) =>
        optional ? this.#isThere() : !mayMiss || this.#pick(16) > 0,
      );
      return Object.fromEntries(present.map(([name, field]) => [name, this.#value(field, level + 1)]));
    }
    if (element !== undefined && !isPlain) {
      const all = Array.from({ length: 1 + this.#pick(3) }, () => this.#value(element, level + 1));
      const list = this.number === 1 ? [] : all;
      if (type.kind !== "map" && !shape.keyed) return list;
      return Object.fromEntries(list.map((each, i) => [i === 0 ? "k" : this.#text(), each]));
    }
    return this.#ofType(type, values);
  }

  /** A value without parts: one that makes a difference, or a literal of the expression, or any of its type. */
  #ofType(type: Type, values: readonly Value[], level = 0): Value {
    if (values.length > 0 && this.#pick(4) > 0) return this.#one(values);
    const { literals } = this.#usage;
    switch (type.kind) {
      case "bool":
        return this.#pick(2) === 0;
      case "int":
        return this.#one([0, 1, 2, 7, ...literals.filter(isInt)]);
      case "uint":
        return uintOf(BigInt(this.#pick(4)));
      case "double":
        return makeDouble(this.#pick(4) - 0.5);
      case "bytes":
        return new Uint8Array([97, this.#pick(3)]);
      case "timestamp":
        return new Timestamp(this.#pick(3) * 1_000_000_000, 0);
      case "duration":
        return new Duration(this.#pick(3) * 3_600_000_000_000);
      case "null":
        return null;
      case "list":
        return Array.from({ length: this.#pick(4) }, () => this.#ofType(type.element, []));
      case "map":
        return Object.fromEntries(
          Array.from({ length: this.#pick(4) }, (_, i) => [`k${i}`, this.#ofType(type.value, [])]),
        );
      case "object":
        return level > MOST_DECLARED_LEVELS ? {} : this.#object(type.name, level);
      case "opaque":
        return this.#opaque(type.name);
      case "wrapper":
        return this.#ofType(type.of, values);
      default:
        return this.#text();
    }
  }

  /** An object that is read as a whole. */
  #object(name: string, level: number): Value {
    const fields = this.#usage.objectTypes.get(name)?.fields ?? new Map<string, Type>();
    return Object.fromEntries(Array.from(fields, ([field, type]) => [field, this.#ofType(type, [], level + 1)]));
  }

  #text(): string {
    const texts = ["a", "b", "z", ...this.#usage.literals.filter((each) => typeof each === "string")];
    const one = this.#one(texts) as string;
    // Where releases are compared, a part of a text may make the difference.
    return this.seeds !== undefined && this.#pick(3) === 0 ? `${one}${this.#one(texts)}` : one;
  }

  #opaque(name: string): Value {
    const text = this.#text();
    const error = this.#pick(3) === 0 ? text : undefined;
    const authorizer = new AuthorizerValue(() => ({ allowed: this.#pick(2) === 0, reason: text, error }));
    if (name === authorizer.typeName) return authorizer;
    const check = new ResourceCheckValue(authorizer, NOTHING);
    return name === check.typeName ? check : new Unknown(name);
  }
}

const NOTHING = {
  group: "",
  resource: "",
  subresource: "",
  namespace: "",
  name: "",
  fieldSelector: "",
  labelSelector: "",
};
