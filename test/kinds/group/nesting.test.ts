/** A member runs once per request and value, at any depth, whichever way its answer comes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compileGroupExpression } from "../../../src/kinds/group/expression.js";
import { createGroupPolicy } from "../../../src/kinds/group/group-policy.js";
import type { Outcome, Policy, Review } from "../../../src/policy/index.js";
import { createEvaluator } from "../../../src/policy/served/evaluator.js";
import { createPolicySet } from "../../../src/policy/served/policy-set.js";
import { ask } from "../../support/asking.js";

/** As deep as a configuration may nest inline groups. */
const DEPTH = 16;
const REVIEW: Review = { kind: "raw", payload: {}, requestBytes: () => Buffer.from("{}") };

function groupOf(id: string, expression: string, members: Readonly<Record<string, Policy>>): Policy {
  const compiled = compileGroupExpression(expression, Object.keys(members));
  assert.ok("program" in compiled, JSON.stringify(compiled));
  return createGroupPolicy({
    id,
    program: compiled.program,
    message: `${id} says no`,
    members: Object.entries(members).map(([name, policy]) => ({ name, policy, timeout: Number.POSITIVE_INFINITY })),
    warnings: "none",
    now: () => performance.now(),
  });
}

/** A CEL policy: it usually answers at once, but not here. */
function waitingLeaf(outcome: () => Promise<Outcome>) {
  const runs = { count: 0 };
  const policy: Policy = {
    id: "leaf",
    kind: "cel",
    implementation: "fake",
    immediate: true,
    evaluate: () => {
      runs.count += 1;
      return outcome();
    },
  };
  return { policy, runs };
}

/** Groups around a leaf; each asks its member twice and a member of its own before it. */
function nested(leaf: Policy, depth: number, expression = "sync() && m() && m()"): Policy {
  const sync: Policy = { ...leaf, id: "sync", evaluate: () => ({ verdict: "allow" }) };
  let policy = leaf;
  for (let level = 1; level <= depth; level++) policy = groupOf(`g${level}`, expression, { sync, m: policy });
  return policy;
}

const soon = (outcome: Outcome): Promise<Outcome> => new Promise((resolve) => setImmediate(() => resolve(outcome)));

describe("groups nested around a leaf that waits", () => {
  for (const depth of [1, 2, 6, DEPTH]) {
    test(`run it once, ${depth} deep, and observe every member once`, async () => {
      const { policy, runs } = waitingLeaf(() => soon({ verdict: "deny", message: "no" }));
      const outer = nested(policy, depth);
      const evaluator = createEvaluator(
        createPolicySet([{ id: "outer", policy: outer, mode: "protect", allowedToMutate: false }]),
        { policyTimeout: 60_000 },
      );
      const { outcome, observations } = await ask(evaluator, "outer", REVIEW, "validate_raw");
      assert.deepEqual([outcome.verdict, runs.count], ["deny", 1]);
      const names = observations.map(({ policy: name }) => name).sort();
      const expected = Array.from({ length: depth }, (_, i) => [`g${i + 1}/m`, `g${i + 1}/sync`])
        .flat()
        .sort();
      assert.deepEqual(names, expected);
    });
  }

  test("leave no rejection behind when the leaf rejects, and deny", async () => {
    const defects: string[] = [];
    const { policy, runs } = waitingLeaf(() => Promise.reject(new Error("bug")));
    const evaluator = createEvaluator(
      createPolicySet([
        { id: "outer", policy: nested(policy, DEPTH, "!m() && sync()"), mode: "protect", allowedToMutate: false },
      ]),
      { policyTimeout: 60_000, onDefect: (id, error) => defects.push(`${id}: ${error}`) },
    );
    // An unhandled rejection would end this process.
    const { response } = await ask(evaluator, "outer", REVIEW, "validate_raw");
    assert.deepEqual([response.allowed, runs.count, defects], [false, 1, ["leaf: Error: bug"]]);
  });
});

test("members of one group that wait are asked one after the other, as the expression needs them", async () => {
  const order: string[] = [];
  const slow = (id: string, verdict: Outcome): Policy => ({
    id,
    kind: "wasm",
    implementation: "fake",
    immediate: false,
    evaluate: async () => {
      order.push(id);
      return soon(verdict);
    },
  });
  const group = groupOf("g", "a() && b()", {
    a: slow("a", { verdict: "deny" }),
    b: slow("b", { verdict: "allow" }),
  });
  const evaluator = createEvaluator(
    createPolicySet([{ id: "g", policy: group, mode: "protect", allowedToMutate: false }]),
    { policyTimeout: 60_000 },
  );
  assert.equal((await ask(evaluator, "g", REVIEW, "validate_raw")).response.allowed, false);
  assert.deepEqual(order, ["a"]);
});

test("a member that answers after its own time has failed, although the group has time left", async () => {
  let at = 0;
  const late: Policy = {
    id: "late",
    kind: "cel",
    implementation: "fake",
    immediate: true,
    evaluate: () => {
      at += 50;
      return { verdict: "deny", message: "no" };
    },
  };
  const compiled = compileGroupExpression("!late()", ["late"]);
  assert.ok("program" in compiled);
  const group = createGroupPolicy({
    id: "g",
    program: compiled.program,
    message: "no",
    members: [{ name: "late", policy: late, timeout: 40 }],
    warnings: "none",
    now: () => at,
  });
  const outcome = await group.evaluate(REVIEW, { deadline: 1000, signal: new AbortController().signal });
  assert.deepEqual([outcome.verdict, "cause" in outcome && outcome.cause], ["error", "timeout"]);
});
