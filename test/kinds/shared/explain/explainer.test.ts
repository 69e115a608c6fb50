/** Whose the values are, and how many are kept. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createEnvironment, DYN } from "../../../../src/cel/index.js";
import { explanationText } from "../../../../src/cli/explain/explanation.js";
import { explainAnswer } from "../../../../src/kinds/explanation/index.js";
import { type Asking, Explainer } from "../../../../src/kinds/shared/index.js";
import type { EvaluationContext, Outcome, Policy, Review } from "../../../../src/policy/index.js";

const context: EvaluationContext = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
const raw = (payload: unknown, targeted = false): Review => ({
  kind: "raw",
  payload,
  requestBytes: () => new Uint8Array(),
  targeted,
});
const environment = createEnvironment({ flavour: "kubernetes", variables: [{ name: "object", type: DYN }] });

function programOf(source: string) {
  const compiled = environment.compile(source, { trace: true });
  assert.ok(compiled.ok);
  return compiled.program;
}

/** A policy that waits as it is told to, and then evaluates a program about the payload. */
function waiting(evaluate: (object: never) => unknown, wait: (payload: unknown) => Promise<void>): Policy {
  return {
    id: "member",
    kind: "cel",
    implementation: "test",
    immediate: false,
    evaluate: async (review): Promise<Outcome> => {
      const { payload } = review as { payload: unknown };
      await wait(payload);
      evaluate({ object: payload } as never);
      return { verdict: "allow" };
    },
  };
}

const group = (id: string, ask: (context: EvaluationContext) => Promise<unknown>): Policy => ({
  id,
  kind: "group",
  implementation: "group",
  immediate: false,
  evaluate: async (_, given): Promise<Outcome> => {
    await ask(given);
    return { verdict: "allow" };
  },
});

test("members that wait side by side keep their own values, whoever answers first", async () => {
  const explainer = new Explainer();
  const program = explainer.watch(programOf("object * 2"));
  const order: unknown[] = [];
  const member = explainer.member(
    "g",
    "m",
    waiting(
      (bindings) => program.evaluate(bindings),
      async (payload) => {
        for (let turn = payload === 1 ? 5 : 1; turn > 0; turn--) await new Promise((resolve) => setImmediate(resolve));
        order.push(payload);
      },
    ),
  );
  const asked: Asking[] = [];
  const root = explainer.explained(
    group("g", (given) => Promise.all([1, 2].map((value) => member.evaluate(raw(value, true), given)))),
    (asking) => asked.push(asking),
  );
  await root.evaluate(raw(0), context);
  assert.deepEqual(order, [2, 1]);
  const [asking] = asked;
  assert.deepEqual(
    asking?.members.map(({ review, outcome, all }) => [
      (review as { payload: unknown }).payload,
      outcome?.verdict,
      all.map(({ result }) => result),
    ]),
    [
      [1, "allow", [2]],
      [2, "allow", [4]],
    ],
  );
  assert.deepEqual(asking?.all, []);
});

test("what is asked without end is counted, not kept", async () => {
  const explainer = new Explainer();
  const program = explainer.watch(programOf("object"));
  const member = explainer.member(
    "g",
    "m",
    waiting(
      (bindings) => {
        for (let i = 0; i < 40; i++) program.evaluate(bindings);
      },
      () => Promise.resolve(),
    ),
  );
  const asked: Asking[] = [];
  const root = explainer.explained(
    group("g", async (given) => {
      for (let i = 0; i < 1100; i++) await member.evaluate(raw(i, true), given);
    }),
    (asking) => asked.push(asking),
  );
  const outcome = await root.evaluate(raw(0), context);
  const [asking] = asked as [Asking];
  assert.equal(asking.members.length + asking.left, 1100);
  assert.equal(asking.members.length, 1023);
  assert.equal(asking.members[0]?.all.length, 16);
  const text = explanationText(explainAnswer(asking, outcome, (policy) => explainer.membersOf(policy)));
  assert.match(text, /\n {2}and 77 more times that members were asked$/);
});

test("a policy that has not answered says so", () => {
  const explainer = new Explainer();
  const asked: Asking[] = [];
  const silent = waiting(
    () => {},
    () => new Promise(() => {}),
  );
  const member = explainer.member("g", "m", silent);
  const root = explainer.explained(
    group("g", (given) => Promise.resolve(member.evaluate(raw(1), given))),
    (asking) => asked.push(asking),
  );
  void root.evaluate(raw(0), context);
  const timedOut: Outcome = { verdict: "error", message: "too late", cause: "timeout" };
  assert.equal(
    explanationText(explainAnswer(asked[0] as Asking, timedOut, (policy) => explainer.membersOf(policy))),
    "g (group): failed: too late\n  m (test): no answer in time",
  );
});
