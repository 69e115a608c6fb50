import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { askTogether, mostSevere } from "../../src/kinds/ask-together.js";
import type { Outcome, Policy, Review } from "../../src/policy/index.js";

const REVIEW: Review = { kind: "raw", payload: {}, requestText: () => "{}" };
const ALLOW: Outcome = { verdict: "allow" };
const DENY: Outcome = { verdict: "deny", message: "no", code: 403 };
const ERROR: Outcome = { verdict: "error", message: "boom", cause: "expression" };
const SKIP: Outcome = { verdict: "skip", reason: "no resource rule matches" };

const of = (...outcomes: Outcome[]): Outcome => mostSevere(outcomes);

describe("one outcome of several policies", () => {
  test("is a denial when any denies, a failure when any fails and none denies, else what applies", () => {
    const verdicts = (outcomes: Outcome[]) => mostSevere(outcomes).verdict;
    for (const others of [[], [ALLOW], [SKIP], [ALLOW, SKIP]]) {
      assert.equal(verdicts([...others, DENY, ERROR]), "deny");
      assert.equal(verdicts([ERROR, ...others, DENY]), "deny");
      assert.equal(verdicts([...others, ERROR]), "error");
    }
    assert.equal(verdicts([SKIP, ALLOW]), "allow");
    assert.equal(verdicts([SKIP, SKIP]), "skip");
  });

  test("has the first denial's words and every reason in order", () => {
    const outcome = of(ERROR, DENY, {
      verdict: "deny",
      message: "also no",
      causes: [{ reason: "Invalid", message: "c", field: "f" }],
    });
    assert.equal(outcome.verdict === "deny" && outcome.message, "no");
    assert.deepEqual(outcome.verdict === "deny" && outcome.causes, [
      { reason: null, message: "boom", field: null },
      { reason: null, message: "no", field: null },
      { reason: "Invalid", message: "c", field: "f" },
    ]);
  });

  test("carries the warnings of all, and of annotations with one key the first", () => {
    const outcome = of(
      { ...ALLOW, warnings: ["a"], auditAnnotations: { k: "first", x: "1" } },
      { ...SKIP, warnings: ["b"], auditAnnotations: { k: "second" } },
    );
    assert.deepEqual(outcome, { verdict: "allow", warnings: ["a", "b"], auditAnnotations: { k: "first", x: "1" } });
  });

  test("changes the object when one policy does, and fails when two do", () => {
    const change: Outcome = { verdict: "allow", mutation: { kind: "object", object: {} } };
    assert.deepEqual(of(ALLOW, change), change);
    assert.equal(of(change, change).verdict, "error");
    assert.equal(of(change, DENY).verdict, "deny");
  });
});

test("several policies answer at once when all do, and a throwing one has failed", async () => {
  const policy = (id: string, evaluate: Policy["evaluate"]): Policy => ({
    id,
    kind: "cel",
    implementation: id,
    immediate: true,
    evaluate,
  });
  const context = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
  const both = (second: Policy["evaluate"]) =>
    askTogether("both", [policy("A", () => ALLOW), policy("B", second)], () => 0).evaluate(REVIEW, context);
  assert.deepEqual(
    both(() => DENY),
    DENY,
  );
  assert.deepEqual(await both(async () => DENY), DENY);
  const thrown = both(() => {
    throw new Error("bug");
  });
  assert.equal(!(thrown instanceof Promise) && thrown.verdict, "error");
});
