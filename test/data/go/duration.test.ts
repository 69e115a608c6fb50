import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { goDurationText, parseGoDuration } from "../../../src/data/go/duration.js";

/** The texts are Go's own. */
describe("Go's durations", () => {
  for (const [text, nanos] of [
    ["0", 0n],
    ["+0", 0n],
    ["1h", 3_600_000_000_000n],
    ["-1.5s", -1_500_000_000n],
    [".5m", 30_000_000_000n],
    ["1.h", 3_600_000_000_000n],
    ["1h30m5ns", 5_400_000_000_005n],
    ["3us4\u00b5s5\u03bcs", 12_000n],
    ["9223372036854775807ns", 2n ** 63n - 1n],
    ["-9223372036854775808ns", -(2n ** 63n)],
    ["0.3333333333333333333h", 1_200_000_000_000n],
    ["00000000000000000000001s", 1_000_000_000n],
  ] as const) {
    test(`${text} is read`, () => assert.deepEqual(parseGoDuration(text), { ok: true, nanos }));
  }

  for (const [text, error] of [
    ["", 'time: invalid duration ""'],
    ["abc", 'time: invalid duration "abc"'],
    ["-", 'time: invalid duration "-"'],
    ["+-1s", 'time: invalid duration "+-1s"'],
    [".s", 'time: invalid duration ".s"'],
    ["10", 'time: missing unit in duration "10"'],
    ["1.5.5s", 'time: missing unit in duration "1.5.5s"'],
    ["1h1", 'time: missing unit in duration "1h1"'],
    ["1d", 'time: unknown unit "d" in duration "1d"'],
    ["1 h", 'time: unknown unit " h" in duration "1 h"'],
    ["1ä", 'time: unknown unit "\\xc3\\xa4" in duration "1\\xc3\\xa4"'],
    ['1"\\', 'time: unknown unit "\\"\\\\" in duration "1\\"\\\\"'],
    ["9223372036854775808ns", 'time: invalid duration "9223372036854775808ns"'],
    ["-9223372036854775809ns", 'time: invalid duration "-9223372036854775809ns"'],
    ["99999999999999999999d", 'time: invalid duration "99999999999999999999d"'],
    ["2562048h", 'time: invalid duration "2562048h"'],
  ] as const) {
    test(`${JSON.stringify(text)} is none`, () => assert.deepEqual(parseGoDuration(text), { ok: false, error }));
  }

  test("are printed in units", () => {
    for (const text of [
      "24h0m0s",
      "1h0m0s",
      "1m30s",
      "1.5s",
      "250ms",
      "0s",
      "-1m0s",
      "1ns",
      "1.5µs",
      "2562047h47m16.854775807s",
    ]) {
      const parsed = parseGoDuration(text);
      assert.ok(parsed.ok);
      assert.equal(goDurationText(parsed.nanos), text);
    }
    assert.equal(goDurationText(-(2n ** 63n)), "-2562047h47m16.854775808s");
  });
});
