import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./yaml.js";

test("files of YAML that are broken in every way are read or refused", () => {
  const { cases, sound, faults } = run(10, 7, 4_000);
  assert.deepEqual(faults, []);
  assert.ok(sound > cases / 10 && sound < (cases * 9) / 10, `${sound} of ${cases} are read`);
});
