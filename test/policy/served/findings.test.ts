/** What Audit found as annotations of the answer. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { rawQuestion } from "../../../src/admission/decode.js";
import { validationFailure, withFailures } from "../../../src/policy/audit-annotations.js";
import type { Found, Outcome, PolicyMode } from "../../../src/policy/index.js";
import { joinVerdicts } from "../../../src/policy/served/joined-verdict.js";
import type { ServedPolicy } from "../../../src/policy/served/policy-set.js";
import { decide, type Verdict } from "../../../src/policy/served/verdict.js";

const audit = (message: string, more: Partial<Found> = {}): Found => ({
  action: "Audit",
  message,
  policy: "p",
  binding: "b",
  index: 1,
  actions: ["Audit"],
  ...more,
});

const entryOf = (id: string, mode: PolicyMode = "protect"): ServedPolicy => {
  const policy = {
    id,
    kind: "cel",
    implementation: "fake",
    immediate: true,
    evaluate: (): Outcome => ({ verdict: "allow" }),
  } as const;
  return { id, policy, mode, allowedToMutate: false };
};

const decided = (outcome: Outcome, entry = entryOf("e")): Verdict =>
  decide(entry, rawQuestion({}), outcome, "validate", {
    milliseconds: 0,
    observations: [],
    deadline: Number.POSITIVE_INFINITY,
  });

const VALUE = '[{"message":"m","policy":"p","binding":"b","expressionIndex":1,"validationActions":["Audit"]}]';

describe("an audit annotation with what Audit found", () => {
  test("stands in an answer that allows, denies, fails, and in monitor mode", () => {
    const found = [audit("m")];
    for (const outcome of [
      { verdict: "allow", found },
      { verdict: "deny", found },
      { verdict: "error", message: "x", cause: "trap", found },
      { verdict: "skip", reason: "r", found },
    ] as const) {
      for (const mode of ["protect", "monitor"] as const) {
        const { response } = decided(outcome, entryOf("e", mode));
        assert.deepEqual(response.auditAnnotations, { validation_failure: VALUE }, `${outcome.verdict} ${mode}`);
        assert.equal(response.warnings, undefined);
      }
    }
  });

  test("is one for several failures, as the API server writes it, and Warn alone has none", () => {
    const { response } = decided({ verdict: "allow", found: [audit("m"), audit("<n>", { index: 0 })] });
    const list = JSON.parse(response.auditAnnotations?.validation_failure ?? "") as { message: string }[];
    assert.deepEqual(
      list.map(({ message }) => message),
      ["m", "<n>"],
    );
    assert.ok(response.auditAnnotations?.validation_failure?.includes("\\u003cn\\u003e"));
    assert.equal(
      decided({ verdict: "allow", found: [audit("m", { action: "Warn" })] }).response.auditAnnotations,
      undefined,
    );
    const own = { verdict: "allow", found: [{ action: "Audit", message: "m" }] } as const;
    assert.equal(decided(own).response.auditAnnotations, undefined, "the policy has one of its own");
  });

  test("of members is one each, beside the annotations of their own, which keep their keys", () => {
    const found = [audit("m", { member: "a" }), audit("m", { member: "in/a" }), audit("m", { member: "a" })];
    const { response } = decided({ verdict: "allow", auditAnnotations: { "a.validation_failure": "own" }, found });
    const {
      "a.validation_failure": own,
      "in.a.validation_failure": inner,
      ...others
    } = response.auditAnnotations ?? {};
    assert.deepEqual([own, inner], ["own", VALUE]);
    assert.equal(Object.keys(others).length, 1);
    for (const [key, value] of Object.entries(others)) {
      assert.match(key, /^[0-9a-f]{8}\.validation_failure$/);
      assert.equal((JSON.parse(value) as unknown[]).length, 2);
    }
  });

  test("of a set's policies has the policy's name before it", () => {
    const members = ["one", "two"].map((id) =>
      decided({ verdict: "allow", found: [audit("m", { member: "x" })] }, entryOf(id)),
    );
    const set = { id: "set/h", immediate: true, members: members.map(({ entry }) => entry) };
    const { response } = joinVerdicts(set, "u", members, { milliseconds: 0, deadline: 0 });
    assert.deepEqual(response.auditAnnotations, {
      "one.x.validation_failure": VALUE,
      "two.x.validation_failure": VALUE,
    });
    assert.equal(response.allowed, true);
  });

  test("is bounded: fifty entries, 5 KiB a message, 64 KiB together", () => {
    const many = JSON.parse(validationFailure(Array.from({ length: 60 }, () => audit("m"))) ?? "") as unknown[];
    assert.equal(many.length, 50);
    const long = validationFailure(Array.from({ length: 60 }, () => audit("é".repeat(10_000)))) ?? "";
    assert.ok(Buffer.byteLength(long) <= 65_536);
    const [first, ...others] = JSON.parse(long) as { message: string }[];
    assert.deepEqual([Buffer.byteLength(first?.message ?? ""), others.length > 5], [5_120, true]);
  });

  test("is not there when nothing was found", () => {
    assert.equal(withFailures(undefined, []), undefined);
    assert.deepEqual(withFailures({ a: "b" }, []), { a: "b" });
  });
});
