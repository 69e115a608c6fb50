import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { admissionQuestion, rawQuestion } from "../../src/admission/decode.js";
import { createEvaluator, type Evaluation, type EvaluatorOptions } from "../../src/evaluation/evaluator.js";
import { createPolicySet, type ServedPolicy } from "../../src/evaluation/policy-set.js";
import type { EvaluationContext } from "../../src/policy/policy.js";
import { entry, immediate } from "../server/fake-policy.js";
import { ask } from "../support/asking.js";

const POD = admissionQuestion({
  uid: "u",
  kind: { group: "", version: "v1", kind: "Pod" },
  resource: { group: "", version: "v1", resource: "pods" },
  operation: "CREATE",
  namespace: "kube-system",
  userInfo: {},
});

function evaluatorOf(entries: readonly ServedPolicy[], options: Partial<EvaluatorOptions> = {}) {
  return createEvaluator(createPolicySet(entries), { policyTimeout: 2000, ...options });
}

async function settled(evaluation: Evaluation | Promise<Evaluation> | undefined): Promise<Evaluation> {
  assert.ok(evaluation !== undefined);
  return evaluation;
}

describe("evaluator (spec kubewarden.md 4)", () => {
  test("a policy that can answer at once is answered without a promise", () => {
    const evaluation = evaluatorOf([immediate("p", () => ({ verdict: "deny", message: "no" }))]).evaluate(
      "p",
      POD,
      "validate",
    );
    assert.ok(evaluation !== undefined && !(evaluation instanceof Promise));
    assert.deepEqual(evaluation.response, { uid: "u", allowed: false, status: { message: "no" } });
  });

  test("a policy that can't after all is waited for", async () => {
    const hesitant = immediate("p", () => ({ verdict: "allow" }));
    const policy = { ...hesitant.policy, evaluateNow: () => undefined };
    const evaluation = evaluatorOf([{ ...hesitant, policy }]).evaluate("p", POD, "validate");
    assert.ok(evaluation instanceof Promise);
    assert.equal((await evaluation).response.allowed, true);
  });

  test("unknown ids are undefined, also those of JavaScript objects", () => {
    for (const id of ["nope", "__proto__", "constructor", ""]) {
      assert.equal(evaluatorOf([]).evaluate(id, POD, "validate"), undefined);
    }
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
    const { response } = await settled(
      evaluatorOf([mutating]).evaluate("p", rawQuestion({ self: { self: {} } }), "validate"),
    );
    assert.equal(response.allowed, false);
    assert.equal(response.status?.code, 500);
  });

  test("a policy that doesn't answer is answered for shortly after its limit, and told to stop", async () => {
    let context: EvaluationContext | undefined;
    const silent = entry(
      "p",
      (_review, given) => {
        context = given;
        return new Promise(() => {});
      },
      { timeout: 30 },
    );
    const started = performance.now();
    const evaluation = await settled(evaluatorOf([silent]).evaluate("p", POD, "validate"));
    const took = performance.now() - started;
    assert.ok(took >= 75 && took < 400, `${took} ms`);
    assert.equal(
      evaluation.response.status?.message,
      "Policy execution interrupted because it exceeded the allowed execution time",
    );
    assert.equal(evaluation.response.status?.code, 500);
    assert.equal(context?.signal.aborted, true);
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
    await limited.evaluate("own", POD, "validate");
    await limited.evaluate("default", POD, "validate");
    await limited.evaluate("default", POD, "validate", 1200);
    await evaluatorOf(entries, { policyTimeout: Number.POSITIVE_INFINITY, now: () => 1000 }).evaluate(
      "default",
      POD,
      "validate",
    );
    assert.deepEqual(deadlines, [1500, 3000, 1200, Number.POSITIVE_INFINITY]);
  });

  test("the always-accepted namespace is not evaluated, but an unknown id stays unknown (4.6)", async () => {
    let runs = 0;
    const counting = immediate("p", () => {
      runs += 1;
      return { verdict: "deny" };
    });
    const evaluator = evaluatorOf([counting], { alwaysAcceptNamespace: "kube-system" });
    const { response } = await settled(ask(evaluator, "p", POD, "audit"));
    assert.deepEqual(response, { uid: "u", allowed: true });
    assert.equal(runs, 0);
    assert.equal(ask(evaluator, "nope", POD, "validate"), undefined);
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
    assert.equal(ask(evaluator, "p", POD, "validate"), undefined);
    assert.equal((await settled(ask(evaluator, "q", POD, "validate"))).response.allowed, true);
    assert.equal((await pending).response.status?.message, "old");
  });

  test("what is observed of members comes with the evaluation", async () => {
    const group = entry("g", (_review, { observe }) => {
      observe?.({ policy: "g/a", outcome: { verdict: "allow" }, milliseconds: 1, member: true });
      return { verdict: "allow" };
    });
    const { observations } = await settled(evaluatorOf([group]).evaluate("g", POD, "validate"));
    assert.deepEqual(
      observations.map(({ policy }) => policy),
      ["g/a"],
    );
  });
});
