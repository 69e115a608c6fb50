import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./printed-yaml.js";

test("whatever is printed as YAML is read as what it is, by Kubernetes' rules, YAML 1.1 and 1.2", () => {
  assert.deepEqual(run(Number.POSITIVE_INFINITY, 11, 1_000), { cases: 1_000, faults: [] });
});
