/** Go's strconv.FormatFloat: exact, whatever the precision. */

/** Exact decimal digits of a positive double or zero: `0.<digits> * 10^point`, without zeros at either end. */
interface Decimal {
  readonly digits: string;
  readonly point: number;
}

const MANTISSA_BITS = 52n;
const HIDDEN_BIT = 1n << MANTISSA_BITS;
const BIAS = 1023;
/** The power of ten from which on the shortest text has an exponent. */
const SHORTEST_PLAIN = 6;

/**
 * The text of a double; it always begins with `+` or `-`.
 * @param verb `e`, `E`, `f`, `g`, `G`, `b`, `x` or `X`
 * @param precision undefined: as many digits as distinguish the double from all others
 */
export function floatText(value: number, verb: string, precision: number | undefined): string {
  const sign = value < 0 || Object.is(value, -0) ? "-" : "+";
  const magnitude = Math.abs(value);
  switch (verb) {
    case "b":
      return sign + binary(magnitude);
    case "x":
      return sign + hexadecimal(magnitude, precision);
    case "X":
      return sign + hexadecimal(magnitude, precision).toUpperCase();
    default:
      return sign + decimal(magnitude, verb, precision);
  }
}

function decimal(magnitude: number, verb: string, precision: number | undefined): string {
  const number = precision === undefined ? shortest(magnitude) : exact(magnitude);
  const { length } = number.digits;
  switch (verb) {
    case "f":
      return precision === undefined
        ? plain(number, Math.max(length - number.point, 0))
        : plain(round(number, number.point + precision), precision);
    case "e":
    case "E": {
      const text =
        precision === undefined
          ? scientific(number, Math.max(length - 1, 0))
          : scientific(round(number, precision + 1), precision);
      return verb === "E" ? text.toUpperCase() : text;
    }
    default: {
      const text = general(number, precision);
      return verb === "G" ? text.toUpperCase() : text;
    }
  }
}

/** The text in plain notation, or with an exponent when that is below -4, or from the precision on. */
function general(unrounded: Decimal, precision: number | undefined): string {
  const wanted = precision === undefined ? unrounded.digits.length : Math.max(precision, 1);
  const number = precision === undefined ? unrounded : round(unrounded, wanted);
  const { digits, point } = number;
  const { length } = digits;
  const limit = precision === undefined ? SHORTEST_PLAIN : wanted > length && length >= point ? length : wanted;
  if (point - 1 < -4 || point - 1 >= limit) return scientific(number, Math.min(wanted, length) - 1);
  return plain(number, Math.max((wanted > point ? length : wanted) - point, 0));
}

function plain({ digits, point }: Decimal, fraction: number): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, "0") : "0";
  if (fraction === 0) return whole;
  const rest = point >= 0 ? digits.slice(point) : "0".repeat(-point) + digits;
  return `${whole}.${rest.slice(0, fraction).padEnd(fraction, "0")}`;
}

function scientific({ digits, point }: Decimal, fraction: number): string {
  const exponent = digits === "" ? 0 : point - 1;
  const rest = fraction > 0 ? `.${digits.slice(1, fraction + 1).padEnd(fraction, "0")}` : "";
  const power = String(Math.abs(exponent)).padStart(2, "0");
  return `${digits[0] ?? "0"}${rest}e${exponent < 0 ? "-" : "+"}${power}`;
}

/** The digits rounded to so many; an exact half goes to the even one. */
function round({ digits, point }: Decimal, count: number): Decimal {
  if (count >= digits.length) return { digits, point };
  if (count < 0) return { digits: "", point: 0 };
  const kept = digits.slice(0, count);
  const half = digits[count] === "5" && count + 1 === digits.length;
  const up = half ? count > 0 && Number(kept[count - 1]) % 2 === 1 : (digits[count] ?? "0") >= "5";
  if (!up) return trimmed(kept, point);
  const raised = (BigInt(kept || "0") + 1n).toString().padStart(count, "0");
  return trimmed(raised, point + raised.length - count);
}

function trimmed(digits: string, point: number): Decimal {
  const rest = digits.replace(/0+$/, "");
  return { digits: rest, point: rest === "" ? 0 : point };
}

function shortest(magnitude: number): Decimal {
  const [digits = "", exponent = "0"] = magnitude.toExponential().split("e");
  return trimmed(digits.replace(".", ""), Number(exponent) + 1);
}

function exact(magnitude: number): Decimal {
  const { mantissa, exponent } = parts(magnitude);
  const whole = exponent >= 0 ? mantissa << BigInt(exponent) : mantissa * 5n ** BigInt(-exponent);
  if (whole === 0n) return { digits: "", point: 0 };
  const digits = whole.toString();
  return trimmed(digits, digits.length + Math.min(exponent, 0));
}

/** The double as `mantissa * 2^exponent`. */
function parts(magnitude: number): { readonly mantissa: bigint; readonly exponent: number } {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, magnitude);
  const bits = view.getBigUint64(0);
  const biased = Number(bits >> MANTISSA_BITS);
  const fraction = bits & (HIDDEN_BIT - 1n);
  const exponent = Math.max(biased, 1) - BIAS - Number(MANTISSA_BITS);
  return { mantissa: biased === 0 ? fraction : fraction | HIDDEN_BIT, exponent };
}

function binary(magnitude: number): string {
  const { mantissa, exponent } = parts(magnitude);
  return `${mantissa}p${exponent < 0 ? "" : "+"}${exponent}`;
}

function hexadecimal(magnitude: number, precision: number | undefined): string {
  const { mantissa, exponent } = parts(magnitude);
  const missing = mantissa === 0n ? 0 : Number(MANTISSA_BITS) + 1 - mantissa.toString(2).length;
  let power = mantissa === 0n ? 0 : exponent + Number(MANTISSA_BITS) - missing;
  let bits = mantissa << BigInt(missing);
  const dropped = MANTISSA_BITS - 4n * BigInt(Math.min(precision ?? 13, 13));
  if (dropped > 0n) {
    const half = 1n << (dropped - 1n);
    const rest = bits & ((1n << dropped) - 1n);
    let kept = bits >> dropped;
    if (rest > half || (rest === half && (kept & 1n) === 1n)) kept++;
    bits = kept << dropped;
    if (bits >> (MANTISSA_BITS + 1n) !== 0n) {
      bits >>= 1n;
      power++;
    }
  }
  const fraction = (bits & (HIDDEN_BIT - 1n)).toString(16).padStart(13, "0");
  const digits =
    precision === undefined ? fraction.replace(/0+$/, "") : fraction.slice(0, precision).padEnd(precision, "0");
  const rest = digits === "" ? "" : `.${digits}`;
  return `0x${bits >> MANTISSA_BITS}${rest}p${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}
