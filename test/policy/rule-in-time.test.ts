import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Approving, isApproving, type Ruling } from "../../src/policy/approving.js";
import { EvaluationRun } from "../../src/policy/evaluation-run.js";
import type { Policy } from "../../src/policy/policy.js";
import { ruleInTime } from "../../src/policy/rule-in-time.js";

const APPROVED: Ruling = { result: "Approved", message: "" };

const plain: Policy = {
  id: "p",
  kind: "cel",
  implementation: "test",
  immediate: true,
  evaluate: () => ({ verdict: "allow" }),
};
const policy = (review: Approving["review"]): Policy & Approving => ({ ...plain, review, denies: true });

async function rule(review: Approving["review"], deadline = Number.POSITIVE_INFINITY, now: () => number = () => 0) {
  const defects: unknown[] = [];
  const run = new EvaluationRun(deadline, (_, error) => defects.push(error));
  const ruling = await ruleInTime(policy(review), {}, run, now);
  return { ruling, run, defects };
}

describe("a policy that is asked for a ruling", () => {
  test("is one that can review", () => {
    assert.ok(isApproving(policy(() => APPROVED)));
    assert.ok(!isApproving(plain));
  });

  test("rules at once or later", async () => {
    assert.equal((await rule(() => APPROVED)).ruling, APPROVED);
    assert.equal((await rule(async () => APPROVED)).ruling, APPROVED);
  });

  test("that throws, rejects or answers anything else has failed, and that is a defect", async () => {
    const reviews: Approving["review"][] = [
      () => {
        throw new Error("broken");
      },
      () => Promise.reject(new Error("broken")),
      (() => undefined) as unknown as Approving["review"],
      (async () => ({ result: "Yes" })) as unknown as Approving["review"],
    ];
    for (const review of reviews) {
      const { ruling, defects } = await rule(review);
      assert.deepEqual(ruling, { result: "Error", cause: "the policy failed unexpectedly" });
      assert.equal(defects.length, 1);
    }
  });

  test("that is late has failed, whatever it says", async () => {
    let time = 0;
    const late = { result: "Error", cause: "the review exceeded its time" };
    const slow = (): Ruling => {
      time = 11;
      return APPROVED;
    };
    assert.deepEqual((await rule(slow, 10, () => time)).ruling, late);
    const { ruling, run } = await rule(() => new Promise(() => {}), 1);
    assert.deepEqual(ruling, late);
    assert.ok(run.signal.aborted);
  });
});
