import assert from "node:assert/strict";
import { test } from "node:test";
import { brokenLines } from "../../../../src/offline/convert/kyverno/expression-lines.js";

test("a long expression ends its lines at its loosest operators, and inside of what is called", () => {
  const long =
    "object.spec.containers.all(c, c.image.startsWith('registry.example.com/, && x') && has(c.resources) && c.name != 'a' || has(c.resources.limits))";
  assert.equal(
    brokenLines(long),
    [
      "object.spec.containers.all(c,",
      "  c.image.startsWith('registry.example.com/, && x') && has(c.resources) && c.name != 'a' ||",
      "  has(c.resources.limits)",
      ")",
    ].join("\n"),
  );
  const choice = `${"a".repeat(40)} == 1 ? ${"b".repeat(40)} : ${"c".repeat(40)} ? d : e`;
  assert.deepEqual(brokenLines(choice).split("\n"), [
    `${"a".repeat(40)} == 1 ?`,
    `${"b".repeat(40)} :`,
    `${"c".repeat(40)} ?`,
    "d :",
    "e",
  ]);
});

test("every expression keeps its tokens, and one with lines of its own stays", () => {
  for (const each of [
    "short",
    `a\n&& ${"b".repeat(200)}`,
    `f(${"a".repeat(60)}, g([${"b".repeat(60)}, "x, y"]), r"\\")`,
    `"${"a || b".repeat(30)}"`,
    `(${"a".repeat(99)}).b`,
  ]) {
    assert.equal(brokenLines(each).replace(/\s+/g, ""), each.replace(/\s+/g, ""));
    if (each.includes("\n")) assert.equal(brokenLines(each), each);
  }
});
