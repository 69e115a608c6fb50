import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bytesOf } from "../wat.js";
import { compareMarked } from "./marked.js";
import { randomStores } from "./random-stores.js";

/** Modules of each run of the tests; `test/fuzz/metered-modules.ts marked` compares as many as one has time for. */
const RANDOM_MODULES = 40;
const SHIFT = 13;

describe("a module that marks what it writes to", () => {
  test("does what it does without, and marks every byte that it changes, whatever the module", () => {
    for (let seed = 0; seed < RANDOM_MODULES; seed++) {
      const text = randomStores(seed);
      assert.deepEqual(compareMarked(bytesOf(text), seed, SHIFT), { kind: "equal" }, text);
    }
  });
});
