import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { admissionQuestion, rawQuestion } from "../../../src/admission/decode.js";
import { encodeAdmissionReview } from "../../../src/admission/encode.js";
import type { Outcome } from "../../../src/policy/outcome.js";
import type { ServedPolicy } from "../../../src/policy/served/policy-set.js";
import { decide, type RequestOrigin } from "../../../src/policy/served/verdict.js";

const POD = admissionQuestion({
  uid: "u",
  kind: { group: "", version: "v1", kind: "Pod" },
  resource: { group: "", version: "v1", resource: "pods" },
  operation: "CREATE",
  userInfo: {},
});

describe("what a policy tells about how it came to its verdict", () => {
  const told = { decision: "Denied", policies: [] };
  const account = () => told;
  const outcomes: readonly Outcome[] = [
    { verdict: "allow", account },
    { verdict: "deny", message: "no", account },
    { verdict: "skip", reason: "not for it", account },
    { verdict: "error", message: "boom", cause: "expression", account },
    { verdict: "error", message: "boom", cause: "unavailable", final: true, account },
  ];
  const responseTo = (outcome: Outcome, origin: RequestOrigin, more: Partial<ServedPolicy> = {}) => {
    const policy = { id: "p", kind: "cel", implementation: "fake", immediate: true, evaluate: () => outcome } as const;
    const entry: ServedPolicy = { id: "p", policy, mode: "protect", allowedToMutate: false, ...more };
    const review = origin === "validate_raw" ? rawQuestion({}) : POD;
    return decide(entry, review, outcome, origin, {
      milliseconds: 0,
      observations: [],
      deadline: Number.POSITIVE_INFINITY,
    }).response;
  };

  test("is for those who ask with any JSON, whatever the verdict and its mode", () => {
    for (const outcome of outcomes) {
      for (const more of [{}, { mode: "monitor" }, { message: "custom" }] as const) {
        const response = responseTo(outcome, "validate_raw", more);
        assert.equal(response.account, told);
        const { account: _, ...without } = outcome;
        const { account: __, ...others } = response;
        assert.deepEqual(others, responseTo(without, "validate_raw", more), "it changes nothing else");
      }
    }
    assert.ok(!("account" in responseTo({ verdict: "allow" }, "validate_raw")));
  });

  test("is not for admission", () => {
    for (const outcome of outcomes) {
      for (const origin of ["validate", "audit"] as const) {
        for (const mode of ["protect", "monitor"] as const) {
          const response = responseTo(outcome, origin, { mode });
          assert.ok(!encodeAdmissionReview(response).includes("decision"));
          assert.ok(!("account" in response));
        }
      }
    }
  });
});
