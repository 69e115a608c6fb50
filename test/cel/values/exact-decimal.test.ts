import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fixedDigits, scientificDigits } from "../../../src/cel/values/exact-decimal.js";

describe("doubles in decimal", () => {
  test("are rounded half to even on their exact value", () => {
    assert.deepEqual(fixedDigits(2.5, 0), ["2", ""]);
    assert.deepEqual(fixedDigits(0.25, 1), ["0", "2"]);
    assert.deepEqual(fixedDigits(2.675, 2), ["2", "67"]);
    assert.deepEqual(fixedDigits(1e21, 1), ["1000000000000000000000", "0"]);
    assert.deepEqual(fixedDigits(0.1, 20), ["0", "10000000000000000555"]);
    assert.deepEqual(fixedDigits(5e-324, 3), ["0", "000"]);
  });

  test("have one digit before the point in scientific notation", () => {
    assert.deepEqual(scientificDigits(0, 2), ["0", "00", 0]);
    assert.deepEqual(scientificDigits(9.9999999, 3), ["1", "000", 1]);
    assert.deepEqual(scientificDigits(1e-7, 20), ["9", "99999999999999954748", -8]);
    assert.deepEqual(scientificDigits(1e-7, 6), ["1", "000000", -7]);
    assert.deepEqual(scientificDigits(1e300, 6), ["1", "000000", 300]);
  });
});
