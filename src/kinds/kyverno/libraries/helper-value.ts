import { type CelError, noSuchOverload, OpaqueValue, type Value } from "../../../cel/index.js";

/** The value of a variable such as `json`, which only has methods. */
export class HelperValue extends OpaqueValue {
  readonly typeName: string;
  readonly #text: string;

  /** @param text its printed form */
  constructor(typeName: string, text: string) {
    super();
    this.typeName = typeName;
    this.#text = text;
  }

  equals(other: Value): boolean | CelError {
    return other === this ? true : noSuchOverload();
  }

  toString(): string {
    return this.#text;
  }
}
