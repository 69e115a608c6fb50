/** Messages and audit annotations that a group's expressions make, and what its members leave behind. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatProblem, type Problem } from "../../../src/config/documents/problem.js";
import { parseConfig } from "../../../src/config/load-config.js";
import { MAX_MEMBER_ANNOTATIONS } from "../../../src/kinds/group/group-policy.js";
import { groupKind } from "../../../src/kinds/group/kind.js";
import { LoadError } from "../../../src/kinds/load-error.js";
import { evaluateInTime } from "../../../src/policy/evaluate-in-time.js";
import { EvaluationRun } from "../../../src/policy/evaluation-run.js";
import type { Observation, Outcome, Policy, Review } from "../../../src/policy/index.js";
import { CountedTurns } from "../../support/counted-turns.js";

const allow: Outcome = { verdict: "allow" };
const deny: Outcome = { verdict: "deny", message: "no" };
const crash: Outcome = { verdict: "error", message: "boom", cause: "trap" };
const found = [{ action: "Audit", message: "latest", policy: "p", index: 0, actions: ["Audit"] }] as const;

type Answer = Outcome | ((review: Review) => Outcome);

const policyOf = (id: string, answer: Answer, later = false): Policy => ({
  id,
  kind: "wasm",
  implementation: "fake",
  immediate: !later,
  evaluate: (review) => {
    const outcome = typeof answer === "function" ? answer(review) : answer;
    return later ? new Promise((resolve) => setImmediate(() => resolve(outcome))) : outcome;
  },
});

type Members = Readonly<Record<string, Policy>>;

/** A group as its entry is written; the members' policies are given. */
function groupOf(written: object, members: Members, warnings: Problem[] = []): Policy {
  const policies = Object.fromEntries(
    Object.keys(members).map((name) => [name, { cel: { validations: [{ expression: "true" }] } }]),
  );
  const text = JSON.stringify({ g: { message: "the group's message", ...written, policies } });
  const read = parseConfig(text, "p.yaml");
  assert.ok(read.ok, JSON.stringify(read));
  const [entry] = read.config.entries;
  assert.ok(entry?.kind === "group", JSON.stringify(entry));
  const all = Object.entries(members).map(([name, policy]) => ({ name, policy, timeout: Number.POSITIVE_INFINITY }));
  return groupKind(() => 0).policy(entry, all, (problem) => warnings.push(problem));
}

const raw = (payload: unknown): Review => ({ kind: "raw", payload, requestBytes: () => Buffer.from("") });

const admission = (object: unknown): Review => ({
  kind: "admission",
  request: {
    uid: "u",
    kind: { group: "", version: "v1", kind: "Pod" },
    resource: { group: "", version: "v1", resource: "pods" },
    operation: "CREATE",
    userInfo: { username: "ann", groups: ["sre"] },
    object,
  },
  requestBytes: () => Buffer.from(""),
  saysKind: () => true,
});

const ask = (policy: Policy, review: Review = raw({}), run = new EvaluationRun(Number.POSITIVE_INFINITY)) =>
  evaluateInTime(policy, review, run, () => 0);

describe("a group's audit annotations", () => {
  test("are made of members, the object and the request, whether it allows or denies", async () => {
    for (const [answer, verdict, value] of [
      [allow, "allow", "yes, ann, web"],
      [deny, "deny", "no, ann, web"],
    ] as const) {
      const group = groupOf(
        {
          expression: "a()",
          auditAnnotations: {
            said: "(a() ? 'yes' : 'no') + ', ' + request.userInfo.username + ', ' + string(object.name)",
          },
        },
        { a: policyOf("a", answer) },
      );
      const outcome = await ask(group, admission({ apiVersion: "v1", kind: "Pod", name: "web" }));
      assert.deepEqual([outcome.verdict, outcome.auditAnnotations], [verdict, { said: value }]);
    }
  });

  test("are made of the payload for a raw review, where request is null", async () => {
    const group = groupOf(
      {
        expression: "true || a()",
        auditAnnotations: { payload: "string(object.n)", no: "request == null ? '' : 'x'" },
      },
      { a: policyOf("a", allow) },
    );
    assert.deepEqual((await ask(group, raw({ n: 3 }))).auditAnnotations, { payload: "3" });
  });

  test("may be a list as Kubernetes writes it, and are left out when empty, blank or null", async () => {
    const group = groupOf(
      {
        expression: "a()",
        auditAnnotations: [
          { key: "one", valueExpression: "'1'" },
          { key: "two", valueExpression: "''" },
          { key: "three", valueExpression: "'  '" },
          { key: "four", valueExpression: "null" },
          { key: "five", valueExpression: "' 5 '" },
        ],
      },
      { a: policyOf("a", allow) },
    );
    assert.deepEqual((await ask(group)).auditAnnotations, { one: "1", five: "5" });
  });

  test("are cut to what the API server keeps", async () => {
    const members = { a: policyOf("a", allow) };
    const group = groupOf({ expression: "a()", auditAnnotations: { long: "string(object)" } }, members);
    const outcome = await ask(group, raw("x".repeat(20_000)));
    assert.equal(outcome.auditAnnotations?.long?.length, 10_240);
  });

  test("one that fails turns an allow into an error, never the other way round", async () => {
    const failing = { auditAnnotations: { fine: "'f'", bad: "string(object.nope)" } };
    const allowed = await ask(groupOf({ expression: "a()", ...failing }, { a: policyOf("a", allow) }));
    assert.deepEqual(
      [allowed.verdict, allowed.verdict === "error" && [allowed.code, allowed.cause, allowed.message]],
      ["error", [500, "expression", "error evaluating audit annotation 'bad' of policy group: no such key: nope"]],
    );
    assert.deepEqual(allowed.auditAnnotations, { fine: "f" }, "the others are there");
    const denied = await ask(groupOf({ expression: "a()", ...failing }, { a: policyOf("a", deny) }));
    assert.deepEqual([denied.verdict, "message" in denied && denied.message], ["deny", "the group's message"]);
    assert.match(denied.detail ?? "", /annotation 'bad'/);
  });

  test("a member that fails fails the annotation that asks it", async () => {
    const members = { a: policyOf("a", allow), b: policyOf("b", crash) };
    const outcome = await ask(
      groupOf({ expression: "a() || b()", auditAnnotations: { b: "b() ? 'y' : 'n'" } }, members),
    );
    assert.deepEqual([outcome.verdict, outcome.verdict === "error" && outcome.cause], ["error", "trap"]);
  });

  test("ask a member once per request and value, whichever expression asks first, and when it answers late", async () => {
    for (const later of [false, true]) {
      const asked: string[] = [];
      const noted = (name: string, answer: Outcome): Policy =>
        policyOf(
          name,
          (review) => {
            asked.push(`${name} ${JSON.stringify(review.kind === "raw" ? review.payload : null)}`);
            return answer;
          },
          later,
        );
      const observed: Observation[] = [];
      const group = groupOf(
        {
          expression: "a() || b()",
          messageExpression: "'unused'",
          auditAnnotations: { a: "a() && a(1) ? 'y' : 'n'", b: "b() ? 'y' : 'n'", again: "a(1) && b() ? 'y' : 'n'" },
        },
        { a: noted("a", allow), b: noted("b", deny) },
      );
      const run = new EvaluationRun(Number.POSITIVE_INFINITY);
      const outcome = await ask(group, raw({}), run);
      observed.push(...run.observations);
      assert.deepEqual(outcome.auditAnnotations, { a: "y", b: "n", again: "n" }, String(later));
      assert.deepEqual(asked.sort(), ["a 1", "a {}", "b {}"]);
      assert.equal(observed.length, 3);
      assert.equal("warnings" in outcome, false, "a member that only an annotation asks has not objected");
    }
  });

  test("give others their turn when they take long", async () => {
    const items = Array.from({ length: 300 }, (_, i) => i);
    const annotations = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`k${i}`, "object.all(i, object.all(j, i + j >= 0)) ? 'y' : 'n'"]),
    );
    const policies = { a: { cel: { validations: [{ expression: "true" }] } } };
    const text = JSON.stringify({ g: { message: "m", expression: "a()", auditAnnotations: annotations, policies } });
    const read = parseConfig(text, "p.yaml");
    const entry = read.ok ? read.config.entries[0] : undefined;
    assert.ok(entry?.kind === "group");
    const now = (): number => performance.now();
    const members = [{ name: "a", policy: policyOf("a", allow), timeout: Number.POSITIVE_INFINITY }];
    const group = groupKind(now).policy(entry, members, () => {});
    const turns = new CountedTurns();
    const run = new EvaluationRun(now() + 60_000, undefined, turns);
    const outcome = await evaluateInTime(group, raw(items), run, now);
    assert.equal(Object.keys(outcome.auditAnnotations ?? {}).length, 20, JSON.stringify(outcome));
    assert.ok(turns.count > 0);
  });
});

describe("a group's messageExpression", () => {
  const members = { a: policyOf("a", deny) };
  const messageOf = async (messageExpression: string, payload: unknown = { n: 1 }): Promise<unknown> => {
    const outcome = await ask(groupOf({ expression: "a()", messageExpression }, members), raw(payload));
    assert.equal(outcome.verdict, "deny");
    return "message" in outcome && outcome.message;
  };

  test("makes the message of a denial", async () => {
    assert.equal(await messageOf("'n is ' + string(object.n) + (a() ? '' : ', a says no')"), "n is 1, a says no");
  });

  test("one that fails, or makes no line of text, leaves the message, and the record says why", async () => {
    for (const source of ["string(object.nope)", "''", "'  '", "'a\\nb'", "string(object.long)"]) {
      assert.equal(await messageOf(source, { long: "x".repeat(5_121) }), "the group's message", source);
    }
    const long = "messageExpression: its text has several lines, or more than 5 KiB";
    for (const [messageExpression, detail] of [
      ["string(object.nope)", "messageExpression: no such key: nope"],
      ["'a\\nb'", long],
      ["string(object.long)", long],
      ["'  '", undefined],
      ["'fine'", undefined],
    ]) {
      const group = groupOf({ expression: "a()", messageExpression }, members);
      assert.equal((await ask(group, raw({ long: "x".repeat(5_121) }))).detail, detail, messageExpression);
    }
  });

  test("is not evaluated for an allow", async () => {
    const asked: string[] = [];
    const b = policyOf("b", () => {
      asked.push("b");
      return allow;
    });
    const group = groupOf({ expression: "a()", messageExpression: "b() ? 'x' : 'y'" }, { a: policyOf("a", allow), b });
    assert.deepEqual([(await ask(group)).verdict, asked], ["allow", []]);
  });
});

describe("what members leave behind", () => {
  test("their annotations and findings are those of the group, by their names, in groups within groups, too", async () => {
    const left: Outcome = { verdict: "allow", auditAnnotations: { seen: "v" }, found };
    const inner = groupOf({ expression: "a()", auditAnnotations: { own: "'o'" } }, { a: policyOf("a", left) });
    const outer = await ask(groupOf({ expression: "inner()" }, { inner }));
    assert.deepEqual(outer, {
      verdict: "allow",
      auditAnnotations: { "inner.own": "o", "inner.a.seen": "v" },
      found: [{ ...found[0], member: "inner/a" }],
    });
  });

  test("a denied group and one that fails have them, too, and a member that may not change the object", async () => {
    const changing: Outcome = { verdict: "allow", found, mutation: { kind: "object", object: {} } };
    for (const [expression, verdict] of [
      ["a() && b()", "deny"],
      ["a() && c()", "error"],
      ["a() && d()", "error"],
    ] as const) {
      const group = groupOf(
        { expression },
        {
          a: policyOf("a", { ...allow, found }),
          b: policyOf("b", deny),
          c: policyOf("c", crash),
          d: policyOf("d", changing),
        },
      );
      const outcome = await ask(group);
      assert.equal(outcome.verdict, verdict);
      const members = outcome.found?.map(({ member }) => member);
      assert.deepEqual(members, expression.includes("d()") ? ["a", "d"] : ["a"]);
    }
  });

  test("of several values that a member was asked about, different values of a key stand side by side", async () => {
    const member = policyOf("a", (review) => ({
      verdict: "allow",
      auditAnnotations: { seen: review.kind === "raw" ? String(review.payload) : "" },
    }));
    const outcome = await ask(groupOf({ expression: "a('x') && a('y') && a('x')" }, { a: member }));
    assert.deepEqual(outcome.auditAnnotations, { "a.seen": "x, y" });
  });

  test("keys stay within the API server's limits, and one policy's do not push out another's", async () => {
    const long = "k".repeat(63);
    const member = policyOf("a", {
      verdict: "allow",
      auditAnnotations: { [long]: "1", [`${long}2`]: "2", "a/b": "3" },
    });
    const outcome = await ask(groupOf({ expression: "a()" }, { a: member }));
    const keys = Object.keys(outcome.auditAnnotations ?? {});
    assert.equal(keys.length, 3);
    for (const key of keys) assert.match(key, /^[A-Za-z0-9][-A-Za-z0-9_.]{0,61}[A-Za-z0-9]$/);
    assert.ok(keys.includes("a.a-b"));
  });

  test("more than a guest should have are left out, and the record counts them", async () => {
    const many = Object.fromEntries(Array.from({ length: MAX_MEMBER_ANNOTATIONS + 3 }, (_, i) => [`k${i}`, "v"]));
    const outcome = await ask(
      groupOf({ expression: "a()" }, { a: policyOf("a", { verdict: "allow", auditAnnotations: many }) }),
    );
    assert.equal(Object.keys(outcome.auditAnnotations ?? {}).length, MAX_MEMBER_ANNOTATIONS);
    assert.match(outcome.detail ?? "", /^3 audit annotations of members were left out/);
  });
});

describe("mistakes", () => {
  /** The first lines of what loading says. */
  const mistakesOf = (written: object, members: Members = { a: policyOf("a", allow) }): readonly string[] => {
    try {
      groupOf({ expression: "a()", ...written }, members);
      return [];
    } catch (error) {
      assert.ok(error instanceof LoadError, String(error));
      return error.problems.map((each) => [formatProblem(each).split("\n")[0], each.hint].join(" | "));
    }
  };

  test("types and names are checked when it is loaded, at their places", () => {
    const texts = mistakesOf({
      messageExpression: "1",
      auditAnnotations: { k: "object.name", l: "nope()", m: "a() ? 'x' : null", n: "a()" },
    });
    assert.deepEqual(
      texts.map((text) => text.replace(/^p\.yaml:\d+:\d+: /, "")),
      [
        "g.messageExpression: the expression must be a string, but it is of type int | ",
        "g.auditAnnotations.k: the expression must be a string or null, but it is of type dyn | make a text of it: write string(object.name)",
        "g.auditAnnotations.l: unknown name 'nope' (members: a) | ",
        "g.auditAnnotations.m: found no matching overload for '_?_:_' applied to '(bool, string, null)' | write \"\" in place of null: an empty text leaves no annotation",
        "g.auditAnnotations.n: the expression must be a string or null, but it is of type bool | make a text of it: write string(a())",
      ],
    );
  });

  test("all of them are told in one run, those of the expression first", () => {
    assert.equal(mistakesOf({ expression: "b()", messageExpression: "c()" }).length, 2);
  });

  test("a key may not be one of a member's", () => {
    assert.match(mistakesOf({ auditAnnotations: { "a.seen": "'x'" } }).join(), /is one of the member "a"/);
    assert.deepEqual(mistakesOf({ auditAnnotations: { "ab.seen": "'x'", a: "'y'" } }), []);
  });

  test("a member that only an annotation asks is used", () => {
    const warnings: Problem[] = [];
    const members = { a: policyOf("a", allow), b: policyOf("b", allow) };
    groupOf({ expression: "a()", auditAnnotations: { b: "b() ? 'y' : 'n'" } }, members, warnings);
    assert.deepEqual(warnings, []);
  });
});
