import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { doubleText, fixedText, parseDouble } from "../../../src/cel/values/double-text.js";

describe("the text of a double", () => {
  const rows: readonly (readonly [number, string])[] = [
    [0, "0"],
    [-0, "-0"],
    [1.5, "1.5"],
    [100_000, "100000"],
    [1_000_000, "1e+06"],
    [123_456.789, "123456.789"],
    [1_234_567, "1.234567e+06"],
    [0.0001, "0.0001"],
    [0.00001, "1e-05"],
    [5e-324, "5e-324"],
    [1e21, "1e+21"],
    [1e300, "1e+300"],
    [Number.NaN, "NaN"],
    [Number.POSITIVE_INFINITY, "+Inf"],
    [Number.NEGATIVE_INFINITY, "-Inf"],
  ];
  for (const [value, text] of rows) test(text, () => assert.equal(doubleText(value), text));

  test("has no exponent in fixed notation", () => {
    assert.equal(fixedText(360_000_000), "360000000");
    assert.equal(fixedText(1e21), "1000000000000000000000");
    assert.equal(fixedText(-0.0000012), "-0.0000012");
    assert.equal(fixedText(0), "0");
  });
});

describe("reading a double", () => {
  const accepted: readonly (readonly [string, number])[] = [
    ["1e3", 1000],
    [".5", 0.5],
    ["5.", 5],
    ["1_0", 10],
    ["0x1p-2", 0.25],
    ["0x_1p4", 16],
    ["-0x.8p0", -0.5],
    ["0x1.fffffffffffffp1023", Number.MAX_VALUE],
    ["0x1p-1074", Number.MIN_VALUE],
    ["0x1p-1075", 0],
    ["0x1.8p-1075", Number.MIN_VALUE],
    ["1e-400", 0],
    ["-Infinity", Number.NEGATIVE_INFINITY],
    ["INF", Number.POSITIVE_INFINITY],
  ];
  for (const [text, value] of accepted) test(text, () => assert.equal(parseDouble(text), value));

  test("nan in any case", () => assert.ok(Number.isNaN(parseDouble("NaN")) && Number.isNaN(parseDouble("nan"))));

  const refused = [
    "",
    ".",
    "1e",
    "e1",
    "1__0",
    "_1",
    "1_",
    "1_e5",
    "0x1",
    "0x",
    "1e400",
    "0x1p1024",
    "+nan",
    " 1",
    "0b1",
  ];
  for (const text of refused) test(`not ${JSON.stringify(text)}`, () => assert.equal(parseDouble(text), undefined));

  test("a long text is read in time", () => {
    assert.equal(parseDouble(`0x${"f".repeat(100_000)}p0`), undefined);
    assert.equal(parseDouble(`0x0.${"0".repeat(100_000)}1p400004`), 1);
    assert.equal(parseDouble(`${"9".repeat(100_000)}`), undefined);
  });
});
