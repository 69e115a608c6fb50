import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { list, map, object, oneOf, type Schema, STRING } from "../../../src/kubernetes/custom-resource/schema.js";
import { pruned, siblings, unknownMembers } from "../../../src/kubernetes/custom-resource/unknown-members.js";
import { validate, validateUnique } from "../../../src/kubernetes/custom-resource/validate.js";
import { formatFieldError, formatPath } from "../../../src/kubernetes/field-error.js";

const texts = (value: unknown, schema: Schema): readonly string[] =>
  [...validate(value, schema, ["a"]), ...validateUnique(value, schema, ["a"])].map(formatFieldError);

describe("custom resources", () => {
  test("have texts of few words, in lists too", () => {
    assert.deepEqual(texts(["x", "<", null], list(oneOf("x", "y"))), [
      'a[1]: Unsupported value: "<": supported values: "x", "y"',
      'a[2]: Invalid value: "null": a[2] in body must be of type string: "null"',
      'a[2]: Unsupported value: null: supported values: "x", "y"',
    ]);
  });

  test("have texts of a length and a form, of which the first that is wrong is told", () => {
    const schema: Schema = { type: "string", minLength: 1, maxLength: 3, pattern: "^[a-z]*$" };
    assert.deepEqual(texts("äöü", schema), ["a: Invalid value: \"äöü\": a in body should match '^[a-z]*$'"]);
    assert.deepEqual(texts("", schema), ['a: Invalid value: "": a in body should be at least 1 chars long']);
    assert.deepEqual(texts("abcd", schema), ["a: Too long: may not be more than 3 bytes"]);
    assert.deepEqual(texts("abc", schema), []);
  });

  test("have whole numbers, however they are written, of 64 bits", () => {
    for (const good of [1, -1, 2n ** 60n, Object(2048)]) assert.deepEqual(texts(good, { type: "integer" }), []);
    for (const bad of [1.5, 2 ** 70]) assert.equal(texts(bad, { type: "integer" }).length, 2);
  });

  test("have items that are told apart by a member", () => {
    const schema = list(object({ k: STRING }, ["k"]), { key: "k" });
    assert.deepEqual(texts([{ k: "x" }, { k: "x", l: 1 }, { k: "x" }], schema), ['a[1]: Duplicate value: {"k":"x"}']);
  });

  test("lose members that nobody knows, and only those", () => {
    const schema = object({ a: map(object({ b: STRING })), c: list(object({ d: STRING })), e: STRING });
    const value = JSON.parse('{"a":{"any":{"b":"","x":1}},"c":[{"d":1,"y":{}}],"e":{"z":1},"__proto__":{"e":1}}');
    assert.deepEqual(unknownMembers(value, schema, []).map(formatPath), ["a.any.x", "c[0].y", "e.z", "__proto__"]);
    assert.deepEqual(pruned(value, schema), { a: { any: { b: "" } }, c: [{ d: 1 }], e: {} });
    assert.deepEqual(siblings(["c", 0, "dd"], schema), ["d"]);
    assert.deepEqual(siblings(["a", "any", "bb"], schema), ["b"]);
  });
});
