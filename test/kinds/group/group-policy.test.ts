import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { GroupWarnings } from "../../../src/config/entry.js";
import { compileGroupExpression } from "../../../src/kinds/group/expression.js";
import { createGroupPolicy } from "../../../src/kinds/group/group-policy.js";
import { MAX_ASKED_CHARACTERS, MAX_MEMBER_CALLS } from "../../../src/kinds/group/member-calls.js";
import type { EvaluationContext, Observation, Outcome, Policy, Review } from "../../../src/policy/index.js";
import { CountedTurns } from "../../support/counted-turns.js";

const allow: Outcome = { verdict: "allow" };
const deny: Outcome = { verdict: "deny", message: "no" };
const crash: Outcome = { verdict: "error", message: "boom", cause: "trap" };
const skip: Outcome = { verdict: "skip", reason: "no resource rule matches" };
const mutate: Outcome = { verdict: "allow", mutation: { kind: "object", object: {} } };

type Answer = Outcome | ((review: Review) => Outcome);

/** A policy that notes what it was asked; `later` makes it answer by a promise. */
function fake(id: string, answer: Answer, asked: Review[] = [], later = false): Policy {
  const decide = (review: Review): Outcome => {
    asked.push(review);
    return typeof answer === "function" ? answer(review) : answer;
  };
  return {
    id,
    kind: "wasm",
    implementation: "fake",
    immediate: !later,
    evaluate: (review) =>
      later ? new Promise((resolve) => setImmediate(() => resolve(decide(review)))) : decide(review),
  };
}

function group(
  expression: string,
  members: Readonly<Record<string, Policy>>,
  { warnings = "rejected" as GroupWarnings, message = "group says no", now = (): number => 0 } = {},
): Policy {
  const compiled = compileGroupExpression(expression, Object.keys(members));
  assert.ok("program" in compiled, JSON.stringify(compiled));
  return createGroupPolicy({
    id: "g",
    program: compiled.program,
    message,
    members: Object.entries(members).map(([name, policy]) => ({ name, policy, timeout: Number.POSITIVE_INFINITY })),
    warnings,
    now,
  });
}

/** A request that counts how often its object is read. */
function countedRequest(): { readonly review: Review; readonly reads: () => number } {
  let reads = 0;
  const request = {
    uid: "u",
    kind: { group: "", version: "v1", kind: "Pod" },
    resource: { group: "", version: "v1", resource: "pods" },
    operation: "CREATE",
    userInfo: {},
    get object() {
      reads++;
      return { x: 1 };
    },
  };
  const review = { kind: "admission", request, requestBytes: () => Buffer.from("{}"), saysKind: () => true } as const;
  return { review, reads: () => reads };
}

test("a group reads the request's object only when its expression asks for it", async () => {
  for (const [expression, expected] of [
    ["a()", false],
    ["a() && request.operation == 'CREATE'", false],
    ["a() && object.x == 1", true],
  ] as const) {
    const { review, reads } = countedRequest();
    assert.equal((await group(expression, { a: fake("a", allow) }).evaluate(review, context())).verdict, "allow");
    assert.equal(reads() > 0, expected, expression);
  }
});

const raw = (payload: unknown): Review => ({
  kind: "raw",
  payload,
  requestBytes: () => Buffer.from(JSON.stringify(payload)),
});

function context(observed: Observation[] = []): EvaluationContext {
  return {
    deadline: Number.POSITIVE_INFINITY,
    signal: new AbortController().signal,
    observe: (observation) => observed.push(observation),
  };
}

const ask = async (policy: Policy, review: Review = raw({})): Promise<Outcome> => policy.evaluate(review, context());

test("asks no further member once nobody waits for the answer", async () => {
  const gone = new AbortController();
  const asked: Review[] = [];
  const first = fake(
    "a",
    () => {
      gone.abort();
      return allow;
    },
    [],
    true,
  );
  const both = group("a() && b()", { a: first, b: fake("b", allow, asked, true) });
  const outcome = await both.evaluate(raw({}), { ...context(), signal: gone.signal });
  assert.equal(outcome.verdict, "error");
  assert.deepEqual(asked, []);
});

describe("logic is short-circuiting CEL, whether members answer at once or later", () => {
  for (const later of [false, true]) {
    const members = { yes: allow, no: deny, bad: crash, na: skip, mut: mutate };
    for (const [expression, verdict] of [
      ["yes()", "allow"],
      ["no()", "deny"],
      ["!no()", "allow"],
      ["bad()", "error"],
      ["!bad()", "error"],
      ["!mut()", "error"],
      ["mut()", "error"],
      ["na()", "allow"],
      ["!na()", "deny"],
      ["yes() || bad()", "allow"],
      ["bad() || yes()", "allow"],
      ["bad() || no()", "error"],
      ["no() && bad()", "deny"],
      ["bad() && no()", "deny"],
      ["bad() && yes()", "error"],
      ["yes() && (no() || !no())", "allow"],
      ["yes() == no()", "deny"],
      ["yes() ? no() : bad()", "deny"],
      ["object.tier == 'gold' ? yes() : no()", "allow"],
      ["object.nope.x == 1 || yes()", "allow"],
      ["object.nope.x == 1 || no()", "error"],
    ] as const) {
      test(`${expression} is ${verdict}${later ? ", later" : ""}`, async () => {
        const policies = Object.fromEntries(
          Object.entries(members).map(([name, answer]) => [name, fake(name, answer, [], later)]),
        );
        const outcome = await ask(group(expression, policies), raw({ tier: "gold" }));
        assert.equal(outcome.verdict, verdict);
        if (verdict === "error") assert.equal((outcome as { code?: number }).code, 500);
        // Without one the API server answers 400.
        if (verdict === "deny") assert.equal((outcome as { code?: number }).code, 403);
      });
    }
  }
});

describe("a member runs once per request and argument value, and only when needed", () => {
  test("named three times", async () => {
    const asked: Review[] = [];
    await ask(group("m() || m() || m()", { m: fake("m", deny, asked, true) }));
    assert.equal(asked.length, 1);
  });

  test("not needed", async () => {
    const asked: Review[] = [];
    await ask(group("yes() || m()", { yes: fake("yes", allow), m: fake("m", allow, asked) }));
    assert.equal(asked.length, 0);
  });

  test("asked about values", async () => {
    const asked: Review[] = [];
    const image = fake(
      "image",
      (review) => (String((review as { payload: unknown }).payload).startsWith("a") ? allow : deny),
      asked,
      true,
    );
    const policy = group("object.images.all(i, image(i)) && image('a1')", { image });
    assert.equal((await ask(policy, raw({ images: ["a1", "a2", "a1"] }))).verdict, "allow");
    assert.deepEqual(
      asked.map((review) => (review as { payload: unknown }).payload),
      ["a1", "a2"],
    );
    assert.ok(asked.every(({ targeted }) => targeted));
  });

  test("no more questions than the limit", async () => {
    const asked: Review[] = [];
    const policy = group("object.all(i, m(i))", { m: fake("m", allow, asked) });
    const outcome = await ask(policy, raw(Array.from({ length: MAX_MEMBER_CALLS + 1 }, (_, i) => i)));
    assert.equal(
      outcome.verdict === "error" && outcome.message,
      `error evaluating policy group expression: more than ${MAX_MEMBER_CALLS} different questions to members`,
    );
    assert.equal(asked.length, MAX_MEMBER_CALLS);
  });

  describe("values made of one large object in a loop", () => {
    const items = Array.from({ length: 300 }, (_, i) => i);
    const large = { items, text: "x".repeat(1024 * 1024) };
    const expression = "object.items.all(i, m({'object': object, 'i': i}))";

    test("are read as far as there is room for them", async () => {
      const asked: Review[] = [];
      const outcome = await ask(group(expression, { m: fake("m", allow, asked) }), raw(large));
      assert.equal(outcome.verdict, "error");
      assert.match((outcome as { message: string }).message, /: m\(\): too large to become JSON$/);
      assert.equal(asked.length, MAX_ASKED_CHARACTERS / (1024 * 1024) - 1);
    });

    test("are not read when the time is up, and that is a time-out", async () => {
      const compiled = compileGroupExpression(expression, ["m"]);
      assert.ok("program" in compiled);
      const asked: Review[] = [];
      let at = 0;
      const member = fake("m", allow, asked);
      const policy = createGroupPolicy({
        id: "g",
        program: compiled.program,
        message: "no",
        members: [{ name: "m", policy: member, timeout: Number.POSITIVE_INFINITY }],
        warnings: "none",
        now: () => at,
      });
      const evaluate = member.evaluate.bind(member);
      Object.assign(member, {
        evaluate: (...call: Parameters<Policy["evaluate"]>) => {
          at += 60;
          return evaluate(...call);
        },
      });
      const outcome = await policy.evaluate(raw(large), { ...context(), deadline: 100 });
      assert.deepEqual([outcome.verdict, (outcome as { cause?: string }).cause], ["error", "timeout"]);
      assert.equal(asked.length, 2);
    });
  });

  test("what is asked about often is read once, in every round of waiting", async () => {
    const asked: Review[] = [];
    const policy = group("object.items.all(i, m(object.text) && m(object))", { m: fake("m", allow, asked, true) });
    const outcome = await ask(policy, raw({ items: Array(1_000).fill(1), text: "x".repeat(1024 * 1024) }));
    assert.equal(outcome.verdict, "allow");
    assert.equal(asked.length, 2);
  });

  test("a long value is the same question as itself, and another as its equal; short ones are known by their text", async () => {
    const asked: Review[] = [];
    const long = { text: "x".repeat(70_000) };
    const policy = group("[object.a, object.a, object.b].all(v, m(v))", { m: fake("m", allow, asked) });
    await ask(policy, raw({ a: long, b: { ...long } }));
    assert.equal(asked.length, 2);
    // It is the request's own value, and no copy.
    assert.equal(asked[0]?.kind === "raw" && asked[0].payload, long);
    asked.length = 0;
    await ask(policy, raw({ a: { text: "x" }, b: { text: "x" } }));
    assert.equal(asked.length, 1);
  });

  test("an expression that has not ended at the deadline has timed out", async () => {
    const compiled = compileGroupExpression("object.all(i, i >= 0) && m()", ["m"]);
    assert.ok("program" in compiled);
    let at = 0;
    const slow = createGroupPolicy({
      id: "g",
      program: compiled.program,
      message: "no",
      members: [{ name: "m", policy: fake("m", allow), timeout: Number.POSITIVE_INFINITY }],
      warnings: "none",
      // Every look at the clock takes a while.
      now: () => at++,
    });
    const outcome = await slow.evaluate(raw(Array.from({ length: 100_000 }, (_, i) => i)), {
      ...context(),
      deadline: 5,
    });
    assert.deepEqual([outcome.verdict, "cause" in outcome && outcome.cause], ["error", "timeout"]);
  });

  test("observations name group and member", async () => {
    const observed: Observation[] = [];
    await group("a() && b()", { a: fake("a", deny), b: fake("b", allow) }).evaluate(raw({}), context(observed));
    assert.deepEqual(observed, [{ policy: "g/a", outcome: deny, milliseconds: 0, member: true }]);
  });
});

describe("member(value) asks about another value of an admission request", () => {
  test("object and kind become the value's, name and namespace stay; rules are not consulted", async () => {
    const asked: Review[] = [];
    const policy = group("m(object.spec.template)", { m: fake("m", allow, asked) });
    const template = { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name: "t", namespace: "other" } };
    const request = {
      uid: "u",
      kind: { group: "apps", version: "v1", kind: "Deployment" },
      requestKind: { group: "apps", version: "v1beta1", kind: "Deployment" },
      resource: { group: "apps", version: "v1", resource: "deployments" },
      operation: "UPDATE",
      name: "d",
      namespace: "ns",
      userInfo: {},
      object: { spec: { template } },
      oldObject: { spec: {} },
    };
    await ask(policy, { kind: "admission", request, requestBytes: () => Buffer.from(JSON.stringify(request)) });
    const review = asked[0];
    assert.ok(review?.kind === "admission" && review.targeted);
    const { oldObject: _, ...rest } = request;
    const expected = {
      ...rest,
      kind: { group: "apps", version: "v1", kind: "ReplicaSet" },
      requestKind: { group: "apps", version: "v1", kind: "ReplicaSet" },
      object: template,
    };
    assert.deepEqual(review.request, expected);
    assert.deepEqual(JSON.parse(Buffer.from(review.requestBytes()).toString()), expected);
  });

  test("a value without a JSON form is an error, not an answer", async () => {
    const outcome = await ask(group("!m(duration('1s'))", { m: fake("m", allow) }));
    assert.equal(outcome.verdict, "error");
    assert.match((outcome as { message: string }).message, /a value of type duration has no JSON form/);
  });
});

describe("the answer names the members", () => {
  const members = () => ({
    ok: fake("ok", { verdict: "allow", warnings: ["old API"] }),
    bad: fake("bad", crash),
    no: fake("no", deny),
    silent: fake("silent", { verdict: "deny" }),
    na: fake("na", skip),
    unasked: fake("unasked", allow),
  });
  const denies = "ok() && na() && (no() || silent()) && unasked() && bad()";

  test("denied: causes in order of definition, one warning per member", async () => {
    const outcome = await ask(group(denies, members()));
    assert.deepEqual(outcome, {
      verdict: "deny",
      message: "group says no",
      code: 403,
      causes: [
        { reason: null, message: "no", field: "spec.policies.no" },
        { reason: null, message: null, field: "spec.policies.silent" },
      ],
      warnings: [
        "ok was accepted",
        "ok: old API",
        "bad was not evaluated",
        "no was rejected: no",
        "silent was rejected",
        "na does not apply: no resource rule matches",
        "unasked was not evaluated",
      ],
    });
  });

  test("allowed: only those that rejected, failed or warned", async () => {
    const outcome = await ask(group("ok() && na() && (bad() || no() || unasked())", members()));
    assert.deepEqual(outcome, {
      verdict: "allow",
      warnings: ["ok: old API", "bad failed: boom", "no was rejected: no"],
    });
  });

  test("groupWarnings all and none", async () => {
    const all = await ask(group("ok() || no()", members(), { warnings: "all" }));
    assert.deepEqual(all.warnings, [
      "ok was accepted",
      "ok: old API",
      ...["bad", "no", "silent", "na", "unasked"].map((name) => `${name} was not evaluated`),
    ]);
    assert.equal((await ask(group(denies, members(), { warnings: "none" }))).warnings, undefined);
  });

  test("an error that decides: the group's message for a member's failure, the error's text for the expression's own", async () => {
    const failed = await ask(group("!bad()", members()));
    assert.ok(failed.verdict === "error");
    assert.equal(failed.message, "group says no");
    assert.deepEqual(failed.causes, [{ reason: null, message: "boom", field: "spec.policies.bad" }]);
    const own = await ask(group("object.x == 1 && ok()", members()));
    assert.ok(own.verdict === "error");
    assert.equal(own.message, "error evaluating policy group expression: no such key: x");
  });

  test("a member that mutates failed", async () => {
    const outcome = await ask(group("m()", { m: fake("m", mutate) }));
    assert.deepEqual(outcome.warnings, ["m failed: mutation is not allowed inside of policy group"]);
  });

  test("groups are members like any other policy", async () => {
    const inner = group("!m()", { m: fake("m", allow) }, { message: "inner says no" });
    const outcome = await ask(group("inner()", { inner }));
    assert.deepEqual(outcome, {
      verdict: "deny",
      message: "group says no",
      code: 403,
      causes: [{ reason: null, message: "inner says no", field: "spec.policies.inner" }],
      warnings: ["inner was rejected: inner says no", "inner: m was accepted"],
    });
  });
});

test("a policy that throws against its contract makes an error, not an allow", async () => {
  const broken: Policy = { ...fake("b", allow), evaluate: () => Promise.reject(new Error("broken")) };
  assert.equal((await ask(group("!b()", { b: broken }))).verdict, "error");
});

describe("a group whose members take long", () => {
  test("lets others have their turn between them, asks each once, and comes to the same", async () => {
    let time = 0;
    const now = (): number => {
      time += 20;
      return time;
    };
    const asked: Review[] = [];
    const members = Object.fromEntries(
      ["a", "b", "c", "d"].map((name) => [name, fake(name, name === "d" ? deny : allow, asked)]),
    );
    const compiled = compileGroupExpression("a() && b() && c() && [1, 2].all(n, c(n)) && !d()", Object.keys(members));
    assert.ok("program" in compiled);
    const policy = createGroupPolicy({
      id: "g",
      program: compiled.program,
      message: "",
      members: Object.entries(members).map(([name, each]) => ({
        name,
        policy: each,
        timeout: Number.POSITIVE_INFINITY,
      })),
      warnings: "none",
      now,
    });
    const turns = new CountedTurns();
    assert.deepEqual(await policy.evaluate(raw({}), { ...context(), turns }), { verdict: "allow" });
    assert.deepEqual([asked.length, turns.count], [6, 5]);
  });

  test("leaves others their turn between what it asks about and the member, when that took long to look through", async () => {
    let time = 0;
    const now = (): number => {
      time += 20;
      return time;
    };
    const taking = async (expression: string): Promise<number> => {
      const asked: Review[] = [];
      const turns = new CountedTurns();
      const policy = group(expression, { m: fake("m", allow, asked) }, { now });
      const outcome = await policy.evaluate(raw({ spec: { a: 1 }, list: [1, 2] }), { ...context(), turns });
      assert.deepEqual([outcome, asked.length], [{ verdict: "allow" }, 1]);
      return turns.count;
    };
    assert.equal(await taking("m(object.spec)"), 1);
    // A list that the expression makes is another one in each round.
    assert.equal(await taking("m(object.list.map(x, x + 1))"), 0);
  });
});

describe("an expression that takes long itself", () => {
  const list = Array.from({ length: 2_000 }, (_, index) => index);
  const long = "object.list.all(x, object.list == object.other)";
  const review = raw({ list, other: [...list] });
  const asked = (): { asked: Review[]; turns: CountedTurns; now: () => number } => {
    let time = 0;
    const now = (): number => {
      time += 1;
      return time;
    };
    return { asked: [], turns: new CountedTurns(), now };
  };

  test("goes on in steps, and asks each member once", async () => {
    for (const later of [false, true]) {
      const { asked: reviews, turns, now } = asked();
      const members = { m: fake("m", allow, reviews, later), n: fake("n", deny, reviews, later) };
      const policy = group(`m() && ${long} && m() && !n()`, members, { now, warnings: "none" });
      assert.deepEqual(await policy.evaluate(review, { ...context(), turns }), { verdict: "allow" });
      assert.equal(reviews.length, 2);
      assert.ok(turns.count > 5, `${turns.count} turns`);
    }
  });

  test("is an error where it cannot be left off, and at its deadline in whatever step", async () => {
    const { turns, now } = asked();
    const policy = group(`!(${long})`, { m: fake("m", allow) }, { now });
    for (const more of [{}, { turns, deadline: now() + 100 }]) {
      const outcome = await policy.evaluate(review, { ...context(), ...more });
      assert.deepEqual([outcome.verdict, "cause" in outcome && outcome.cause], ["error", "timeout"]);
    }
  });
});
