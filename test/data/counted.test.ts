import assert from "node:assert/strict";
import { test } from "node:test";
import { counted } from "../../src/data/counted.js";

test("one is singular, none and several are plural", () => {
  assert.deepEqual(
    [counted(0, "error"), counted(1, "error"), counted(2, "error"), counted(1, "policy", "policies")],
    ["0 errors", "1 error", "2 errors", "1 policy"],
  );
  assert.equal(counted(3, "policy", "policies"), "3 policies");
});
