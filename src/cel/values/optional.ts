import { MARK } from "./mark.js";
import type { Value } from "./value.js";

/** An optional value (spec kubernetes-cel.md 4.6). Nested optionals keep every level. */
export class Optional {
  get [MARK](): true {
    return true;
  }

  /** The optional without a value. */
  static readonly NONE: Optional = new Optional(undefined);

  private constructor(
    /** The value, `undefined` for none. */
    readonly value: Value | undefined,
  ) {}

  /** `optional.of(value)`. */
  static of(value: Value): Optional {
    return new Optional(value);
  }
}
