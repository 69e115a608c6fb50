import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./printed-yaml.js";

test("whatever is printed as YAML is read as what it is, by Kubernetes' rules, YAML 1.1 and 1.2", () => {
  assert.deepEqual(run(30, 11, 2_000), { cases: 2_000, faults: [] });
});
