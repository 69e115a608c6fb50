import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./kyverno-decisions.js";

test("Kyverno's policies come to what their expressions come to, whatever the request is like", async () => {
  const { cases, verdicts, taken, faults } = await run(Number.POSITIVE_INFINITY, 5, 3_000);
  assert.deepEqual(faults, []);
  for (const verdict of ["allow", "deny", "error", "skip"]) {
    assert.ok((verdicts.get(verdict) ?? 0) > cases / 50, `${verdict}: ${JSON.stringify([...verdicts])} of ${cases}`);
  }
  assert.ok(taken > 0, "no document with a mistake was taken");
});
