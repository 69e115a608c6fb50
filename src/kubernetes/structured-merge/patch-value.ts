/**
 * What an ApplyConfiguration asks for, as structured-merge-diff sees it: the Go values that an `Object` of CEL becomes (spec
 * mutating-admission-policy.md 5 and 7). Numbers follow the model of `data/json`: an integer is an int64, a `Number` object or a fraction a
 * float64.
 */

/** A Go value that JSON has nothing for, such as a uint64, a timestamp or a CEL map; it only ever stands in messages. */
export class ForeignValue {
  readonly #text: () => string;
  readonly #syntax: () => string;

  /**
   * @param type as Go's `%T` prints it: `uint64`
   * @param text as `%v` prints it: `1`
   * @param syntax as `%#v` prints it: `0x1`
   */
  constructor(
    readonly type: string,
    text: () => string,
    syntax: () => string,
  ) {
    this.#text = text;
    this.#syntax = syntax;
  }

  /** As `%v` prints it; made when a message needs it. */
  get text(): string {
    return this.#text();
  }

  /** As `%#v` prints it. */
  get syntax(): string {
    return this.#syntax();
  }
}

/**
 * An empty list as CEL gives it: Go has a nil slice for it, which is a list to every check, and `null` where it is written as JSON.
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
