import assert from "node:assert/strict";
import { test } from "node:test";
import { primary } from "../../../../../src/kinds/kyverno/convert/cel-text.js";
import { NotConverted } from "../../../../../src/kinds/kyverno/convert/not-converted.js";
import { patternHolds } from "../../../../../src/kinds/kyverno/convert/pattern/pattern-rule.js";
import { valueOf as valueFor } from "../converted.js";
import { judged, type Resource } from "./judged.js";

/** A pattern of `spec`, and specs with the path where they fail, or `pass`: a skip passes. */
const WALKS: readonly (readonly [string, unknown, ...(readonly [unknown, string])[]])[] = [
  [
    "anchors come before other keys, and a condition that does not hold skips what is behind it",
    { "(mode)": "strict", level: 5 },
    [{ mode: "strict", level: 5 }, "pass"],
    [{ mode: "strict", level: 6 }, "/level/"],
    [{ mode: "lax", level: 6 }, "pass"],
    [{ level: 6 }, "pass"],
  ],
  [
    "anchors are visited in the order of their written keys",
    { "(b)": "x", "=(a)": "y", c: 1 },
    [{ a: "n", b: "n" }, "pass"],
    [{ a: "n", b: "x" }, "/a/"],
  ],
  [
    "a failing anchor before a condition fails",
    { "(b)": "x", "X(a)": "null", c: 1 },
    [{ a: 1, b: "n" }, "pass"],
    [{ a: 1, b: "x" }, "/a/"],
  ],
  [
    "keys with anchors somewhere inside come first, backwards",
    { a: 1, b: { "(k)": "x", v: 1 }, c: { "(k)": "x", v: 1 } },
    [{ b: { k: "x" }, c: { k: "n" } }, "pass"],
    [{ b: { k: "n" }, c: { k: "x" } }, "/c/v/"],
    [{ a: 2, b: { k: "x", v: 1 }, c: { k: "x", v: 1 } }, "/a/"],
  ],
  [
    "a range in a condition is met by its own text",
    { "(a)": "1-5", b: 1 },
    [{ a: "1-5", b: 2 }, "/b/"],
    [{ a: "6", b: 2 }, "pass"],
  ],
  [
    "everything inside a condition is condition",
    { "(a)": { "(b)": 1, c: 2 }, d: 3 },
    [{ a: { b: 1, c: 2 }, d: 4 }, "/d/"],
    [{ a: { b: 1, c: 9 }, d: 4 }, "pass"],
    [{ a: "text", d: 4 }, "pass"],
  ],
  [
    "items that don't meet a condition are left out, and a list of such items skips what is behind it",
    { a: [{ "(k)": "x", v: 1 }], b: 1 },
    [{ a: [{ k: "n" }, { k: "x", v: 1 }], b: 1 }, "pass"],
    [{ a: [{ k: "n" }, { k: "x", v: 2 }], b: 1 }, "/a/1/v/"],
    [{ a: [{ k: "n" }], b: 2 }, "pass"],
    [{ a: [{ k: "n" }, { k: "x", v: 1 }], b: 2 }, "/b/"],
    [{ a: [], b: 2 }, "/b/"],
    [{ b: 1 }, "/a/"],
  ],
  [
    "a skip inside of =() counts only where all anchors skip",
    { "=(a)": { b: { "(k)": "x" } }, "=(c)": "y", d: 1 },
    [{ a: { b: { k: "n" } }, d: 2 }, "/d/"],
  ],
  [
    "a skip inside of the only =() skips",
    { "=(a)": { b: { "(k)": "x" } }, d: 1 },
    [{ a: { b: { k: "n" } }, d: 2 }, "pass"],
    [{ d: 2 }, "/d/"],
  ],
  [
    "=() is checked where it is there, null too",
    { "=(a)": "x", "=(n)": "<5" },
    [{}, "pass"],
    [{ a: null }, "/a/"],
    [{ n: null }, "pass"],
    [{ n: 7 }, "/n/"],
  ],
  [
    "X() fails where the key is there, whatever it holds",
    { "X(a)": "null" },
    [{}, "pass"],
    [{ a: null }, "/a/"],
    [{ a: "" }, "/a/"],
  ],
  [
    "^() wants an item for each of its patterns, and passes where it is missing",
    { "^(a)": [{ n: "x" }, { n: "y" }] },
    [{}, "pass"],
    [{ a: [{ n: "y" }, { n: "x" }] }, "pass"],
    [{ a: [{ n: "x" }] }, "/a/"],
    [{ a: [] }, "/a/"],
    [{ a: null }, "/a/"],
    [{ a: "x" }, "/a/"],
  ],
  ["^() works for maps only", { "^(a)": ["x"] }, [{ a: ["x"] }, "/a/"], [{}, "pass"]],
  [
    "<() skips where it does not hold, and not where it is missing",
    { "<(mode)": "strict", level: 5 },
    [{ level: 6 }, "/level/"],
    [{ mode: "lax", level: 6 }, "pass"],
    [{ mode: "strict", level: 6 }, "/level/"],
  ],
  [
    "of a list's patterns only the first counts",
    { a: ["x", "y"], b: [{ n: "x" }, { n: "y" }] },
    [{ a: ["x"], b: [{ n: "x" }] }, "pass"],
    [{ a: ["y"], b: [{ n: "x" }] }, "/a/"],
    [{ a: [], b: [{ n: "x" }, { n: "y" }] }, "/b/1/n/"],
  ],
  [
    "lists of lists are compared by position",
    { a: [["x*"]] },
    [{ a: [["xa", "xb"]] }, "pass"],
    [{ a: [["y"]] }, "/a/0/"],
    [{ a: [] }, "/a/"],
  ],
  [
    "an empty map accepts every map, an empty list nothing",
    { a: {} },
    [{ a: { b: 1 } }, "pass"],
    [{}, "/a/"],
    [{ a: "x" }, "/a/"],
  ],
  ["an empty list accepts nothing", { a: [] }, [{ a: [] }, "/a/"], [{ a: ["x"] }, "/a/"]],
  [
    "null is 0 below a map that is there only",
    { a: { b: "<5" } },
    [{ a: {} }, "pass"],
    [{}, "/a/"],
    [{ a: null }, "/a/"],
    [{ a: "text" }, "/a/"],
  ],
];

for (const [name, pattern, ...answers] of WALKS)
  test(name, () => {
    const objects = answers.map(([spec]) => ({ kind: "Widget", spec }));
    const answered = judged({ spec: pattern }, "widgets", objects as never);
    assert.deepEqual(
      answered.map((text) => text.replace(/^validation error: No\. rule check failed at path \/spec/, "")),
      answers.map(([, path]) => path),
    );
  });

test("below metadata only texts are looked at, and a key with wildcards stands for any label", () => {
  const ask = (labels: unknown, found: unknown, resource: Resource = "pods"): string =>
    judged({ metadata: { labels } }, resource, [
      { metadata: found === undefined ? {} : { labels: found } } as never,
    ])[0] ?? "";
  const isPassed = (labels: unknown, found: unknown): boolean => ask(labels, found) === "pass";
  assert.ok(isPassed({ a: 5, b: null }, { a: "x" }));
  assert.ok(!isPassed({ a: 5 }, undefined));
  assert.ok(isPassed({ "team/*": "*" }, { "team/a": "", "team/b": "x" }));
  assert.ok(!isPassed({ "team/*": "*" }, { "other/a": "x" }));
  assert.ok(!isPassed({ "X(debug*)": "null" }, { debugger: "x" }));
  assert.match(ask({ "X(debug*)": "null" }, { debugger: "x" }), /at path \/metadata\/labels\/debugger\/$/);
  assert.ok(isPassed({ "X(debug*)": "null" }, { other: "x" }));
});

test("a list of a built-in kind that may be missing passes where it is missing, whatever its pattern", () => {
  const ask = (pattern: unknown, spec: unknown) => judged({ spec: pattern }, "pods", [{ spec } as never])[0] === "pass";
  for (const pattern of [[], ["x"], [{ key: "x" }], [["x"]]]) assert.ok(ask({ "=(tolerations)": pattern }, {}));
  assert.ok(!ask({ "=(tolerations)": [] }, { tolerations: [] }));
  assert.ok(ask({ "=(tolerations)": [{ key: "x" }] }, { tolerations: [{ key: "x" }] }));
  assert.ok(!ask({ "=(tolerations)": [{ key: "x" }] }, { tolerations: [{ key: "y" }] }));
});

test("a loop is told whether an item passes or skips", () => {
  const pattern = { "(k)": "x", v: ">1" };
  const both = (object: unknown) =>
    (["ok", "skips"] as const).map((key) =>
      valueFor((scope) => ({ cel: patternHolds(pattern, primary("object"), scope)[key] }) as never, object),
    );
  assert.deepEqual(both({ k: "x", v: 2 }), [true, false]);
  assert.deepEqual(both({ k: "x", v: 1 }), [false, false]);
  assert.deepEqual(both({ k: "y", v: 1 }), [true, true]);
  assert.equal(both("text")[0], false);
});

/** Patterns that are not converted, the place and a word of the reason. */
const REFUSED: readonly (readonly [unknown, readonly string[], RegExp])[] = [
  [
    { metadata: { labels: { "team/*": "x*" } } },
    ["metadata", "labels", "team/*"],
    /several labels, of which Kyverno takes any/,
  ],
  [{ metadata: { labels: { "a*": "*", ab: "x" } } }, ["metadata", "labels", "a*"], /several labels/],
  [{ spec: { "+(a)": "x" } }, ["spec", "+(a)"], /Kyverno refuses/],
  [{ spec: { "{{ request.name }}": "x" } }, ["spec", "{{ request.name }}"], /a key with variables/],
  [{ spec: { a: "$(./../b)" } }, ["spec", "a"], /a reference/],
  [{ spec: { a: [[{ "(b)": "x" }]] } }, ["spec", "a", "0"], /anchors in lists of lists/],
];

test("a pattern whose expression would be too long is refused", () => {
  let pattern: unknown = "x";
  for (let depth = 0; depth < 12; depth++) pattern = [{ "(a)": pattern, d: 3, e: 4 }];
  assert.throws(() => judged({ spec: { a: pattern } }, "widgets", []), /more than 50000 characters/);
});

test("what can't be said exactly is refused at its place", () => {
  for (const [pattern, path, reason] of REFUSED)
    assert.throws(
      () => judged(pattern, "pods", []),
      (error) => {
        assert.ok(error instanceof NotConverted);
        assert.match(error.message, reason);
        assert.deepEqual(error.path.map(String), path);
        return true;
      },
    );
});
