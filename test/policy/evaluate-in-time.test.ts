import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BROKEN, DEADLINE_GRACE_MS, evaluateInTime, TIMED_OUT } from "../../src/policy/evaluate-in-time.js";
import { EvaluationRun } from "../../src/policy/evaluation-run.js";
import type { EvaluationContext, Outcome, Policy, Review } from "../../src/policy/index.js";

const REVIEW: Review = { kind: "raw", payload: {}, requestBytes: () => Buffer.from("{}") };
const ALLOW: Outcome = { verdict: "allow" };

const policyOf = (evaluate: (context: EvaluationContext) => Outcome | Promise<Outcome>): Policy => ({
  id: "p",
  kind: "cel",
  implementation: "fake",
  immediate: true,
  evaluate: (_review, context) => evaluate(context),
});

/** A clock that a policy moves. */
function clock() {
  let at = 0;
  return {
    now: () => at,
    pass: (milliseconds: number) => {
      at += milliseconds;
    },
  };
}

describe("a policy that is asked in time", () => {
  const late: Readonly<Record<string, Outcome>> = {
    allow: ALLOW,
    deny: { verdict: "deny", message: "no" },
    skip: { verdict: "skip", reason: "no rule" },
    error: { verdict: "error", message: "boom", cause: "trap" },
  };
  for (const [name, outcome] of Object.entries(late)) {
    test(`has timed out when its ${name} comes after the deadline, at once or by a promise`, async () => {
      for (const wait of [false, true]) {
        const { now, pass } = clock();
        const policy = policyOf(() => {
          pass(101);
          return wait ? Promise.resolve(outcome) : outcome;
        });
        assert.equal(await evaluateInTime(policy, REVIEW, new EvaluationRun(100), now), TIMED_OUT);
      }
    });

    test(`is believed when its ${name} comes at the deadline`, async () => {
      const { now, pass } = clock();
      const policy = policyOf(() => {
        pass(100);
        return outcome;
      });
      assert.equal(await evaluateInTime(policy, REVIEW, new EvaluationRun(100), now), outcome);
    });
  }

  test("keeps a failure that even monitor mode must not pass, however late it comes", async () => {
    const final: Outcome = { verdict: "error", message: "not loaded", cause: "unavailable", final: true };
    for (const wait of [false, true]) {
      const { now, pass } = clock();
      const policy = policyOf(() => {
        pass(101);
        return wait ? Promise.resolve(final) : final;
      });
      assert.equal(await evaluateInTime(policy, REVIEW, new EvaluationRun(100), now), final);
    }
  });

  for (const [name, answer] of Object.entries({
    nothing: undefined,
    null: null,
    true: true,
    "a text": "allow",
    "an unknown verdict": { verdict: "Allow" },
    "no verdict": { allowed: true },
  })) {
    test(`has failed when it answers ${name}, at once or by a promise, and that is told`, async () => {
      for (const wait of [false, true]) {
        const told: string[] = [];
        const run = new EvaluationRun(Number.POSITIVE_INFINITY, (policy, error) => told.push(`${policy}: ${error}`));
        const policy = policyOf(() => (wait ? Promise.resolve(answer as never) : (answer as never)));
        assert.equal(await evaluateInTime(policy, REVIEW, run, () => 0), BROKEN);
        assert.deepEqual(told, ["p: TypeError: what the policy answered is not an outcome"]);
      }
    });
  }

  test("keeps its own words about its time-out", async () => {
    const { now, pass } = clock();
    const own: Outcome = { verdict: "error", message: "guest too slow", cause: "timeout" };
    const policy = policyOf(() => {
      pass(1000);
      return own;
    });
    assert.equal(await evaluateInTime(policy, REVIEW, new EvaluationRun(100), now), own);
  });

  test("is given a moment to tell of its time-out itself: it says more", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const own: Outcome = { verdict: "error", message: "guest too slow", cause: "timeout" };
    const policy = policyOf(() => new Promise((resolve) => setTimeout(() => resolve(own), DEADLINE_GRACE_MS)));
    const outcome = evaluateInTime(policy, REVIEW, new EvaluationRun(1), () => 0);
    t.mock.timers.tick(DEADLINE_GRACE_MS);
    assert.equal(await outcome, own);
  });

  test("is given up a little after its deadline, and told so", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const run = new EvaluationRun(5);
    let signal: AbortSignal | undefined;
    const policy = policyOf((context) => {
      signal = context.signal;
      return new Promise(() => {});
    });
    const outcome = evaluateInTime(policy, REVIEW, run, () => 0);
    t.mock.timers.tick(5 + DEADLINE_GRACE_MS - 1);
    assert.notEqual(signal?.aborted, true, "its own time-out had no chance");
    t.mock.timers.tick(1);
    assert.equal(await outcome, TIMED_OUT);
    assert.equal(signal?.aborted, true);
  });

  test("that throws or rejects has failed, and the defect is told", async () => {
    const defects: string[] = [];
    const run = () =>
      new EvaluationRun(Number.POSITIVE_INFINITY, (policy, error) => defects.push(`${policy} ${error}`));
    const throwing = policyOf(() => {
      throw new Error("thrown");
    });
    const rejecting = policyOf(() => Promise.reject(new Error("rejected")));
    assert.equal(await evaluateInTime(throwing, REVIEW, run(), () => 0), BROKEN);
    assert.equal(await evaluateInTime(rejecting, REVIEW, run(), () => 0), BROKEN);
    assert.deepEqual(defects, ["p Error: thrown", "p Error: rejected"]);
  });
});

describe("the run of a member", () => {
  test("ends with the evaluation that it is part of, by deadline and by signal", () => {
    const whole = new EvaluationRun(100);
    const member = EvaluationRun.within(whole, 500);
    assert.equal(member.deadline, 100);
    assert.equal(EvaluationRun.within(whole, 50).deadline, 50);
    const { signal } = member;
    whole.abort();
    assert.equal(signal.aborted, true);
    assert.equal(EvaluationRun.within(whole, 50).signal.aborted, true);
  });

  test("does not end the evaluation that it is part of", () => {
    const whole = new EvaluationRun(100);
    const member = EvaluationRun.within(whole, 50);
    const { signal } = whole;
    member.abort();
    assert.deepEqual([member.signal.aborted, signal.aborted], [true, false]);
  });

  test("is observed by the evaluation that it is part of", () => {
    const whole = new EvaluationRun(100);
    EvaluationRun.within(whole, 50).observe({ policy: "g/m", outcome: ALLOW, milliseconds: 1, member: true });
    assert.deepEqual(
      whole.observations.map(({ policy }) => policy),
      ["g/m"],
    );
  });
});
