import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { admissionQuestion, rawQuestion } from "../../../src/admission/decode.js";
import { DEADLINE_GRACE_MS, TIMED_OUT } from "../../../src/policy/evaluate-in-time.js";
import type { EvaluationContext } from "../../../src/policy/policy.js";
import { createEvaluator, type EvaluatorOptions } from "../../../src/policy/served/evaluator.js";
import { createPolicySet, type ServedPolicy } from "../../../src/policy/served/policy-set.js";
import type { Verdict } from "../../../src/policy/served/verdict.js";
import { entry, immediate } from "../../server/fake-policy.js";
import { ask } from "../../support/asking.js";

const POD = admissionQuestion({
  uid: "u",
  kind: { group: "", version: "v1", kind: "Pod" },
  resource: { group: "", version: "v1", resource: "pods" },
  operation: "CREATE",
  namespace: "kube-system",
  userInfo: {},
});

function evaluatorOf(entries: readonly ServedPolicy[], options: Partial<EvaluatorOptions> = {}) {
  return createEvaluator(createPolicySet(entries), { policyTimeout: 60_000, ...options });
}

async function settled(evaluation: Verdict | Promise<Verdict>): Promise<Verdict> {
  return evaluation;
}

describe("evaluator (spec kubewarden.md 4)", () => {
  test("a policy that can answer at once is answered without a promise", () => {
    const evaluation = ask(
      evaluatorOf([immediate("p", () => ({ verdict: "deny", message: "no" }))]),
      "p",
      POD,
      "validate",
    );
    assert.ok(!(evaluation instanceof Promise));
    assert.deepEqual(evaluation.response, { uid: "u", allowed: false, status: { message: "no" } });
  });

  test("a policy that can't after all is waited for", async () => {
    const hesitant = immediate("p", () => ({ verdict: "allow" }));
    const policy = { ...hesitant.policy, evaluate: async () => ({ verdict: "allow" }) as const };
    const evaluation = ask(evaluatorOf([{ ...hesitant, policy }]), "p", POD, "validate");
    assert.ok(evaluation instanceof Promise);
    assert.equal((await evaluation).response.allowed, true);
  });

  test("a policy that throws or rejects is a denial, and a defect that is told", async () => {
    const defects: string[] = [];
    const evaluator = evaluatorOf(
      [
        immediate("throws", () => {
          throw new Error("bug");
        }),
        entry("rejects", () => Promise.reject(new Error("bug"))),
      ],
      { onDefect: (policy, error) => defects.push(`${policy}: ${String(error)}`) },
    );
    for (const id of ["throws", "rejects"]) {
      const { response } = await settled(ask(evaluator, id, POD, "validate"));
      assert.equal(response.allowed, false);
      assert.equal(response.status?.code, 500);
    }
    assert.deepEqual(defects, ["throws: Error: bug", "rejects: Error: bug"]);
  });

  test("an outcome that can't be answered is a denial", async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const mutating = entry("p", () => ({ verdict: "allow", mutation: { kind: "object", object: cyclic } }), {
      allowedToMutate: true,
    });
    const defects: string[] = [];
    const evaluator = evaluatorOf([mutating], { onDefect: (policy) => defects.push(policy) });
    const { response } = await settled(ask(evaluator, "p", rawQuestion({ self: { self: {} } }), "validate"));
    assert.equal(response.allowed, false);
    assert.equal(response.status?.code, 500);
    assert.deepEqual(defects, ["p"]);
  });

  test("a policy that doesn't answer is answered for shortly after its limit, and told to stop", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    let context: EvaluationContext | undefined;
    const silent = entry(
      "p",
      (_review, given) => {
        context = given;
        return new Promise(() => {});
      },
      { timeout: 30 },
    );
    let isAnswered = false;
    const answer = settled(ask(evaluatorOf([silent], { now: () => 1000 }), "p", POD, "validate")).finally(() => {
      isAnswered = true;
    });
    t.mock.timers.tick(30 + DEADLINE_GRACE_MS - 1);
    await new Promise(setImmediate);
    assert.equal(isAnswered, false);
    t.mock.timers.tick(1);
    const evaluation = await answer;
    assert.equal(
      evaluation.response.status?.message,
      "Policy execution interrupted because it exceeded the allowed execution time",
    );
    assert.equal(evaluation.response.status?.code, 500);
    assert.equal(context?.signal.aborted, true);
  });

  test("a time-out says in its detail how long the policy had, and who set that", async () => {
    const late = { verdict: "error", message: "too late", cause: "timeout" } as const;
    const entries = [
      entry("own", () => late, { timeout: 500 }),
      entry("default", () => late),
      entry("loaded", () => late, { timeout: 2000 }),
    ];
    const evaluator = evaluatorOf(entries, { policyTimeout: 2000, now: () => 1000 });
    const detailOf = async (id: string, deadline?: number) =>
      (await settled(ask(evaluator, id, POD, "validate", deadline))).outcome.detail;
    assert.equal(
      await detailOf("own"),
      "the limit is 0.5 s, set by timeoutEvalSeconds, of the entry or of its members together",
    );
    assert.equal(await detailOf("default"), "the limit is 2 s, set by --policy-timeout");
    const either = "the limit is 2 s, set by --policy-timeout, or timeoutEvalSeconds as long as that";
    assert.equal(await detailOf("loaded"), either);
    assert.match((await detailOf("default", 1200)) ?? "", /^the time that the caller gave was up/);
  });

  test("a client that goes is no acceptance, not even in monitor mode, and the policy is told to stop", async () => {
    let context: EvaluationContext | undefined;
    const silent = entry(
      "p",
      (_review, given) => {
        context = given;
        return new Promise(() => {});
      },
      { mode: "monitor" },
    );
    const evaluator = evaluatorOf([silent, immediate("now", () => ({ verdict: "allow" }))]);
    let abandon: () => void = () => assert.fail("nobody asked");
    const pending = settled(
      ask(evaluator, "p", POD, "validate", undefined, (given) => {
        abandon = given;
      }),
    );
    assert.equal(context?.signal.aborted, false);
    abandon();
    const { outcome, response } = await pending;
    assert.deepEqual([outcome.verdict, response.allowed, response.status?.code], ["error", false, 499]);
    assert.equal(response.status?.message, "the client closed the connection before it had an answer");
    assert.equal(context?.signal.aborted, true);
    await ask(evaluator, "now", POD, "validate", undefined, () => assert.fail("it is answered already"));
  });

  test("the deadline is the entry's limit, else the evaluator's, else none; an impatient caller makes it earlier", async () => {
    const deadlines: number[] = [];
    const note = (_review: unknown, { deadline }: EvaluationContext) => {
      deadlines.push(deadline);
      return { verdict: "allow" } as const;
    };
    const entries = [entry("own", note, { timeout: 500 }), entry("default", note)];
    const limited = evaluatorOf(entries, { policyTimeout: 2000, now: () => 1000 });
    await ask(limited, "own", POD, "validate");
    await ask(limited, "default", POD, "validate");
    await ask(limited, "default", POD, "validate", 1200);
    await ask(
      evaluatorOf(entries, { policyTimeout: Number.POSITIVE_INFINITY, now: () => 1000 }),
      "default",
      POD,
      "validate",
    );
    assert.deepEqual(deadlines, [1500, 3000, 1200, Number.POSITIVE_INFINITY]);
  });

  test("a verdict that waits until after its deadline to be sent is a time-out, whatever it says", async () => {
    let now = 1000;
    const denial = { verdict: "deny", message: "no" } as const;
    const entries = [immediate("yes", () => ({ verdict: "allow" })), immediate("no", () => denial)];
    const evaluator = evaluatorOf(entries, { policyTimeout: 100, now: () => now });
    const asked = { review: POD, origin: "validate" } as const;
    const [yes, no] = [await ask(evaluator, "yes", POD, "validate"), await ask(evaluator, "no", POD, "validate")];
    now = 1100;
    assert.equal(evaluator.whenSent(yes, asked), yes);
    now = 1101;
    for (const verdict of [yes, no]) {
      const { outcome, response, entry: served } = evaluator.whenSent(verdict, asked);
      assert.deepEqual([outcome, response.allowed, response.status?.code], [TIMED_OUT, false, 500]);
      assert.equal(served, verdict.entry);
    }
  });

  test("the always-accepted namespace is not evaluated (4.6)", async () => {
    let runs = 0;
    const counting = immediate("p", () => {
      runs += 1;
      return { verdict: "deny" };
    });
    const evaluator = evaluatorOf([counting], { alwaysAcceptNamespace: "kube-system" });
    const { entry: served, ...verdict } = await settled(ask(evaluator, "p", POD, "audit"));
    const response = { uid: "u", allowed: true };
    const outcome = { verdict: "allow" };
    const deadline = Number.POSITIVE_INFINITY;
    assert.deepEqual(verdict, { outcome, vanilla: response, response, milliseconds: 0, observations: [], deadline });
    assert.equal(served, counting);
    assert.equal(runs, 0);
    assert.equal(
      (await settled(ask(evaluator, "p", rawQuestion({ namespace: "kube-system" }), "validate_raw"))).response.allowed,
      false,
    );
    const namespaceItself = admissionQuestion({ ...POD.request, namespace: "other", name: "kube-system" });
    assert.equal((await settled(ask(evaluator, "p", namespaceItself, "validate"))).response.allowed, false);
  });

  test("requests under way finish on the set they began with", async () => {
    const slow = entry("p", async () => {
      await sleep(20);
      return { verdict: "deny", message: "old" };
    });
    const evaluator = evaluatorOf([slow]);
    const pending = settled(ask(evaluator, "p", POD, "validate"));
    evaluator.use(createPolicySet([immediate("q", () => ({ verdict: "allow" }))], 2));
    assert.equal(evaluator.policies.entries.has("p"), false);
    assert.equal((await settled(ask(evaluator, "q", POD, "validate"))).response.allowed, true);
    assert.equal((await pending).response.status?.message, "old");
  });

  test("the time from call to outcome is told", async () => {
    const times = [1_000, 1_040];
    const evaluator = evaluatorOf([immediate("p", () => ({ verdict: "allow" }))], {
      now: () => times.shift() ?? 1_040,
    });
    assert.equal((await settled(ask(evaluator, "p", POD, "validate"))).milliseconds, 40);
  });

  test("the first set of policies has the generation 1", () => {
    assert.equal(createPolicySet([]).generation, 1);
  });

  test("what is observed of members comes with the evaluation", async () => {
    const group = entry("g", (_review, { observe }) => {
      observe?.({ policy: "g/a", outcome: { verdict: "allow" }, milliseconds: 1, member: true });
      return { verdict: "allow" };
    });
    const { observations } = await settled(ask(evaluatorOf([group]), "g", POD, "validate"));
    assert.deepEqual(
      observations.map(({ policy }) => policy),
      ["g/a"],
    );
  });
});
