import assert from "node:assert/strict";
import { test } from "node:test";
import { primary } from "../../../../../src/kinds/kyverno/convert/cel-text.js";
import { query } from "../../../../../src/kinds/kyverno/convert/jmespath/query.js";
import { refusal, resultOf, written } from "../converted.js";

const EMPTY = 'empty = [dyn(null), dyn(false), dyn(""), dyn([]), dyn({})]';

/** A query, and the CEL that a person would have written, with its variables. */
const TEXTS: readonly (readonly [string, string, ...string[]])[] = [
  ["request.object.spec.a.b", "object.spec.a.b"],
  ["request.oldObject.spec.a", "oldObject.spec.a"],
  ["request.operation || 'BACKGROUND'", "request.operation"],
  ["request.object.metadata.labels.foo || ''", 'object.metadata.?labels.foo.orValue("")'],
  [
    "request.object.metadata.annotations.\"a/b\" || '0s'",
    'object.metadata.?annotations["a/b"].orValue("") == "" ? "0s" : object.metadata.annotations["a/b"]',
  ],
  ["request.object.spec.a || 'x'", 'object.?spec.a.orValue(null) in variables.empty ? "x" : object.spec.a', EMPTY],
  ["request.object.spec.a == 'x'", 'object.?spec.a.orValue("") == "x"'],
  ["request.object.spec.a != `5`", "object.?spec.a.orValue(null) != 5"],
  ["request.object.spec.a == null", "object.?spec.a.orValue(null) == null"],
  ["request.object.spec.a | b | c", "object.?spec.a.b.c.orValue(null)"],
  ["request.object.spec.a[0]", "object.spec.a[?0].orValue(null)"],
  ["request.object.spec.a[0].n", "object.spec.a[?0].optMap(e, e.n).orValue(null)"],
  ["request.object.spec.a[-1]", "object.spec.a.last().orValue(null)"],
  [
    "request.object.spec.a[0].n || ''",
    'object.?spec.a[0].n.orValue(null) in variables.empty ? "" : object.spec.a[0].n',
    EMPTY,
  ],
  [
    "request.object.spec.l[*].n",
    "type(object.spec.?l.orValue(null)) == list ? dyn(object.spec.l.map(e, has(e.n), e.n)) : null",
  ],
  ["request.object.spec.l[].n || `[]`", "object.?spec.l.orValue([]).map(e, has(e.n), e.n)"],
  ["request.object.spec.l[].v[] || `[]`", "dyn(object.?spec.l.orValue([]).map(e, has(e.v), e.v).flatten())"],
  ["request.object.spec.l[] || `[]`", "object.?spec.l.orValue([]) + dyn([])"],
  [
    "request.object.spec.l[?n == 'a'].v || `[]`",
    'object.?spec.l.orValue([]).map(e, e.?n.orValue("") == "a" && has(e.v), e.v)',
  ],
  [
    "request.object.spec.l[?n].n || `[]`",
    "object.?spec.l.orValue([]).map(e, !(e.?n.orValue(null) in variables.empty), e.n)",
    EMPTY,
  ],
  ["request.object.spec.[a, b][].c", "(object.?spec.a.orValue([]) + object.?spec.b.orValue([])).map(e, has(e.c), e.c)"],
  ["request.object.spec.{x: a}", '{"x": dyn(object.spec.?a.orValue(null))}'],
  ["request.object.spec.{x: a} | x", "object.spec.?a.orValue(null)"],
  [
    "request.object.metadata.labels.* || `[]`",
    "object.metadata.?labels.orValue({}).map(k, object.metadata.?labels.orValue({})[k])",
  ],
  [
    "request.object.metadata.labels.keys(@)[?contains(@, 'a')] || `[]`",
    'object.metadata.?labels.orValue({}).map(k, k).filter(e, e.contains("a"))',
  ],
  ["request.object.metadata.labels.keys(@)", "object.metadata.labels.map(k, k)"],
  ["request.userInfo.groups[?@ == 'dev'] | [0]", 'request.userInfo.groups.filter(e, e == "dev")[?0].orValue(null)'],
  ["!(request.object.metadata.labels.a)", 'object.metadata.?labels.a.orValue("") == ""'],
  [
    "request.object.metadata.labels.a && request.operation == 'CREATE'",
    'object.metadata.?labels.a.orValue("") == "" ? dyn(object.metadata.?labels.a.orValue(null)) : dyn(request.operation == "CREATE")',
  ],
  [
    "request.operation == 'CREATE' && request.namespace == 'a' || request.dryRun",
    'request.operation == "CREATE" && request.namespace == "a" || request.dryRun',
  ],
  ["serviceAccountName", "parseServiceAccount(request.userInfo.username).Name"],
];

test("a query becomes the CEL that a person would have written", () => {
  for (const [source, ...texts] of TEXTS)
    assert.deepEqual(
      written((scope) => query(source, scope)),
      texts,
      source,
    );
});

const of = (spec: unknown): unknown => ({ metadata: { name: "w", labels: { x: "1" } }, spec });

/** A query, and its values by `spec`, as Kyverno 1.19.1 answers. */
const VALUES: readonly (readonly [string, ...(readonly [unknown, unknown])[]])[] = [
  ["request.object.spec.a.b.c", [{ a: { b: { c: "x" } } }, "x"], [{ a: { b: {} } }, "error"], [{}, "error"]],
  [
    "request.object.spec.a | b | c",
    [{ a: { b: { c: "x" } } }, "x"],
    [{ a: { b: null } }, null],
    [{ a: "x" }, null],
    [{}, null],
  ],
  [
    "(request.object.spec.a.b).c || 'dflt'",
    [{ a: { b: { c: "x" } } }, "x"],
    [{ a: null }, "dflt"],
    [{ a: "x" }, "dflt"],
    [{}, "dflt"],
  ],
  [
    "request.object.spec.a || 'x'",
    [{ a: 0 }, 0],
    [{ a: "" }, "x"],
    [{ a: false }, "x"],
    [{ a: null }, "x"],
    [{ a: [] }, "x"],
    [{ a: {} }, "x"],
    [{}, "x"],
    [{ a: true }, true],
  ],
  ["request.object.spec.a && `2`", [{ a: 0 }, 2], [{ a: "" }, ""], [{}, null]],
  ["!request.object.spec.a", [{ a: true }, null], [{}, null]],
  ["!(request.object.spec.a)", [{ a: true }, false], [{ a: 0 }, false], [{ a: "" }, true], [{}, true]],
  [
    "request.object.spec.a == request.object.spec.b",
    [{}, true],
    [{ a: 1, b: 1 }, true],
    [{ a: { x: [1] }, b: { x: [1] } }, true],
    [{ a: 1 }, false],
  ],
  ["request.object.spec.a == null", [{ a: null }, true], [{}, true], [{ a: 0 }, false], [{ a: "" }, false]],
  [
    "request.object.spec.a > request.object.spec.b",
    [{ a: 2, b: 1 }, true],
    [{ a: 1, b: 1 }, false],
    [{ a: "2", b: 1 }, null],
    [{ b: 1 }, null],
  ],
  [
    "request.object.spec.l[?v > `1`].n",
    [{ l: [{ n: "a", v: 1 }, { n: "b", v: 2 }, { n: "c" }, { n: "d", v: "5" }] }, ["b"]],
  ],
  ["request.object.spec.[a, b]", [{ a: 1, b: 2 }, [1, 2]], [{}, [null, null]]],
  ["request.object.spec.{x: a, y: b}", [{ a: 1 }, { x: 1, y: null }]],
  [
    "request.object.spec.l[0]",
    [{ l: [{}] }, {}],
    [{ l: [] }, null],
    [{ l: null }, null],
    [{ l: "x" }, null],
    [{}, "error"],
  ],
  ["request.object.spec.l[5].n", [{ l: [{}] }, null], [{ l: "x" }, null], [{}, "error"]],
  ["request.object.spec.l[0].n", [{ l: [{ n: "a" }] }, "a"], [{ l: [{}] }, "error"]],
  ["request.object.spec.l[-2]", [{ l: [1, 2, 3] }, 2], [{ l: [1] }, null]],
  ["request.object.spec.l[*].n", [{ l: [{ n: "a" }, {}, { n: "b" }] }, ["a", "b"]], [{ l: [] }, []], [{}, null]],
  ["request.object.spec.l[].v[]", [{ l: [{ v: [1] }, { v: [2, [3]] }, {}] }, [1, 2, [3]]], [{ l: [] }, []], [{}, null]],
  ["request.object.spec.l[*].v[*].x", [{ l: [{ v: [{ x: 1 }, {}] }, {}] }, [[1]]]],
  [
    "request.object.spec.l[].{x: n, y: v[0]}",
    [
      { l: [{ n: "a", v: [1] }, {}] },
      [
        { x: "a", y: 1 },
        { x: null, y: null },
      ],
    ],
  ],
  [
    "request.object.spec.l[?n == 'a'] | [0].v[0]",
    [{ l: [{ n: "b" }, { n: "a", v: [7] }] }, 7],
    [{ l: [] }, null],
    [{}, null],
  ],
  ["request.object.spec.k[1:3]", [{ k: [1, 2, 3, 4] }, [2, 3]], [{ k: [1] }, []], [{ k: [] }, []], [{}, null]],
  ["request.object.spec.k[-2:]", [{ k: [1, 2, 3] }, [2, 3]], [{ k: [1] }, [1]]],
  ["request.object.spec.k[:-1]", [{ k: [1, 2, 3] }, [1, 2]], [{ k: [] }, []]],
  ["request.object.spec.k[2:-2]", [{ k: [1, 2, 3, 4, 5] }, [3]], [{ k: [1, 2, 3] }, []]],
  ["request.object.spec.k[::-1]", [{ k: [1, 2, 3] }, [3, 2, 1]]],
  ["request.object.spec.m.*", [{ m: { a: 1 } }, [1]], [{ m: {} }, []], [{}, null]],
  ["request.object.spec.m.*.x", [{ m: { a: { x: 1 }, b: {} } }, [1]]],
  ["request.object.spec.[a, b][].c", [{ a: [{ c: 1 }, {}] }, [1]], [{ b: [{ c: 2 }], a: [] }, [2]], [{}, []]],
  ["(request.object.spec.a || request.object.spec.b).c", [{ a: { c: 1 } }, 1], [{ b: { c: 2 } }, 2], [{}, null]],
  ["request.object.spec.a.'b'", [{}, undefined]],
];

test("values are those of Kyverno: what is missing is an error at the end of a plain path, and null inside of expressions", () => {
  for (const [source, ...cases] of VALUES)
    for (const [spec, wanted] of cases) {
      if (wanted === undefined)
        assert.match(
          refusal((scope) => query(source, scope)),
          /not a query/,
        );
      else
        assert.deepEqual(
          resultOf((scope) => query(source, scope), of(spec)),
          wanted,
          `${source} ${JSON.stringify(spec)}`,
        );
    }
});

test("raw strings and literals are read as Kyverno reads them", () => {
  const literals: readonly (readonly [string, unknown])[] = [
    ["['a\\'b'] | [0]", "a'b"],
    ["['a\\\\b'] | [0]", "a\\\\b"],
    ['[`1`, `1.5`, `"a\\`b"`]', [1, 1.5, "a`b"]],
    ['`{"a": [1, {"b": null}]}`.a[1]', { b: null }],
  ];
  for (const [source, wanted] of literals)
    assert.deepEqual(query(source, { names: new Map() } as never).constant?.value, wanted, source);
});

test("what Kyverno's JMESPath does not have, or CEL can't say, is told", () => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ["request.object.spec.a + `1`", /Arithmetic is not part of Kyverno's JMESPath/],
    ["let $x = request in $x", /LetExpression is not part/],
    ["request.object ? 'a' : 'b'", /Ternary is not part/],
    ["request.object.spec.[", /"request.object.spec.\[" is not a query in JMESPath: /],
    ["nothing.a", /"nothing" is neither a name of Kyverno's nor of the context/],
    ["request.roles", /request.roles is not converted, as CEL doesn't know a user's roles/],
    ["request.uid", /request.uid has no counterpart in CEL/],
    ["target.spec", /target, an object that exists already, is not converted/],
    ["random_thing(request.object)", /the function random_thing of JMESPath is not converted/],
    ["request.object.spec.a[::2]", /a slice with a step is not converted/],
  ];
  for (const [source, wanted] of refused)
    assert.match(
      refusal((scope) => query(source, scope)),
      wanted,
      source,
    );
});

test("loops inside of a loop have names of their own", () => {
  assert.deepEqual(
    written((scope) => query("element.l[?n == 'a'].v[*].x", scope), {
      depth: 1,
      names: new Map([["element", { cel: primary("e"), type: "dyn", nullable: false, fails: false }]]),
    }),
    [
      'type(e.?l.orValue(null)) == list ? dyn(e.l.map(e1, e1.?n.orValue("") == "a" && has(e1.v), e1.v.map(e2, has(e2.x), e2.x))) : null',
    ],
  );
});

test("of a rule about Pods the spec and metadata are the Pod's", () => {
  const pod = { object: primary("variables.pod"), oldObject: primary("variables.oldPod") };
  const roots = { object: primary("object"), oldObject: primary("oldObject"), pod };
  const texts: readonly (readonly [string, string])[] = [
    [
      "request.object.spec.containers[].image || `[]`",
      "variables.pod.spec.?containers.orValue([]).map(e, has(e.image), e.image)",
    ],
    ["request.object.metadata.labels.a || ''", 'variables.pod.?metadata.labels.a.orValue("")'],
    ["request.object.kind", "object.kind"],
    ["request.oldObject.spec.a", "variables.oldPod.spec.a"],
    [
      "request.object.spec.containers[?name == 'a' && tty].image || `[]`",
      'variables.pod.spec.?containers.orValue([]).map(e, e.?name.orValue("") == "a" && e.?tty.orValue(null) == true && has(e.image), e.image)',
    ],
    // Autogen changes the plain text request.object only.
    ["request.\"object\".metadata.labels.a || ''", 'object.metadata.?labels.a.orValue("")'],
  ];
  for (const [source, wanted] of texts)
    assert.deepEqual(
      written((scope) => query(source, scope), { roots }),
      [wanted],
      source,
    );
});

test("queries that would grow out of bounds are refused, and the longest one does no harm", () => {
  const path = `request.object.spec${".a".repeat(740)}`;
  assert.equal(written((scope) => query(path, scope))[0]?.length, 1_491);
  assert.match(
    refusal((scope) => query(`${path}.a`, scope)),
    /a query of more than 1500 characters is not converted/,
  );
  const deep = ["(".repeat(700), ")".repeat(700)].join("request.object");
  assert.deepEqual(
    written((scope) => query(deep, scope)),
    ["object"],
  );
  const filters = `request.object.spec${"[?a".repeat(300)}${"]".repeat(300)}`;
  const slices = `request.object.spec.a${"[1:]".repeat(90)}`;
  for (const source of [filters, slices, `request.object${".*".repeat(600)}`])
    assert.match(
      refusal((scope) => query(source, scope)),
      /the query would become more than 10000 characters of CEL/,
    );
});
