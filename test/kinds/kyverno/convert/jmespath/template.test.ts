import assert from "node:assert/strict";
import { test } from "node:test";
import { primary } from "../../../../../src/kinds/kyverno/convert/cel-text.js";
import { messageOf, template } from "../../../../../src/kinds/kyverno/convert/jmespath/template.js";
import { refusal, resultOf, scopeOf, written } from "../converted.js";

const OBJECT = {
  metadata: { name: "w" },
  spec: { k: 5, which: "a", a: "x", l: [{ n: "x" }], s: ["p", "q"], quoted: "it's" },
};

test("texts with variables become CEL, and a text that is one variable keeps the type", () => {
  const cases: readonly (readonly [unknown, string, unknown])[] = [
    ["{{ request.object.spec.k }}", "object.spec.k", 5],
    ["{{request.object.spec.s}}", "object.spec.s", ["p", "q"]],
    ["k is {{ request.object.spec.k }}!", '"k is " + string(object.spec.k) + "!"', "k is 5!"],
    ["{{ request.object.spec.k }}{{ request.object.spec.a }}", "string(object.spec.k) + string(object.spec.a)", "5x"],
    [" {{ request.operation }}", '" " + request.operation', " CREATE"],
    [
      "all: {{ request.object.spec.l[].n }}",
      '"all: " + json.marshal(type(object.?spec.l.orValue(null)) == list ? dyn(object.spec.l.map(e, has(e.n), e.n)) : null)',
      'all: ["x"]',
    ],
    ["{{ request.object.spec.{{ request.object.spec.which }} }}", "object.spec[object.spec.which]", "x"],
    [
      "{{ request.object.spec.\"{{ request.object.spec.which }}\" || 'none' }}",
      'object.?spec[object.spec.which].orValue(null) in [dyn(null), dyn(false), dyn(""), dyn([]), dyn({})] ? "none" : object.spec[object.spec.which]',
      "x",
    ],
    [
      "{{ request.object.spec.l[?n == '{{ request.object.spec.a }}'] | [0].n }}",
      "(object.?spec.l.orValue([]) + dyn([])).filter(e, e.?n.orValue(null) == string(object.spec.a))[?0].n.orValue(null)",
      "x",
    ],
    ["{{ `{{ request.object.spec.s }}`[?@ == 'p'] }}", undefined as never, undefined],
    [["a", "{{ request.object.spec.k }}"], '[dyn("a"), dyn(object.spec.k)]', ["a", 5]],
    [
      { a: { b: "{{ request.object.spec.a }}-b" } },
      '{"a": dyn({"b": dyn(string(object.spec.a) + "-b")})}',
      { a: { b: "x-b" } },
    ],
  ];
  for (const [value, text, wanted] of cases.filter(([, each]) => each !== undefined)) {
    assert.deepEqual(
      written((scope) => template(value, scope), { inline: true }),
      [text],
    );
    assert.deepEqual(
      resultOf((scope) => template(value, scope), OBJECT),
      wanted,
      text,
    );
  }
});

test("constants are printed as Kyverno prints them, and stay constants", () => {
  const names = new Map(
    Object.entries({ ok: ["a", "b"], limit: 3, ratio: 1.5, flag: true, map: { b: 1, a: null }, name: "x" }).map(
      ([key, value]) => [key, template(value, scopeOf())],
    ),
  );
  const cases: readonly (readonly [unknown, unknown])[] = [
    ["only {{ ok }}", 'only ["a","b"]'],
    ["{{ limit }} {{ ratio }} {{ flag }} {{ name }}", "3 1.5 true x"],
    ["{{ limit }}", 3],
    ["{{ map }}!", '{"b":1,"a":null}!'],
    ["\\{{ not }} {{ name }}", "{{ not }} x"],
    [
      ["{{", 5],
      ["{{", 5],
    ],
    [7, 7],
  ];
  for (const [value, wanted] of cases) {
    if (Array.isArray(value)) continue;
    assert.deepEqual(template(value, scopeOf({ names })).constant?.value, wanted, String(value));
  }
});

test("a message without variables is a text", () => {
  assert.equal(messageOf("no \\{{ braces }}", scopeOf()), "no {{ braces }}");
  assert.deepEqual(messageOf("{{ request.namespace }}: no", scopeOf()), {
    text: 'request.namespace + ": no"',
    level: 4,
  });
});

test("a variable inside of a literal is its value", () => {
  const names = new Map([["element", { cel: primary("e"), type: "dyn", nullable: false, fails: false } as const]]);
  assert.deepEqual(
    written((scope) => template("{{ request.object.spec.l[?m == `{{ element.labels }}`].n || `[]` }}", scope), {
      names,
      depth: 1,
    }),
    ["(object.?spec.l.orValue([]) + dyn([])).map(e1, e1.?m.orValue(null) == e.labels ? has(e1.n) : false, e1.n)"],
  );
});

test("what has no counterpart is told", () => {
  const cases: readonly (readonly [unknown, RegExp])[] = [
    ["a $(./../name) b", /a reference/],
    ["{{ request.name }}".repeat(101), /a text with more than 100 variables is not converted/],
    ["$(./../name)", /a reference \$\(…\) to another field is not converted/],
    [{ "a.{{ request.namespace }}": 1 }, /a key with variables is not converted/],
    ["{{ 'abc' }}", /Kyverno refuses the variable "'abc'": it names nothing of the request/],
    ["{{ {{ request.object.spec.k }}.request }}", /a variable that is the name of a variable is not converted/],
  ];
  for (const [value, wanted] of cases)
    assert.match(
      refusal((scope) => template(value, scope)),
      wanted,
    );
});
