import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./request-policies.js";

test("CertificateRequestPolicies approve what a second, simple implementation lets them approve, and nothing else", async () => {
  const { cases, results, faults } = await run(Number.POSITIVE_INFINITY, 3, 1_500, undefined);
  assert.deepEqual(faults, []);
  for (const result of ["Approved", "Denied"]) assert.ok((results.get(result) ?? 0) > cases / 8, `few are ${result}`);
});
