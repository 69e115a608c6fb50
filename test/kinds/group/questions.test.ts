/** What members are asked, and what is told of their answers. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compileGroupExpression } from "../../../src/kinds/group/expression.js";
import { createGroupPolicy } from "../../../src/kinds/group/group-policy.js";
import type { EvaluationContext, Observation, Outcome, Policy, Review } from "../../../src/policy/index.js";

const allow: Outcome = { verdict: "allow" };
const crash: Outcome = { verdict: "error", message: "boom", cause: "trap" };
const mutate: Outcome = { verdict: "allow", mutation: { kind: "object", object: {} } };

/** A policy that notes what it was asked. */
const fake = (id: string, answer: Outcome | (() => Outcome), asked: Review[] = []): Policy => ({
  ...{ id, kind: "wasm", implementation: "fake", immediate: true },
  evaluate: (review) => {
    asked.push(review);
    return typeof answer === "function" ? answer() : answer;
  },
});

function group(expression: string, members: Readonly<Record<string, Policy>>, now = () => 0): Policy {
  const compiled = compileGroupExpression(expression, Object.keys(members));
  assert.ok("program" in compiled, JSON.stringify(compiled));
  return createGroupPolicy({
    ...{ id: "g", program: compiled.program, message: "no", warnings: "none", now },
    members: Object.entries(members).map(([name, policy]) => ({ name, policy, timeout: 50 })),
  });
}

const raw = (payload: unknown): Review => ({
  kind: "raw",
  payload,
  requestBytes: () => Buffer.from(JSON.stringify(payload)),
});

const context = (observed: Observation[] = []): EvaluationContext => ({
  ...{ deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal },
  observe: (observation) => observed.push(observation),
});

const ask = async (policy: Policy, review: Review = raw({})): Promise<Outcome> => policy.evaluate(review, context());

describe("a question about another value", () => {
  const POD = { uid: "u", operation: "CREATE", userInfo: {}, object: {} };
  const KIND = { group: "apps", version: "v1", kind: "Deployment" };
  const admissionOf = (object: unknown): Review => {
    const request = { ...POD, kind: KIND, resource: { group: "apps", version: "v1", resource: "deployments" }, object };
    return { kind: "admission", request, requestBytes: () => new Uint8Array() };
  };
  /** The kind that the member is told. */
  const kindAsked = async (value: string): Promise<unknown> => {
    const asked: Review[] = [];
    await ask(group(`m(${value})`, { m: fake("m", allow, asked) }), admissionOf({}));
    assert.ok(asked[0]?.kind === "admission");
    return [asked[0].request.kind, asked[0].request.requestKind];
  };

  test("is about a kind only when the value names both its version and its kind", async () => {
    const core = { group: "", version: "v1", kind: "Pod" };
    assert.deepEqual(await kindAsked("{'apiVersion': 'v1', 'kind': 'Pod'}"), [core, core]);
    const batch = { group: "batch", version: "v1beta1", kind: "Job" };
    assert.deepEqual(await kindAsked("{'apiVersion': 'batch/v1beta1', 'kind': 'Job'}"), [batch, batch]);
    for (const value of [
      "{'apiVersion': 'v1'}",
      "{'kind': 'Pod'}",
      "{'apiVersion': dyn('v1'), 'kind': dyn(1)}",
      "null",
      "'v1'",
      "[1]",
    ])
      assert.deepEqual(await kindAsked(value), [KIND, undefined], value);
  });

  test("of a raw request is about any JSON, whose text is made once", async () => {
    const asked: Review[] = [];
    await ask(group("m(object.part)", { m: fake("m", allow, asked) }), raw({ part: { n: 9007199254740993n } }));
    const [review] = asked;
    assert.ok(review?.kind === "raw" && review.targeted === true);
    assert.equal(Buffer.from(review.requestBytes()).toString(), '{"n":9007199254740993}');
    assert.equal(review.requestBytes(), review.requestBytes());
  });
});

test("values are read anew in every round of waiting, and there is room for them in each", async () => {
  const waiting: Policy = { ...fake("m", allow), immediate: false, evaluate: async () => allow };
  const questions = Array.from({ length: 3 }, (_, i) => `m({'text': object, 'i': dyn(${i})})`);
  const outcome = await ask(group(questions.join(" && "), { m: waiting }), raw("x".repeat(1024 * 1024)));
  assert.deepEqual(outcome, { verdict: "allow" });
});

test("equal values are one question, whatever object they are, and others are others", async () => {
  const asked: Review[] = [];
  const expression = "m({'a': object}) && m({'a': object}) && m([object]) && m([object]) && m(object) && m(object)";
  await ask(group(expression, { m: fake("m", allow, asked) }), raw("x"));
  assert.deepEqual(
    asked.map((review) => review.kind === "raw" && review.payload),
    [{ a: "x" }, ["x"], "x"],
  );
});

test("a group says that it is one", () => {
  const { id, kind, implementation } = group("m()", { m: fake("m", allow) });
  assert.deepEqual([id, kind, implementation], ["g", "group", "group"]);
});

describe("the answer of a member", () => {
  test("is told with the time that the answer took, from the question on", async () => {
    let at = 100;
    const policy = fake("m", () => {
      at += 7;
      return allow;
    });
    const observed: Observation[] = [];
    await group("m()", { m: policy }, () => at).evaluate(raw({}), context(observed));
    assert.deepEqual(observed, [{ policy: "g/m", outcome: allow, milliseconds: 7, member: true }]);
  });

  test("keeps what the member found when its change makes it an error", async () => {
    const found = { warnings: ["w"], auditAnnotations: { k: "v" } };
    const observed: Observation[] = [];
    await group("m() && n()", { m: fake("m", { ...mutate, ...found }), n: fake("n", mutate) }).evaluate(
      raw({}),
      context(observed),
    );
    const failed = { verdict: "error", message: "mutation is not allowed inside of policy group", cause: "mutation" };
    assert.deepEqual(
      observed.map(({ outcome }) => outcome),
      [{ ...failed, ...found }, failed],
    );
  });

  test("a failure of a member is told as what it was, one of the expression as its own", async () => {
    const causeOf = async (expression: string): Promise<unknown> => {
      const outcome = await ask(group(expression, { m: fake("m", crash), n: fake("n", mutate) }));
      return outcome.verdict === "error" && outcome.cause;
    };
    assert.equal(await causeOf("m()"), "trap");
    assert.equal(await causeOf("!n()"), "mutation");
    assert.equal(await causeOf("object.x == 1"), "expression");
  });
});
