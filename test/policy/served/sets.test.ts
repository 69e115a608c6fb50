import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { admissionQuestion } from "../../../src/admission/decode.js";
import type { Policy } from "../../../src/policy/policy.js";
import { type Asked, createEvaluator, type EvaluatorOptions } from "../../../src/policy/served/evaluator.js";
import type { JoinedVerdict } from "../../../src/policy/served/joined-verdict.js";
import { createPolicySet, type ServedPolicy } from "../../../src/policy/served/policy-set.js";
import { entry, immediate } from "../../server/fake-policy.js";

const POD = admissionQuestion({
  uid: "u",
  kind: { group: "", version: "v1", kind: "Pod" },
  resource: { group: "", version: "v1", resource: "pods" },
  operation: "CREATE",
  namespace: "default",
  userInfo: {},
});
const ALLOW = { verdict: "allow" } as const;
const patch = Buffer.from('[{"op":"add","path":"/x","value":1}]').toString("base64");

function askAll(
  entries: readonly ServedPolicy[],
  asked: Partial<Asked> = {},
  options: Partial<EvaluatorOptions> = {},
): JoinedVerdict | Promise<JoinedVerdict> {
  const members = entries.map(({ id }) => id);
  const policies = createPolicySet(entries, 1, [{ hash: "ab", members }]);
  const set = policies.sets.get("set/ab");
  assert.ok(set);
  const evaluator = createEvaluator(policies, { policyTimeout: 60_000, ...options });
  return evaluator.evaluateSet(set, { review: POD, origin: "validate", ...asked });
}

describe("policies that are asked together", () => {
  test("all that allow are an allow, at once when all answer at once", () => {
    // By a clock that stands still: a machine that is busy elsewhere takes turns.
    const both = [immediate("a", () => ALLOW), immediate("b", () => ({ verdict: "skip", reason: "other" }) as const)];
    const verdict = askAll(both, {}, { now: () => 0 });
    assert.ok(!(verdict instanceof Promise));
    assert.deepEqual(verdict.response, { uid: "u", allowed: true });
    assert.deepEqual(
      verdict.members.map(({ entry: { id } }) => id),
      ["a", "b"],
    );
  });

  test("a denial names the policy; several stand on lines of their own, with code and reason of the first", async () => {
    const { response } = await askAll([
      immediate("a", () => ALLOW),
      immediate("b", () => ({ verdict: "deny", message: "no", code: 422, reason: "Forbidden" })),
      entry("c", () => ({ verdict: "deny", message: "never", code: 403 })),
    ]);
    assert.deepEqual(response, {
      uid: "u",
      allowed: false,
      status: { message: "b: no\nc: never", code: 422, reason: "Forbidden" },
    });
  });

  test("causes of all are kept; where kubectl shows causes only, the message is among them", () => {
    const cause = (message: string) => ({ reason: "Invalid", message, field: "spec" });
    const deny = (message: string) => () =>
      ({ verdict: "deny", message, reason: "Invalid", causes: [cause(`${message}!`)] }) as const;
    const verdict = askAll([immediate("a", deny("x")), immediate("b", deny("y"))]);
    assert.ok(!(verdict instanceof Promise));
    assert.deepEqual(verdict.response.status?.details, {
      causes: [{ reason: null, message: "a: x\nb: y", field: null }, cause("x!"), cause("y!")],
    });
  });

  test("a failure, a throw and a time-out deny as when asked alone", async () => {
    const failing: readonly (readonly [ServedPolicy, RegExp])[] = [
      [immediate("p", () => ({ verdict: "error", message: "broken", cause: "expression" })), /^p: broken$/],
      [
        immediate("p", () => {
          throw new Error("bug");
        }),
        /^p: internal server error/,
      ],
      [entry("p", () => new Promise(() => {}), { timeout: 1 }), /^p: Policy execution interrupted/],
    ];
    for (const [policy, message] of failing) {
      const { response } = await askAll([immediate("a", () => ALLOW), policy, entry("z", () => ALLOW)]);
      assert.equal(response.allowed, false);
      assert.match(response.status?.message ?? "", message);
      assert.equal(response.status?.code, 500);
    }
  });

  test("each has its own mode and message", async () => {
    const { response, members } = await askAll([
      immediate("watched", () => ({ verdict: "deny", message: "no" }), { mode: "monitor" }),
      immediate("worded", () => ({ verdict: "deny", message: "no" }), { message: "See the handbook." }),
    ]);
    assert.equal(response.status?.message, "worded: See the handbook.");
    assert.deepEqual(
      members.map(({ response: own }) => own.allowed),
      [true, false],
    );
  });

  test("what one would change denies: nothing is changed by a webhook that asks several", async () => {
    const mutating = immediate("m", () => ({ verdict: "allow", mutation: { kind: "patch", patch } }), {
      allowedToMutate: true,
    });
    const { response } = await askAll([immediate("a", () => ALLOW), mutating]);
    assert.equal(response.allowed, false);
    assert.equal(response.patch, undefined);
  });

  test("warnings and annotations of all are told, annotations under the policy's name", async () => {
    const { response } = await askAll([
      immediate("a", () => ({ ...ALLOW, warnings: ["one"], auditAnnotations: { key: "1" } })),
      immediate("b", () => ({ ...ALLOW, warnings: ["two"], auditAnnotations: { key: "2" } })),
    ]);
    assert.deepEqual(response.warnings, ["one", "two"]);
    assert.deepEqual(response.auditAnnotations, { "a.key": "1", "b.key": "2" });
  });

  test("members that are gone are left out; a set without any is no set", () => {
    const policies = createPolicySet([immediate("a", () => ALLOW)], 1, [
      { hash: "1", members: ["a", "gone"] },
      { hash: "2", members: ["gone"] },
    ]);
    assert.deepEqual([...policies.sets.keys()], ["set/1"]);
    assert.deepEqual(
      policies.sets.get("set/1")?.members.map(({ id }) => id),
      ["a"],
    );
  });

  test("those that together take long wait for their turns, so that others have theirs", async () => {
    let clock = 0;
    let asked = 0;
    const slow = (id: string) =>
      immediate(id, () => {
        clock += 6;
        asked += 1;
        return ALLOW;
      });
    const pending = askAll(["a", "b", "c", "d"].map(slow), {}, { now: () => clock });
    assert.ok(pending instanceof Promise);
    assert.equal(asked, 2);
    const { response, members } = await pending;
    assert.equal(response.allowed, true);
    assert.equal(members.length, 4);
  });

  test("policies that mutate are one member, whose patch is the answer; one that could not be loaded denies", async () => {
    const together: string[] = [];
    const mutating = (id: string): ServedPolicy => {
      const made = immediate(
        id,
        () => ({ verdict: "allow", mutation: { kind: "patch", patch, changed: undefined } }) as never,
      );
      const inOnePass = (name: string, others: readonly Policy[]): Policy => {
        together.push(...[made.policy, ...others].map((each) => each.id));
        return { ...made.policy, id: name, evaluate: made.policy.evaluate };
      };
      return { ...made, allowedToMutate: true, policy: { ...made.policy, evaluate: made.policy.evaluate, inOnePass } };
    };
    const broken = immediate("broken", () => ({ verdict: "error", message: "broken", cause: "unavailable" }));
    const asked = (...entries: readonly ServedPolicy[]) => {
      const routes = [{ hash: "mab", members: entries.map(({ id }) => id), mutates: true }];
      const policies = createPolicySet(entries, 1, routes);
      const set = policies.sets.get("set/mab");
      assert.ok(set);
      return createEvaluator(policies, { policyTimeout: 60_000 }).evaluateSet(set, { review: POD, origin: "validate" });
    };
    const { response, members } = await asked(mutating("a"), mutating("b"));
    assert.deepEqual(response, { uid: "u", allowed: true, patch });
    assert.deepEqual([together, members.map(({ entry: { id } }) => id)], [["a", "b"], ["mutatingadmissionpolicies"]]);
    // One alone is counted under its own id.
    const alone = await asked(mutating("a"));
    assert.deepEqual([alone.response.patch, alone.members[0]?.entry.id], [patch, "a"]);
    const denied = await asked(mutating("a"), mutating("b"), broken);
    assert.deepEqual([denied.response.allowed, denied.response.patch], [false, undefined]);
  });

  test("an answer that is sent when nobody waits any more is a time-out; a member's own time is over when it has answered", async () => {
    let clock = 0;
    const entries = [immediate("a", () => ALLOW, { timeout: 5 })];
    const policies = createPolicySet(entries, 1, [{ hash: "ab", members: ["a"] }]);
    const evaluator = createEvaluator(policies, { policyTimeout: 2000, now: () => clock });
    const set = policies.sets.get("set/ab");
    assert.ok(set);
    const about = { review: POD, origin: "validate" as const };
    const verdict = await evaluator.evaluateSet(set, { ...about, deadline: 100 });
    clock = 100;
    assert.equal(evaluator.setWhenSent(verdict, about).response.allowed, true);
    clock = 101;
    assert.equal(evaluator.setWhenSent(verdict, about).response.allowed, false);
  });

  test("when the client goes, all are told, nobody else is asked, and nothing is allowed", async () => {
    let gone = (): void => {};
    let clock = 0;
    let later = 0;
    const pending = askAll(
      [
        entry("waits", () => new Promise(() => {})),
        immediate("slow", () => {
          clock += 20;
          return ALLOW;
        }),
        immediate("later", () => {
          later += 1;
          return ALLOW;
        }),
      ],
      {
        whenGone: (abandon) => {
          gone = abandon;
        },
      },
      { now: () => clock },
    );
    gone();
    const { response } = await pending;
    assert.equal(response.allowed, false);
    assert.equal(later, 0);
  });
});
