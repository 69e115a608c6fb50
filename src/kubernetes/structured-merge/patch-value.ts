/**
 * The values of an ApplyConfiguration as structured-merge-diff sees them: the Go values that an `Object` of CEL becomes (spec
 * mutating-admission-policy.md 5 and 7). Numbers follow the model of `data/json`: an integer is an int64, a `Number` object or a fraction a
 * float64.
 */

/** A Go value without a form in JSON, such as a uint64, a timestamp or a CEL map; it is only printed in messages. */
export class ForeignValue {
  readonly #text: () => string;
  readonly #syntax: () => string;

  /**
   * @param type the text of Go's `%T`: `uint64`
   * @param text the text of `%v`: `1`
   * @param syntax the text of `%#v`: `0x1`
   */
  constructor(
    readonly type: string,
    text: () => string,
    syntax: () => string,
  ) {
    this.#text = text;
    this.#syntax = syntax;
  }

  /** The text of `%v`; made when a message needs it. */
  get text(): string {
    return this.#text();
  }

  /** The text of `%#v`. */
  get syntax(): string {
    return this.#syntax();
  }
}

/**
 * An empty list of CEL: Go has a nil slice for it, which every check accepts as a list, and which is `null` in JSON.
 */
export const NIL_LIST: readonly never[] = Object.freeze([]);

/** A value in a patch. */
export type PatchValue =
  | null
  | boolean
  | string
  | number
  | bigint
  // biome-ignore lint/complexity/noBannedTypes: whole doubles are such objects
  | Number
  | ForeignValue
  | readonly PatchValue[]
  | { readonly [field: string]: PatchValue };
