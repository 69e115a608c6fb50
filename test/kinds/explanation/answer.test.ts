/** How an answer came about, as data. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createEnvironment, DYN, type Value } from "../../../src/cel/index.js";
import { type ExplainedAnswer, type ExplainedValue, explainAnswer } from "../../../src/kinds/explanation/index.js";
import { MAX_CHARACTERS } from "../../../src/kinds/explanation/size-budget.js";
import { type Asking, Explainer } from "../../../src/kinds/shared/index.js";
import type { EvaluationContext, Outcome, Policy, Review } from "../../../src/policy/index.js";

const context: EvaluationContext = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
const raw = (payload: unknown, targeted = false): Review => ({
  kind: "raw",
  payload,
  requestBytes: () => new Uint8Array(),
  targeted,
});

/** A policy of one expression about the payload, which is called `object`. */
function policyOf(explainer: Explainer, id: string, written: string, compiledText = written): Policy {
  const environment = createEnvironment({ flavour: "kubernetes", variables: [{ name: "object", type: DYN }] });
  const compiled = environment.compile(compiledText, { trace: true });
  assert.ok(compiled.ok);
  const program = explainer.watch(compiled.program);
  const expression = { source: written, program, error: undefined };
  const explained = () => [
    { title: "", variants: [{ part: {}, expressions: [{ path: "spec.validations[0].expression", expression }] }] },
  ];
  const evaluate = (review: Review): Outcome => {
    const { result } = program.evaluate({ object: (review as { payload: Value }).payload });
    return result === true ? { verdict: "allow" } : { verdict: "deny", message: "no" };
  };
  const policy = { id, kind: "cel", implementation: "test", immediate: true, evaluate, explained } as const;
  return policy;
}

function asked(explainer: Explainer, policy: Policy, payload: unknown): ExplainedAnswer {
  const askings: Asking[] = [];
  const outcome = explainer.explained(policy, (asking) => askings.push(asking)).evaluate(raw(payload), context);
  const [asking] = askings;
  assert.ok(asking);
  return explainAnswer(Object.assign(asking, { policy }), outcome as Outcome, (group) => explainer.membersOf(group));
}

const valuesOf = (value: ExplainedValue, source: string): readonly (readonly [string, string | undefined])[] => [
  [source.slice(value.from, value.to), value.value],
  ...value.parts.flatMap((part) => valuesOf(part, source)),
];

test("every part has its value, and its place in the text as it was written, blanks before it counted", () => {
  const times = [10, 10, 12.5];
  const explainer = new Explainer(() => times.shift() ?? 12.5);
  times.shift();
  const written = "\n  (object.a > 1) && object.b == 'x'\n";
  const answer = asked(explainer, policyOf(explainer, "p", written, written.trim()), { a: 2, b: "y" });
  assert.deepEqual(
    { ...answer, parts: [] },
    {
      name: "p",
      implementation: "test",
      outcome: "deny",
      message: "no",
      milliseconds: 2.5,
      parts: [],
      members: [],
      left: 0,
    },
  );
  const [expression] = answer.parts[0]?.expressions ?? [];
  assert.equal(expression?.source, written);
  assert.deepEqual(valuesOf(expression?.evaluations[0] as ExplainedValue, written), [
    ["(object.a > 1) && object.b == 'x'", "false"],
    ["object.a > 1", "true"],
    ["object.a", "2"],
    ["object", '{"a": 2, "b": "y"}'],
    ["object.b == 'x'", "false"],
    ["object.b", '"y"'],
    ["object", '{"a": 2, "b": "y"}'],
  ]);
});

test("an error is a failed value, and what was not evaluated has none", () => {
  const explainer = new Explainer();
  const answer = asked(explainer, policyOf(explainer, "p", "object.a > 1 ? object.b : object.c"), { a: 2 });
  const [whole] = answer.parts[0]?.expressions[0]?.evaluations ?? [];
  assert.equal(whole?.failed, true);
  assert.equal(whole?.value, "error: no such key: b");
  assert.deepEqual(
    whole?.parts.map(({ text, value, failed }) => [text, value, failed]),
    [
      ["object.a > 1", "true", false],
      ["object.b", "error: no such key: b", true],
      ["object.c", undefined, false],
    ],
  );
});

test("a policy that no expression was asked of says why", () => {
  const explainer = new Explainer(() => 0);
  const variant = { part: {}, expressions: [] };
  const explainedAs = (outcome: Outcome): readonly unknown[] => {
    const policy = {
      ...({ id: "p", kind: "cel", implementation: "test", immediate: true } as const),
      evaluate: () => outcome,
      explained: () => [{ title: "ValidatingAdmissionPolicy 'a'", variants: [variant] }],
    };
    return asked(explainer, policy, {}).parts;
  };
  const part = (found: string) => [{ title: "ValidatingAdmissionPolicy 'a'", found, expressions: [] }];
  assert.deepEqual(explainedAs({ verdict: "allow" }), part("does not match"));
  assert.deepEqual(explainedAs({ verdict: "deny", message: "no" }), part("does not match"));
  assert.deepEqual(explainedAs({ verdict: "skip", reason: "no rule" }), part("does not apply: no rule"));
  assert.deepEqual(explainedAs({ verdict: "error", message: "x", cause: "internal" }), part("not evaluated"));
});

test("a call that was not needed is a part without a value", () => {
  const explainer = new Explainer();
  const answer = asked(explainer, policyOf(explainer, "p", "object.a > 1 || object.b.startsWith('x')"), { a: 2 });
  const [whole] = answer.parts[0]?.expressions[0]?.evaluations ?? [];
  assert.deepEqual(
    whole?.parts.map(({ text, value }) => [text, value]),
    [
      ["object.a > 1", "true"],
      ['object.b.startsWith("x")', undefined],
    ],
  );
});

test("members stand in order of definition, with what they were asked about; those that were not asked too", () => {
  const explainer = new Explainer();
  const first = explainer.member("g", "first", policyOf(explainer, "g/first", "object"));
  explainer.member("g", "second", policyOf(explainer, "g/second", "object"));
  const third = explainer.member("g", "third", {
    ...policyOf(explainer, "g/third", "object"),
    evaluate: () => ({ verdict: "allow", mutation: { kind: "object", object: {} } }),
  });
  const group: Policy = {
    id: "g",
    kind: "group",
    implementation: "group",
    immediate: true,
    evaluate: (_, given) => {
      void third.evaluate(raw({}), given);
      void first.evaluate(raw(true, true), given);
      void first.evaluate(raw(false, true), given);
      return { verdict: "deny" };
    },
  };
  const { members } = asked(explainer, group, {});
  assert.deepEqual(
    members.map(({ name, argument, outcome, message }) => [name, argument, outcome, message]),
    [
      ["first", "true", "allow", undefined],
      ["first", "false", "deny", "no"],
      ["second", undefined, "not evaluated", undefined],
      ["third", undefined, "error", "it changes the object, which members of a group must not"],
    ],
  );
  assert.equal(members[2]?.implementation, "test");
});

test("however much there is to tell, the whole has a limit, and what is left out of members is counted", () => {
  const explainer = new Explainer();
  const long = `object == '${"x".repeat(20_000)}'`;
  const member = explainer.member("g", "m", policyOf(explainer, "g/m", long));
  const group: Policy = {
    id: "g",
    kind: "group",
    implementation: "group",
    immediate: true,
    evaluate: (_, given) => {
      for (let i = 0; i < 600; i += 1) void member.evaluate(raw(`${i}`, true), given);
      return { verdict: "deny" };
    },
  };
  const answer = asked(explainer, group, {});
  assert.equal(answer.members.length + answer.left, 600);
  const { length } = JSON.stringify(answer);
  assert.ok(length < 2 * MAX_CHARACTERS, `${length}`);
  const deepest = (value: ExplainedValue): readonly number[] => [value.text.length, ...value.parts.flatMap(deepest)];
  const lengths = answer.members.flatMap(({ parts }) =>
    parts.flatMap(({ expressions }) => expressions.flatMap(({ evaluations }) => evaluations.flatMap(deepest))),
  );
  assert.ok(lengths.every((each) => each <= 301));
});
