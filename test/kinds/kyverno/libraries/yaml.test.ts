/** `yaml.parse` has no value where the reference has none. The expectations are Kyverno 1.19.1's. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { libraryBindings } from "../../../../src/kinds/kyverno/libraries/index.js";
import { resultOf } from "../evaluated.js";

const parsed = (object: string): unknown =>
  resultOf("json.marshal(yaml.parse(object))", { bindings: { ...libraryBindings, object } });

describe("a text of YAML is read as Go reads it", () => {
  for (const [text, json] of [
    ["---\n---\na: 1", "null"],
    ["a: 1\n---\nb: 2", '{"a":1}'],
    ["---\n...\n---\na: 1", "null"],
    ["# only", "null"],
    ["%YAML 1.1\n---\na: 1", '{"a":1}'],
    ["0o10", "8"],
    ["-0O1_0", "-8"],
    ["0X10", "16"],
    ["0B11", "3"],
    ["a: 0o8", '{"a":"0o8"}'],
    ["0o10: x", '{"8":"x"}'],
    ["1.10: x", '{"1.1":"x"}'],
    ["yes: x", '{"true":"x"}'],
    ["{k: 2, <<: {k: 1}, z: 1}", '{"k":1,"z":1}'],
    ["<<: {a: 1}\n<<: {a: 2}", '{"a":2}'],
    ["<<: [{a: 1}, {a: 2, b: 3}]", '{"a":1,"b":3}'],
    ["x: &l {a: 1}\n<<: [*l, {b: 1}]", '{"a":1,"b":1,"x":{"a":1}}'],
    ["a: |\n  x", '{"a":"x"}'],
    ["a: |\n  x\n", '{"a":"x\\n"}'],
    ["a: >-\n  x\n  y", '{"a":"x y"}'],
    ["a: !foo x", '{"a":"x"}'],
    ["a: !!omap [a: 1]", '{"a":[{"a":1}]}'],
    ["a: !!binary aGk=", '{"a":"hi"}'],
    ["a: !!float '3'", '{"a":3}'],
    ["1e10: x", '{"1e+10":"x"}'],
    ["1_000e1_0", "10000000000000"],
    ["1e400", '"1e400"'],
    ["a: \ufeffb", '{"a":"\ufeffb"}'],
  ] as const) {
    test(JSON.stringify(text), () => assert.equal(parsed(text), json));
  }
});

describe("a text that Go refuses has no value", () => {
  for (const text of [
    "%YAML 1.2\n---\na: 1",
    "%YAML 3.0\n---\na: 1",
    "%YAML 1.1\n%YAML 1.1\n---\na",
    "%FOO bar\n---\na: 1",
    "a: \u0001",
    'a: "\u0001"',
    "a: \u0085b",
    "a: \u2028b",
    "a: 1\n---\n\u0001",
    "~: x",
    ": x",
    "[a]: x",
    "{a: b}: x",
    "a: [1,2]: x",
    "a: &b [1]\n*b : x",
    "9223372036854775808: x",
    "<<: 1",
    "<<: ~",
    "<<: [1]",
    "<<: [[{a: 1}]]",
    "x: &l [{a: 1}]\n<<: *l",
    'a: "\\ud83d\\ude00"',
    "{:a}",
    "...",
    "\t",
  ]) {
    test(JSON.stringify(text), () =>
      assert.match(String(parsed(text)), /^error: error converting YAML to JSON: yaml: /),
    );
  }
});
