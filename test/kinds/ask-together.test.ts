import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { askTogether, mostSevere } from "../../src/kinds/ask-together.js";
import { compileGroupExpression } from "../../src/kinds/group/expression.js";
import { createGroupPolicy } from "../../src/kinds/group/group-policy.js";
import type { Mutation, Outcome, Policy, Review } from "../../src/policy/index.js";
import { answerOf } from "../support/asking.js";

const REVIEW: Review = { kind: "raw", payload: {}, requestBytes: () => Buffer.from("{}") };
const ALLOW: Outcome = { verdict: "allow" };
const DENY: Outcome = { verdict: "deny", message: "no", code: 403 };
const ERROR: Outcome = { verdict: "error", message: "boom", cause: "expression" };
const SKIP: Outcome = { verdict: "skip", reason: "no resource rule matches" };

const CONTEXT = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };

/** What a group says that is `!m()`. */
function verdictOfNegation(outcome: Outcome): Outcome["verdict"] {
  const compiled = compileGroupExpression("!m()", ["m"]);
  assert.ok("program" in compiled);
  const policy: Policy = { id: "m", kind: "cel", implementation: "m", immediate: true, evaluate: () => outcome };
  const group = createGroupPolicy({
    id: "g",
    program: compiled.program,
    message: "no",
    members: [{ name: "m", policy, timeout: Number.POSITIVE_INFINITY }],
    warnings: "none",
    now: () => 0,
  });
  return answerOf(group, REVIEW, CONTEXT).verdict;
}

const of = (...outcomes: Outcome[]): Outcome => mostSevere(outcomes);

test("policies that are asked together are named, so that each can say its expressions", () => {
  const policies = ["a", "b"].map(
    (id): Policy => ({ id, kind: "cel", implementation: id, immediate: true, evaluate: () => ALLOW }),
  );
  assert.deepEqual(askTogether("p", policies, () => 0).together, policies);
});

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

  test("carries what any of them found, whatever it comes to", () => {
    const audited = [{ action: "Audit", message: "m" }] as const;
    const found = { warnings: ["w"], auditAnnotations: { k: "v" }, found: audited };
    const change: Outcome = { verdict: "allow", mutation: { kind: "object", object: {} } };
    const noting: Outcome = { ...SKIP, ...found };
    const cases: readonly (readonly [Outcome[], Outcome["verdict"]])[] = [
      [[DENY], "deny"],
      [[DENY, ERROR], "deny"],
      [[ERROR], "error"],
      [[change, change], "error"],
      [[ALLOW], "allow"],
      [[SKIP], "skip"],
    ];
    for (const [outcomes, verdict] of cases) {
      const outcome = of(...outcomes, noting);
      assert.deepEqual([outcome.verdict, outcome.warnings, outcome.auditAnnotations], [verdict, ["w"], { k: "v" }]);
      assert.deepEqual(outcome.found, audited);
      const none = of(...outcomes, SKIP);
      assert.deepEqual([none.warnings, none.auditAnnotations, none.found], [undefined, undefined, undefined]);
    }
  });

  test("says why nothing applies, or that there is nothing", () => {
    assert.deepEqual(of(SKIP, { verdict: "skip", reason: "other" }), SKIP);
    assert.deepEqual(of(), { verdict: "skip", reason: "there is no policy" });
  });

  test("reports what the first objection reports, bound as all are, and what any has passed over", () => {
    const warned: Outcome = { ...DENY, report: { message: "own", binding: "b", actions: ["Warn"] } };
    assert.deepEqual(of(warned, ALLOW), warned);
    assert.deepEqual(of(warned, ERROR).report, { message: "own", binding: "b", actions: ["Warn", "Deny"] });
    const unmet: Outcome = { ...SKIP, report: { passedOver: "condition" } };
    const exempt: Outcome = { verdict: "skip", reason: "exempt", report: { passedOver: "exception" } };
    assert.deepEqual(of(SKIP, unmet, exempt), { ...SKIP, report: { message: "exempt", passedOver: "exception" } });
    assert.deepEqual(of(SKIP, unmet), { ...SKIP, report: { message: SKIP.reason, passedOver: "condition" } });
  });

  test("tells each reason as it was given, the message where there are no causes", () => {
    const outcome = of(
      { verdict: "deny", message: "a", reason: "Invalid", causes: [] },
      { verdict: "deny" },
      { verdict: "error", message: "c", cause: "trap", causes: [{ reason: null, message: "d", field: "f" }] },
    );
    assert.deepEqual("causes" in outcome && outcome.causes, [
      { reason: "Invalid", message: "a", field: null },
      { reason: null, message: null, field: null },
      { reason: null, message: "d", field: "f" },
    ]);
  });

  test("changes the object when one policy does, and fails when two do", () => {
    const change: Outcome = { verdict: "allow", mutation: { kind: "object", object: {} } };
    assert.deepEqual(of(ALLOW, change), change);
    const both = of(change, change);
    assert.ok(both.verdict === "error");
    assert.equal(both.message, "more than one policy changes the object");
    assert.equal(of(change, DENY).verdict, "deny");
  });

  test("keeps a change beside a denial, in whatever policy it stands", () => {
    const mutation: Mutation = { kind: "object", object: { changed: true } };
    const change: Outcome = { verdict: "allow", message: "changed", code: 200, mutation };
    for (const outcomes of [
      [change, DENY],
      [DENY, change],
      [DENY, { verdict: "deny", mutation }],
    ] as const) {
      const outcome = of(...outcomes);
      assert.ok(outcome.verdict === "deny");
      assert.deepEqual([outcome.message, outcome.code, outcome.mutation], ["no", 403, mutation]);
    }
    // Of the change beside it a denial takes nothing else.
    assert.deepEqual(of({ verdict: "deny" }, change), { verdict: "deny", mutation });
    assert.deepEqual(of(change, ERROR), ERROR);
    assert.equal(verdictOfNegation(of(DENY, change)), "error");
    assert.equal(verdictOfNegation(of(DENY, ALLOW)), "allow");
  });

  test("is final when any is, beside failures and denials, with every reason", () => {
    const final: Outcome = { verdict: "error", message: "not loaded", cause: "unavailable", final: true };
    assert.deepEqual(of(final), final);
    for (const outcomes of [
      [ERROR, final],
      [DENY, final],
      [final, ERROR, DENY],
    ]) {
      const outcome = of(...outcomes);
      assert.ok(outcome.verdict === "error" && outcome.final === true);
      assert.equal(outcome.causes?.length, outcomes.length);
      assert.equal(verdictOfNegation(outcome), "error");
    }
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
  const both = (second: Policy["evaluate"]) =>
    askTogether("both", [policy("A", () => ALLOW), policy("B", second)], () => 0).evaluate(REVIEW, CONTEXT);
  assert.deepEqual(
    both(() => DENY),
    DENY,
  );
  assert.deepEqual(await both(async () => DENY), DENY);
  const waiting = { ...policy("C", () => ALLOW), immediate: false };
  const immediate = (...policies: Policy[]) => askTogether("both", policies, () => 0).immediate;
  assert.deepEqual(
    [
      immediate(policy("A", () => ALLOW)),
      immediate(
        policy("A", () => ALLOW),
        waiting,
      ),
      immediate(waiting, waiting),
    ],
    [true, false, false],
  );
  const thrown = both(() => {
    throw new Error("bug");
  });
  assert.equal(!(thrown instanceof Promise) && thrown.verdict, "error");
});

test("neither policies that are asked together nor a group tell how one of them came to its verdict", () => {
  const account = () => ({ decision: "Approved" });
  const outcomes: readonly Outcome[] = [ALLOW, DENY, ERROR, SKIP];
  for (const outcome of outcomes) {
    for (const other of outcomes) {
      assert.ok(!("account" in of({ ...outcome, account }, other)));
      assert.ok(!("account" in of(other, { ...outcome, account })));
    }
  }
  const compiled = compileGroupExpression("m()", ["m"]);
  assert.ok("program" in compiled);
  for (const outcome of outcomes) {
    const evaluate = () => ({ ...outcome, account });
    const policy: Policy = { id: "m", kind: "cel", implementation: "m", immediate: true, evaluate };
    const members = [{ name: "m", policy, timeout: Number.POSITIVE_INFINITY }];
    const options = {
      id: "g",
      program: compiled.program,
      message: "no",
      members,
      warnings: "all",
      now: () => 0,
    } as const;
    assert.ok(!("account" in answerOf(createGroupPolicy(options), REVIEW, CONTEXT)));
  }
});
