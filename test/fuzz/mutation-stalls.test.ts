import assert from "node:assert/strict";
import { test } from "node:test";
import { hasMainThreadTime } from "../support/main-thread-time.js";
import { ALLOWANCE, LIMIT_MS } from "./answer-stalls.js";
import { mutationStalls } from "./mutation-stalls.js";

test("no mutation of a large object holds the main thread", { skip: !hasMainThreadTime() }, async () => {
  assert.deepEqual(await mutationStalls(LIMIT_MS * ALLOWANCE), []);
});
