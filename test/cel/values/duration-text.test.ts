import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { durationInUnits, durationText, parseDuration } from "../../../src/cel/values/duration-text.js";
import { Duration } from "../../../src/cel/values/time.js";

describe("reading a duration", () => {
  const accepted: readonly (readonly [string, number | bigint])[] = [
    ["0", 0],
    ["+0", 0],
    ["1h", 3_600_000_000_000],
    ["-1.5s", -1_500_000_000],
    [".5s", 500_000_000],
    ["1.s", 1_000_000_000],
    ["1h1h", 7_200_000_000_000],
    ["1µs", 1000],
    ["1μs", 1000],
    ["9223372036854775807ns", 9_223_372_036_854_775_807n],
    ["-9223372036854775808ns", -9_223_372_036_854_775_808n],
    ["3.333333333333333333333h", 12_000_000_000_000],
    ["1h.5m", 3_630_000_000_000],
    ["00000000001s2m00000003s", 124_000_000_000],
    ["-2562047h47m16s854ms775us808ns", -9_223_372_036_854_775_808n],
    ["2562047h47m16s854ms775us807ns", 9_223_372_036_854_775_807n],
  ];
  for (const [text, nanos] of accepted) test(text, () => assert.equal(parseDuration(text)?.nanos, nanos));

  const refused = [
    "",
    "-",
    "1",
    "1d",
    ".s",
    "s",
    "1h ",
    "9223372036854775808ns",
    "1e3s",
    "--1s",
    "2562048h",
    "2562047h48m",
    "99999999h99999999h",
  ];
  const long = `${"1h".repeat(900_000)}1m`;
  test("of a million parts", () => {
    assert.equal(parseDuration(long)?.nanos, 900_000n * 3_600_000_000_000n + 60_000_000_000n);
    assert.equal(parseDuration(`${long}1x`), undefined);
    assert.equal(parseDuration(long.repeat(3)), undefined);
  });

  for (const text of refused) test(`not ${JSON.stringify(text)}`, () => assert.equal(parseDuration(text), undefined));
});

describe("the text of a duration", () => {
  test("is its seconds as a double", () => {
    assert.equal(durationText(new Duration(5_400_000_000_000)), "5400s");
    assert.equal(durationText(new Duration(-1_500_000_000)), "-1.5s");
    assert.equal(durationText(new Duration(360_000_000_000_000_001n)), "360000000s");
  });

  test("has units where tools want them", () => {
    assert.equal(durationInUnits(new Duration(0)), "0s");
    assert.equal(durationInUnits(new Duration(1)), "1ns");
    assert.equal(durationInUnits(new Duration(1500)), "1.5µs");
    assert.equal(durationInUnits(new Duration(100_000_000)), "100ms");
    assert.equal(durationInUnits(new Duration(-90_000_000_000)), "-1m30s");
    assert.equal(durationInUnits(new Duration(5_400_000_000_000)), "1h30m0s");
  });
});
