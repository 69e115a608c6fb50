import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createRuleCompiler } from "../../../src/kinds/certificate-request-policy/dialect.js";
import { answerAdmission, type PolicyAnswer } from "../../../src/kinds/certificate-request-policy/webhook.js";

const GOOD = {
  apiVersion: "policy.cert-manager.io/v1alpha1",
  kind: "CertificateRequestPolicy",
  metadata: { name: "p" },
  spec: { selector: { issuerRef: {} } },
};
const UNSELECTIVE = { ...GOOD, spec: { selector: {} } };
const UNREADABLE = { ...GOOD, spec: { ...GOOD.spec, constraints: { maxDuration: "1d" } } };

const answer = (operation: string, object?: unknown, oldObject?: unknown): PolicyAnswer =>
  answerAdmission({ operation, object, oldObject }, { compiler: createRuleCompiler() });

const ALLOWED = { allowed: true, code: 200 };
const codeOf = (found: PolicyAnswer) => [found.allowed, found.code];

describe("the policies' webhook", () => {
  test("accepts good policies, created and updated", () => {
    assert.deepEqual(answer("CREATE", GOOD), ALLOWED);
    assert.deepEqual(answer("UPDATE", GOOD, UNSELECTIVE), ALLOWED);
  });

  test("refuses what is no policy that anybody means, created and updated", () => {
    for (const found of [answer("CREATE", UNSELECTIVE), answer("UPDATE", UNSELECTIVE, GOOD)]) {
      assert.deepEqual([found.allowed, found.code, found.reason], [false, 403, "Forbidden"]);
      assert.match(found.message ?? "", /^spec\.selector: Required value: one of issuerRef or namespace/);
    }
  });

  test("accepts every deletion, and connections", () => {
    assert.deepEqual(answer("DELETE", undefined, UNREADABLE), ALLOWED);
    assert.deepEqual(answer("CONNECT"), ALLOWED);
  });

  test("does not decide other operations", () => {
    assert.deepEqual(answer("PATCH", GOOD), { allowed: false, code: 400, message: 'unknown operation "PATCH"' });
  });

  test("refuses what it cannot read, with Go's words for durations", () => {
    assert.deepEqual(answer("CREATE", UNREADABLE), {
      allowed: false,
      code: 400,
      message: 'time: unknown unit "d" in duration "1d"',
    });
    assert.deepEqual(codeOf(answer("UPDATE", GOOD, UNREADABLE)), [false, 400]);
    for (const object of [undefined, null, [], "x", 1])
      assert.deepEqual(codeOf(answer("CREATE", object)), [false, 400]);
  });

  test("tells a duration that is none before any wrong type, as Go's decoder stops there", () => {
    const spec = { allowed: { isCA: "x" }, constraints: { minDuration: "1h", maxDuration: "" }, selector: [] };
    assert.equal(answer("CREATE", { ...GOOD, spec }).message, 'time: invalid duration ""');
  });

  test("refuses other kinds and versions; an object that does not say what it is counts as one", () => {
    for (const other of [
      { ...GOOD, kind: "CertificateRequest" },
      { ...GOOD, apiVersion: "policy.cert-manager.io/v1" },
      { ...GOOD, apiVersion: "v1alpha1" },
      { ...GOOD, apiVersion: "a/b/c" },
    ]) {
      assert.deepEqual(codeOf(answer("CREATE", other)), [false, 400], JSON.stringify(other));
    }
    const { apiVersion, kind, ...rest } = GOOD;
    assert.deepEqual(answer("CREATE", rest), ALLOWED);
    assert.deepEqual(answer("CREATE", { ...rest, kind }), ALLOWED);
    assert.deepEqual(answer("CREATE", { ...rest, apiVersion }), ALLOWED);
  });

  test("does not look at the schema: the API server has", () => {
    const spec = { ...GOOD.spec, unknown: 1, allowed: { usages: ["juggling"], dnsNames: null } };
    assert.deepEqual(answer("CREATE", { ...GOOD, spec }), ALLOWED);
  });
});
