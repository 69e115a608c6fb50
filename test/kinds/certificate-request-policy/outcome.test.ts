import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Decision } from "../../../src/kinds/certificate-request-policy/engine/decision.js";
import { outcomeOf } from "../../../src/kinds/certificate-request-policy/policy.js";
import type { Outcome } from "../../../src/policy/index.js";

const accounts: Decision["accounts"] = () => [
  {
    name: "p",
    selected: true,
    bound: true,
    ready: undefined,
    objections: {
      allowed: [{ path: "spec.allowed.isCA", text: "spec.allowed.isCA: Invalid value: true: nil" }],
      constraints: [{ path: "spec.constraints.maxDuration", text: "too long" }],
    },
  },
  { name: "q", selected: false, bound: undefined, ready: true, objections: undefined },
];
const APPROVED: Decision = { result: "Approved", message: "yes", by: "p", accounts };
const DENIED: Decision = { result: "Denied", message: "no", accounts };
const UNPROCESSED: Decision = { result: "Unprocessed", message: "nobody", accounts };
const ERROR: Decision = { result: "Error", cause: 'namespaces "secret" not found', accounts };
const OPTIONS = { unprocessed: "allow", actions: undefined } as const;

const plain = (outcome: Outcome): unknown => ({ ...outcome, account: undefined });
const of = (decision: Decision, purpose: "creation" | "approval" | "decision" = "decision", options = {}) =>
  outcomeOf({ decision, detail: undefined }, purpose, { ...OPTIONS, ...options });

describe("decisions as outcomes (spec certificate-request-policy.md 7.3)", () => {
  test("the four are allow, deny, skip and error", () => {
    assert.deepEqual(plain(of(APPROVED)), { verdict: "allow", message: "yes", account: undefined });
    const forbidden = { verdict: "deny", message: "no", code: 403, reason: "Forbidden", account: undefined };
    assert.deepEqual(plain(of(DENIED)), forbidden);
    const report = { passedOver: "unprocessed" };
    assert.deepEqual(plain(of(UNPROCESSED)), { verdict: "skip", reason: "nobody", report, account: undefined });
    assert.equal(of(ERROR).verdict, "error");
  });

  test("the cause of an error stands in the log only", () => {
    const outcome = outcomeOf({ decision: ERROR, detail: "10.0.0.1" }, "creation", OPTIONS);
    assert.ok(outcome.verdict === "error");
    assert.equal(outcome.detail, 'namespaces "secret" not found; 10.0.0.1');
    const { detail: _, ...told } = outcome;
    assert.doesNotMatch(JSON.stringify({ ...told, account: outcome.account?.() }), /secret|10\.0/);
  });

  test("an error that says what kind it is keeps its words", () => {
    const failure = { verdict: "error", message: "not in time", cause: "timeout" } as const;
    const outcome = of({ ...ERROR, failure });
    assert.ok(outcome.verdict === "error");
    assert.deepEqual([outcome.message, outcome.cause], ["not in time", "timeout"]);
  });

  test("nobody approves what no policy has approved", () => {
    assert.equal(of(UNPROCESSED, "approval").verdict, "deny");
    assert.equal(of(ERROR, "approval").verdict, "error");
    assert.equal(of(DENIED, "approval").verdict, "deny");
    assert.equal(of(APPROVED, "approval").verdict, "allow");
  });

  test("what nobody decides may be refused", () => {
    assert.deepEqual(plain(of(UNPROCESSED, "creation", { unprocessed: "deny" })), {
      ...{ verdict: "deny", message: "nobody", code: 403, reason: "Forbidden", account: undefined },
    });
  });

  test("denials may be warnings and annotations; an error stays one", () => {
    const long = { ...DENIED, message: "n".repeat(300) };
    const warned = of(long, "creation", { actions: ["Warn", "Audit"] });
    assert.equal(warned.verdict, "allow");
    assert.deepEqual(warned.warnings, [`${"n".repeat(254)}…`]);
    assert.deepEqual(warned.auditAnnotations, { denied: "n".repeat(300) });
    const actions = warned.found?.map(({ action, message }) => [action, message.length]);
    assert.deepEqual(actions, [
      ["Warn", 300],
      ["Audit", 300],
    ]);
    assert.equal(of(DENIED).found, undefined);
    assert.equal(of(ERROR, "creation", { actions: ["Warn"] }).verdict, "error");
    assert.equal(of(DENIED, "creation", { actions: ["Deny", "Audit"] }).verdict, "deny");
  });
});

test("raw answers tell how far each policy came (spec certificate-request-policy.md 7.4)", () => {
  const condition = { status: "True", reason: "policy.cert-manager.io" };
  assert.deepEqual(of(DENIED).account?.(), {
    decision: "Denied",
    message: "no",
    approvedBy: null,
    condition: { type: "Denied", ...condition, message: "no" },
    policies: [
      {
        ...{ name: "p", selected: true, bound: true, ready: null },
        errors: [
          {
            evaluator: "allowed",
            path: "spec.allowed.isCA",
            text: "spec.allowed.isCA: Invalid value: true: nil",
          },
          { evaluator: "constraints", path: "spec.constraints.maxDuration", text: "too long" },
        ],
      },
      { name: "q", selected: false, bound: null, ready: true, errors: null },
    ],
  });
  const approved = of(APPROVED).account?.();
  assert.deepEqual(
    [approved?.approvedBy, approved?.condition],
    ["p", { type: "Approved", ...condition, message: "yes" }],
  );
  assert.equal(of(UNPROCESSED).account?.().condition, null);
  assert.deepEqual(of(ERROR).account?.().policies, []);
});
