/** Values files for policies of the old language. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { valuesOf } from "../../../src/offline/scan/circumstances.js";
import { withValues } from "../../../src/offline/scan/old-values.js";

const policy = (rule: object) => ({ metadata: { name: "p" }, spec: { rules: [{ name: "r", ...rule }] } });
const given = (values: object, more: object = {}) =>
  valuesOf({ policies: [{ name: "p", rules: [{ name: "r", values }] }], ...more }).old;
const ruleOf = (made: object): unknown => (made as { spec: { rules: unknown[] } }).spec.rules[0];
const variable = (name: string, value: unknown) => ({ name, variable: { value } });

test("values stand in place of entries that look something up, also in loops; dots make members", () => {
  const context = [{ name: "map", configMap: { name: "m" } }, variable("own", 1)];
  const loop = { validate: { foreach: [{ context: [{ name: "image", imageRegistry: {} }] }] } };
  const values = given({ "map.data.a": "x", "map.data.b": "y", own: 2, image: "3Gi" });
  assert.deepEqual(ruleOf(withValues(policy({ context, ...loop }), values)), {
    name: "r",
    context: [variable("map", { data: { a: "x", b: "y" } }), variable("own", 1)],
    validate: { foreach: [{ context: [variable("image", "3Gi")] }] },
  });
});

test("values that no entry names are variables of the rule, and those of the request are none", () => {
  const values = given({ extra: "e", "request.namespace": "n" });
  assert.deepEqual(ruleOf(withValues(policy({ validate: {} }), values)), {
    name: "r",
    validate: {},
    context: [variable("extra", "e")],
  });
});

test("a rule's own values take precedence over global ones; other policies keep what they have", () => {
  const values = given({ mode: "own" }, { globalValues: { mode: "all", more: 1, "request.operation": "CREATE" } });
  assert.deepEqual(ruleOf(withValues(policy({}), values)), {
    name: "r",
    context: [variable("mode", "own"), variable("more", 1)],
  });
  const other = { metadata: { name: "q" }, spec: { rules: [{ name: "r" }] } };
  assert.equal(withValues(other, given({ mode: "own" })), other);
});

test("values of single resources count where they do not contradict each other", () => {
  const resources = [
    { name: "x", values: { "map.data.a": 1, mode: "strict", "request.operation": "UPDATE" } },
    { name: "y", values: { "map.data.b": 2, mode: "lax" } },
  ];
  const { old } = valuesOf({ policies: [{ name: "p", resources }] });
  assert.deepEqual(ruleOf(withValues(policy({}), old)), {
    name: "r",
    context: [variable("map", { data: { a: 1, b: 2 } })],
  });
});
