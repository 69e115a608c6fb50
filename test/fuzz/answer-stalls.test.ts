import assert from "node:assert/strict";
import { test } from "node:test";
import { hasMainThreadTime } from "../support/main-thread-time.js";
import { ALLOWANCE, LIMIT_MS, run } from "./answer-stalls.js";

const SECONDS = 3;
/** However busy the machine is. */
const LEAST = 12;

test("no answer of a guest holds the main thread", { skip: !hasMainThreadTime() }, async () => {
  const { answers, read, worst } = await run(SECONDS, 1, LEAST);
  assert.ok(answers >= LEAST && read > 0, `${answers} answers, ${read} of them read`);
  assert.ok(worst.milliseconds < LIMIT_MS * ALLOWANCE, `${worst.milliseconds} ms: ${worst.answer}`);
});
