/** No argument makes a library function throw: it returns a value or an error. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { FunctionDeclaration } from "../../src/cel/declarations.js";
import { dispatcher } from "../../src/cel/dispatch.js";
import { functionsByName, libraries } from "../../src/cel/libraries.js";
import { CelError } from "../../src/cel/values/cel-error.js";
import { Interruption } from "../../src/cel/values/interruption.js";
import { Duration, Timestamp } from "../../src/cel/values/time.js";
import { TypeValue } from "../../src/cel/values/type-value.js";
import { Uint } from "../../src/cel/values/uint.js";
import { MapValue, Optional, type Result, type Value } from "../../src/cel/values/value.js";

/** A small generator of pseudo-random numbers, the same in every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const functions = functionsByName(libraries("standard"));
const call = (name: string, ...args: Value[]): Result =>
  dispatcher(functions.get(name) as FunctionDeclaration)(...args);

const TEXT_PARTS = [
  "",
  "a",
  "é",
  "😀",
  "%",
  "%s",
  "%.9f",
  "%.40000f",
  "%e",
  "\\",
  "(",
  "[",
  "a{1000}",
  "(?i)",
  "*",
  "\\pL",
  "//",
  "http://",
  "[::1]",
  ":",
  "@",
  "?",
  "#",
  "1",
  "-",
  "+",
  ".",
  "0",
  "9223372036854775807",
  "1e1000000000",
  "Ki",
  "m",
  "2024-02-29",
  "T",
  "Z",
  "10.0.0.0",
  "/8",
  "h",
  "s",
  "\n",
  "\u0000",
  "UTC",
  "Europe/Berlin",
  "=",
  "&",
  "nan",
  "0x1p5",
  "_",
];

const opaque: readonly Value[] = [
  call("quantity", "1e1000000") as Value,
  call("quantity", "1.5") as Value,
  call("url", "http://h/a?b#c") as Value,
  call("ip", "::1") as Value,
  call("cidr", "10.0.0.0/8") as Value,
  call("semver", "1.2.3-a+b") as Value,
  call("format.uuid") as Value,
];

const scalars: readonly Value[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  64,
  5000,
  Number.MAX_SAFE_INTEGER,
  2n ** 63n - 1n,
  -(2n ** 63n),
  0.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.MIN_VALUE,
  Object(-0) as number,
  Object(3) as number,
  1e300,
  new Uint(0),
  new Uint(2n ** 64n - 1n),
  new Timestamp(0, 0),
  new Timestamp(-62_135_596_800, 0),
  new Timestamp(253_402_300_799, 999_999_999, -86_400),
  new Duration(0),
  new Duration(-(2n ** 63n)),
  new TypeValue("int"),
  Optional.NONE,
  Optional.of(1),
  new Uint8Array([255, 0]),
  ...opaque,
];

function makeValues(random: () => number): (depth?: number) => Value {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const text = (): string => Array.from({ length: Math.floor(random() * 5) }, () => pick(TEXT_PARTS)).join("");
  const value = (depth = 2): Value => {
    const kind = random();
    if (kind < 0.45) return text();
    if (kind < 0.8 || depth === 0) return pick(scalars);
    if (kind < 0.93) {
      const repeated = value(depth - 1);
      return Array.from({ length: Math.floor(random() * 5) }, () => (random() < 0.5 ? repeated : value(depth - 1)));
    }
    if (kind < 0.96) return { [text()]: value(depth - 1), __proto__x: 1 };
    const map = new MapValue();
    map.set(pick([1, true, new Uint(5), 0.5, text()]), value(depth - 1));
    return map;
  };
  return value;
}

describe("whatever it is called with, a library function does not throw", () => {
  for (const declaration of functions.values()) {
    const implemented = declaration.overloads.filter(({ implementation }) => implementation !== undefined);
    if (implemented.length === 0 && declaration.dynamic === undefined) continue;
    test(declaration.name, () => {
      const value = makeValues(generator(declaration.name.length * 7919 + 1));
      const choose = dispatcher(declaration);
      for (const { params } of declaration.overloads) {
        for (let i = 0; i < 150; i++) {
          const args = params.map((type): Value => {
            const wanted = value();
            // Mostly strings where strings are wanted, and so on, so that calls get past the choice of an overload.
            if (type.kind === "string" && typeof wanted !== "string" && i % 4 > 0) return String(i);
            if (type.kind === "opaque" && i % 4 > 0)
              return opaque.find((each) => nameOf(each) === type.name) ?? Optional.of(wanted);
            if (type.kind === "list" && !Array.isArray(wanted) && i % 4 > 0) return [wanted, wanted];
            return wanted;
          });
          const result = outcome(choose, args);
          assert.ok(result !== undefined, `${declaration.name} returned nothing`);
          if (result instanceof CelError) assert.equal(typeof result.message, "string");
        }
      }
    });
  }
});

/** What a call yields. A result out of all proportion ends the evaluation, and nothing else may be thrown. */
function outcome(call: (...args: readonly Value[]) => Result, args: readonly Value[]): Result {
  try {
    return call(...args);
  } catch (thrown) {
    assert.ok(thrown instanceof Interruption, String(thrown));
    return new CelError(thrown.reason);
  }
}

const nameOf = (value: Value): string | undefined => (value as { readonly typeName?: string } | null)?.typeName;
