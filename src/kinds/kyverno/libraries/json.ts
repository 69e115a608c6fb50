/** Functions that read and write JSON (spec kyverno.md 4.6). */
import {
  CelError,
  DYN,
  type FunctionDeclaration,
  opaqueType,
  type Result,
  STRING,
  type Value,
} from "../../../cel/index.js";
import { withDoubles } from "../../../data/doubles.js";
import { goJsonError } from "../../../data/go/json-error.js";
import { JsonError, type JsonLimits, parseJson } from "../../../data/json.js";
import { double } from "../../../data/json-reader.js";
import { hasMoreValues } from "../../../data/json-values.js";
import { growing, methodOf } from "./declare.js";
import { HelperValue } from "./helper-value.js";
import { jsonText } from "./json-text.js";
import { nativeText } from "./native-text.js";

/** Most values of a text that is read: some 30 ms where its numbers have to be read exactly, or where it is broken. */
export const MOST_VALUES = 50_000;
/** Most characters of a text that is read: some 30 ms where it is broken, and half of what an object in a cluster may have. */
export const LONGEST_TEXT = 2 ** 19;

/** The type and value of the variable `json`. */
export const JSON_TYPE = opaqueType("json.Json");
export const JSON_HELPER = new HelperValue("json.Json", "json");

/** A zero whose sign integers don't keep; texts may contain it, too. */
const MINUS_ZERO = /-0(?![.0-9])/;
const EXACTLY: JsonLimits = { number: (text) => double(Number(text)) };

function unmarshal(_helper: Value, value: Value): Result {
  const text = nativeText(value);
  if (typeof text !== "string") return text;
  if (text.length > LONGEST_TEXT || hasMoreValues(text, MOST_VALUES)) return tooLarge();
  try {
    return withDoubles(MINUS_ZERO.test(text) ? parseJson(text, EXACTLY) : parseJson(text)) as Value;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const problem = goJsonError(text) ?? outOfRange(error.reason, text);
    return problem === undefined ? tooLarge() : new CelError(problem, "conversion");
  }
}

const tooLarge = (): CelError => new CelError("too large to be read as JSON", "too-large");

/** The error of JSON that is valid except for a number that no double holds; `undefined` where it only nests deeper than values may here. */
function outOfRange(reason: string, text: string): string | undefined {
  if (reason !== "number out of range") return undefined;
  const number = /-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/g;
  const first = text.match(number)?.find((each) => !Number.isFinite(Number(each)));
  return `json: cannot unmarshal number ${first} into Go value of type float64`;
}

/** The work of a broken text, ten times that of a valid one: it is read again for the words of the error. */
const BROKEN = { ...growing(300), fixed: 20_000 };

/** `json.unmarshal` and `json.marshal`. */
export const JSON_FUNCTIONS: readonly FunctionDeclaration[] = [
  methodOf("unmarshal", "unmarshal_string_dyn", [JSON_TYPE, DYN], DYN, unmarshal, BROKEN),
  methodOf(
    "marshal",
    "marshal_dyn_string",
    [JSON_TYPE, DYN],
    STRING,
    (_: Value, value: Value) => jsonText(value),
    growing(20, true),
  ),
];
