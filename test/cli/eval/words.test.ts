import assert from "node:assert/strict";
import { test } from "node:test";
import { timeText } from "../../../src/cli/eval/words.js";

test("times have two digits, and no exponent however short or long they are", () => {
  const times = [0, 0.00012, 0.0099, 0.00999, 0.31, 0.999, 1, 3.14, 9.96, 99.6, 100, 999.4, 999.9, 12_340, 4_000_000];
  assert.deepEqual(times.map(timeText), [
    "0.0 µs",
    "0.12 µs",
    "9.9 µs",
    "0.010 ms",
    "0.31 ms",
    "1.0 ms",
    "1.0 ms",
    "3.1 ms",
    "10 ms",
    "100 ms",
    "100 ms",
    "999 ms",
    "1.0 s",
    "12 s",
    "4000 s",
  ]);
});
