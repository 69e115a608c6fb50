import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionsHold } from "../../../../../src/kinds/kyverno/convert/conditions/conditions.js";
import { refusal, resultOf as valueFor, written } from "../converted.js";

const key = (name: string) => `{{ request.object.spec.${name} }}`;
const condition = (name: string, operator: string, value: unknown) => ({ key: key(name), operator, value });
const A = condition("a", "Equals", "x");
const B = condition("b", "Equals", "y");
const OPERATION = { key: "{{ request.operation }}", operator: "Equals", value: "UPDATE" };
/** No number is one of the texts, and no list equals a text; a text is split, and all else is an error. */
const LENGTH = { key: "{{ length(request.object.spec.a || `[]`) }}", operator: "AllNotIn", value: ["x"] };
const IMPOSSIBLE = { key: "{{ request.object.spec.b || `[]` }}", operator: "GreaterThan", value: "1.2.0" };
const SPLIT = { key: "{{ split(request.object.spec.a || '', ':')[0] }}", operator: "Equals", value: "x" };

const textOf = (conditions: unknown) => written((scope) => ({ cel: conditionsHold(conditions, scope) }) as never).at(0);
const outcome = (conditions: unknown, spec: unknown) =>
  valueFor((scope) => ({ cel: conditionsHold(conditions, scope) }) as never, { spec });

/** Conditions, and the CEL that a person would have written. */
const TEXTS: readonly (readonly [unknown, string])[] = [
  [[condition("type", "Equals", "LoadBalancer")], 'object.spec.type == "LoadBalancer"'],
  [[condition("on", "Equals", true)], "object.spec.on == true"],
  [[condition("type", "NotEquals", "a")], 'object.spec.type != null && object.spec.type != "a"'],
  [[{ ...OPERATION, operator: "NotEquals" }], 'request.operation != "UPDATE"'],
  [[{ ...OPERATION, operator: "AnyIn", value: ["CREATE", "UPDATE"] }], 'request.operation in ["CREATE", "UPDATE"]'],
  [[{ ...OPERATION, operator: "AnyNotIn", value: ["CREATE"] }], 'request.operation != "CREATE"'],
  [
    [{ key: "{{ request.object.metadata.name }}", operator: "Equals", value: "web-*" }],
    'object.metadata.name.startsWith("web-")',
  ],
  [
    [{ key: "{{ request.object.metadata.labels.app || '' }}", operator: "NotEquals", value: "" }],
    'object.metadata.?labels.app.orValue("") != ""',
  ],
  [
    [
      {
        key: "{{ request.object.spec.project }}",
        operator: "NotEquals",
        value: "{{ request.oldObject.spec.project }}",
      },
    ],
    "object.spec.project != null && object.spec.project != oldObject.spec.project",
  ],
  [
    [{ key: "{{ request.object.spec.l[].name || `[]` }}", operator: "AnyNotIn", value: ["a", "b"] }],
    'object.?spec.l.orValue([]).map(e, has(e.name), e.name).exists(e, !(e in ["a", "b"]))',
  ],
  [
    [{ key: "tls", operator: "AnyNotIn", value: "{{ request.object.spec.l[].name || `[]` }}" }],
    '!("tls" in object.?spec.l.orValue([]).map(e, has(e.name), e.name))',
  ],
  [{ all: [OPERATION, A] }, 'request.operation == "UPDATE" && object.spec.a == "x"'],
  [{ all: [A, OPERATION] }, 'object.spec.a == "x" ? request.operation == "UPDATE" : false'],
  [{ all: [A, { ...A, value: "z" }] }, 'object.spec.a == "x" && object.spec.a == "z"'],
  [{ any: [A, B] }, 'object.spec.a == "x" ? true : object.spec.b == "y"'],
  [{ any: [OPERATION], all: [A] }, 'object.spec.a == "x" ? request.operation == "UPDATE" : false'],
  [{ any: [] }, "false"],
  [{ all: [] }, "true"],
  [{}, "true"],
  [[], "true"],
];

for (const [conditions, text] of TEXTS)
  test(`${JSON.stringify(conditions)} is ${text}`, () => assert.equal(textOf(conditions), text));

/** Conditions about `a` and `b`, of which one may be missing. */
const OUTCOMES: readonly (readonly [unknown, unknown, unknown])[] = [
  [{ any: [A, B] }, { a: "x" }, true],
  [{ any: [A, B] }, { b: "y" }, "error"],
  [{ any: [A, B] }, { a: "q", b: "y" }, true],
  [{ all: [A, B] }, { a: "q" }, false],
  [{ all: [A, B] }, { b: "q" }, "error"],
  [{ all: [A, B] }, { a: "x", b: "y" }, true],
  [[A, B], { b: "q" }, "error"],
  [{ any: [A], all: [B] }, { a: "x", b: "y" }, true],
  [{ any: [A], all: [B] }, { a: "q", b: "y" }, false],
  [{ any: [A], all: [B] }, { a: "q" }, "error"],
  [{ any: [A], all: [B] }, { b: "q" }, "error"],
  [{ any: [condition("a", "Equals", { n: 1 })] }, { a: { n: 1 } }, false],
  [{ any: [condition("a", "Equals", { n: 1 })] }, {}, "error"],
  [{ all: [LENGTH] }, { a: 5 }, "error"],
  [{ all: [LENGTH] }, { a: [5] }, true],
  [{ all: [A, IMPOSSIBLE] }, { b: [] }, "error"],
  [{ all: [A, IMPOSSIBLE] }, { a: "x", b: [] }, false],
  [{ all: [SPLIT, IMPOSSIBLE] }, { a: ["x"], b: [] }, "error"],
  [{ any: [SPLIT], all: [IMPOSSIBLE] }, { a: ["x"], b: [] }, "error"],
  [{ any: [SPLIT], all: [IMPOSSIBLE] }, { a: "x", b: [] }, false],
];

for (const [conditions, spec, wanted] of OUTCOMES)
  test(`${JSON.stringify(conditions)} with ${JSON.stringify(spec)} is ${wanted}`, () =>
    assert.equal(outcome(conditions, spec), wanted));

test("conditions that Kyverno refuses are told at their place", () => {
  const told = (conditions: unknown) => refusal((scope) => conditionsHold(conditions, scope));
  assert.equal(
    told([{ key: "a", operator: "Equals" }]),
    "a condition needs key, operator and value: its value is missing",
  );
  assert.equal(
    told([{ key: "a", operator: "equals", value: "b" }]),
    "equals is not an operator of Kyverno's conditions",
  );
  assert.equal(told({ any: {} }), "conditions are a list");
  assert.equal(told("a"), "conditions are a list, or any and all with lists");
  assert.equal(told(["a"]), "a condition has key, operator and value");
});
