import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseTestFile } from "../../../src/offline/kyverno-test/test-file.js";

const HEAD = "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\n";

function read(text: string) {
  const file = parseTestFile(HEAD + text);
  assert.ok(file.ok, file.ok ? "" : file.error);
  return file.tests;
}

function errorOf(text: string): string {
  const file = parseTestFile(text);
  return file.ok ? "none" : file.error;
}

describe("a test file", () => {
  test("holds any number of tests", () => {
    const tests = read(`results: []\n---\n# nothing\n---\n${HEAD}policies: [a.yaml]\n`);
    assert.deepEqual(
      tests.map(({ policies }) => policies),
      [[], ["a.yaml"]],
    );
  });

  test("names each path once, and payloads without what leads nowhere", () => {
    const [file] = read(
      "policies: [a, b, a]\nresources: [r, r]\njsonPayload: x.json\njsonPayloads: [./a.json, ' ', a.json, b//c.json]",
    );
    assert.deepEqual(file?.policies, ["a", "b"]);
    assert.deepEqual(file?.resources, ["r"]);
    assert.deepEqual(file?.jsonPayloads, ["a.json", "b/c.json"]);
    assert.deepEqual(read("jsonPayload: ./x.json")[0]?.jsonPayloads, ["x.json"]);
  });

  test("may write its fields in any case, as some that are published do", () => {
    const [file] = read("Policies: [a]\nresults: [{ Policy: p, result: pass, isMUtatingPolicy: true }]");
    assert.deepEqual(file?.policies, ["a"]);
    assert.equal(file?.results[0]?.policy, "p");
  });

  test("takes null for absent", () => {
    const [file] = read("policies:\nresources: null\nresults:\n");
    assert.deepEqual([file?.policies, file?.resources, file?.results], [[], [], []]);
  });

  test("is refused for the first unknown field in order of names", () => {
    const prefix = "error unmarshaling JSON: while decoding JSON: json: ";
    assert.equal(errorOf(`${HEAD}foo: 1\nbar: 2\n`), `${prefix}unknown field "bar"`);
    assert.equal(errorOf(`${HEAD}results: [{ policy: p, kindd: Pod }]`), `${prefix}unknown field "kindd"`);
    assert.equal(errorOf(`${HEAD}metadata: { nme: x }`), `${prefix}unknown field "nme"`);
  });

  test("is refused for fields of the wrong type and for what is no map", () => {
    const prefix = "error unmarshaling JSON: while decoding JSON: json: ";
    assert.equal(
      errorOf(`${HEAD}exceptions: abc`),
      `${prefix}cannot unmarshal string into Go struct field Test.exceptions of type []string`,
    );
    assert.equal(errorOf("- a"), `${prefix}cannot unmarshal array into Go value of type v1alpha1.Test`);
  });

  test("is refused when it is no YAML, or names a key twice", () => {
    assert.match(errorOf("a: ["), /^error converting YAML to JSON: yaml: /);
    assert.match(errorOf(`${HEAD}kind: Test`), /^error converting YAML to JSON: yaml: .* at line 3/);
  });
});
