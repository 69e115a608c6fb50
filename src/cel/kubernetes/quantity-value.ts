/** Quantities as values (spec kubernetes-cel.md 4.9). */

import type { Behaviour } from "../../data/kubernetes-version.js";
import { CelError, noSuchOverload } from "../values/cel-error.js";
import { tooLarge } from "../values/limits.js";
import { BUCKET } from "../values/map-key.js";
import { INT_MIN } from "../values/numbers.js";
import { OpaqueValue, type Value } from "../values/value.js";
import {
  type Amount,
  addAmounts,
  addBounded,
  compareAmounts,
  integerOf,
  negateAmount,
  type QuantityFormat,
  signOf,
  subtractBounded,
} from "./quantity-amount.js";
import { parseQuantity } from "./quantity-parse.js";

/** A quantity. */
export class QuantityValue extends OpaqueValue {
  readonly typeName = "kubernetes.Quantity";

  readonly #format: QuantityFormat;
  readonly #text: string | undefined;
  readonly #computed: boolean;

  private constructor(
    readonly amount: Amount,
    format: QuantityFormat,
    text: string | undefined,
    /** Whether it is a sum or a difference: the reference's equality does not accept such on its right side. */
    computed: boolean,
    readonly behaviour: Behaviour,
  ) {
    super();
    this.#format = format;
    this.#text = text;
    this.#computed = computed;
  }

  /** `quantity(text)`. */
  static parse(text: string, behaviour: Behaviour): QuantityValue | CelError {
    const parsed = parseQuantity(text, behaviour);
    if (parsed instanceof CelError) return parsed;
    return new QuantityValue(parsed.amount, parsed.format, parsed.text, false, behaviour);
  }

  /** An int, for sums with quantities. */
  static ofInt(value: number | bigint, behaviour: Behaviour): QuantityValue {
    return new QuantityValue(
      { unscaled: BigInt(value), scale: 0, fast: true },
      "exponent",
      undefined,
      false,
      behaviour,
    );
  }

  /** `this + other`. */
  plus(other: QuantityValue): QuantityValue | CelError {
    if (this.behaviour === "1.38") return this.#made(other, addBounded(this.amount, other.amount));
    return this.#combined(other, other.amount);
  }

  /** `this - other`. */
  minus(other: QuantityValue): QuantityValue | CelError {
    const { amount } = other;
    if (this.behaviour === "1.38") return this.#made(other, subtractBounded(this.amount, amount));
    // The negative of the least int64 is itself, and the reference's fast path does not check for it.
    if (this.amount.fast && amount.fast && amount.unscaled === INT_MIN) {
      const wrapped = addAmounts(this.amount, amount);
      if (wrapped?.fast) return this.#combined(other, amount);
    }
    return this.#combined(other, negateAmount(amount));
  }

  #combined(other: QuantityValue, amount: Amount): QuantityValue | CelError {
    const sum = addAmounts(this.amount, amount);
    return sum === undefined ? tooLarge() : this.#made(other, sum);
  }

  #made(other: QuantityValue, sum: Amount): QuantityValue {
    const format = signOf(this.amount) === 0 ? other.#format : this.#format;
    return new QuantityValue(sum, format, undefined, true, this.behaviour);
  }

  equals(other: Value): boolean | CelError {
    if (!(other instanceof QuantityValue) || other.#computed) return noSuchOverload();
    return compareAmounts(this.amount, other.amount) === 0;
  }

  /** A new key for each: the reference makes one value for each call, so none is found again. */
  override get [BUCKET](): symbol {
    return Symbol("key");
  }

  override get identity(): string {
    return `${this.toString()} ${this.#format} ${this.#computed}`;
  }

  toString(): string {
    return this.#text ?? canonicalText(this.amount, this.#format, this.behaviour);
  }
}

const DECIMAL_SUFFIXES: ReadonlyMap<number, string> = new Map([
  [-9, "n"],
  [-6, "u"],
  [-3, "m"],
  [3, "k"],
  [6, "M"],
  [9, "G"],
  [12, "T"],
  [15, "P"],
  [18, "E"],
]);
const BINARY_SUFFIXES = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** Amount from which on, and from its negative down, a binary quantity is printed with a binary suffix. */
const BINARY_FROM: Amount = { unscaled: 1024n, scale: 0, fast: true };

/** The canonical text. An exponent that has no suffix is dropped until 1.38, as the reference does. */
function canonicalText(amount: Amount, format: QuantityFormat, behaviour: Behaviour): string {
  if (amount.unscaled === 0n) return "0";
  if (format === "binary") {
    const magnitude = signOf(amount) < 0 ? negateAmount(amount) : amount;
    const whole = wholeOf(amount);
    const binary = compareAmounts(magnitude, BINARY_FROM) >= 0 && whole !== undefined ? binaryText(whole) : undefined;
    const [text, suffix] = binary ?? ["", undefined];
    if (suffix !== undefined) return text + suffix;
    if (binary !== undefined) return behaviour === "1.38" ? canonicalText(amount, "exponent", behaviour) : text;
  }
  const [unscaled, exponent] = withExponentOfThree(amount);
  const suffix = format === "exponent" || exponent === 0 ? undefined : DECIMAL_SUFFIXES.get(exponent);
  if (suffix !== undefined) return `${unscaled}${suffix}`;
  return exponent === 0 || (format !== "exponent" && behaviour !== "1.38") ? `${unscaled}` : `${unscaled}e${exponent}`;
}

/** The largest scale of an integer that is written out. */
const MOST_ZEROS = 8_192;

/** The amount as an integer, if it is one. */
function wholeOf({ unscaled, scale, fast }: Amount): bigint | undefined {
  if (scale > MOST_ZEROS) return undefined;
  if (scale >= 0)
    return integerOf({ unscaled, scale, fast: true }) ?? (fast ? undefined : unscaled * 10n ** BigInt(scale));
  const divisor = 10n ** BigInt(-scale);
  return unscaled % divisor === 0n ? unscaled / divisor : undefined;
}

/** The digits and the suffix, if there is one. */
function binaryText(whole: bigint): readonly [string, string | undefined] {
  let rest = whole;
  let steps = 0;
  while (rest % 1024n === 0n) {
    rest /= 1024n;
    steps++;
  }
  return [`${rest}`, BINARY_SUFFIXES[steps]];
}

function withExponentOfThree({ unscaled, scale }: Amount): readonly [bigint, number] {
  let rest = unscaled;
  let exponent = scale;
  while (rest % 10n === 0n) {
    rest /= 10n;
    exponent++;
  }
  while (exponent % 3 !== 0) {
    rest *= 10n;
    exponent--;
  }
  return [rest, exponent];
}
