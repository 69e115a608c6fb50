import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { policiesSchema } from "../../src/config/json-schema.js";
import { parseConfig } from "../../src/config/load-config.js";
import { parseYamlDocuments } from "../../src/data/yaml.js";

const validate = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true }).compile(
  policiesSchema(),
);
const documentation = readFileSync(new URL("../../../docs/configuration.md", import.meta.url), "utf8");

/** Texts on which the reader and the schema must agree. */
const GOOD = [
  "{}",
  "p: {module: ./x.wasm, settings: null, message: null, hostCapabilities: ['*'], timeoutEvalSeconds: 2}",
  "p: {url: ./x.wasm, namespacedName: {Namespace: '', Name: p}}",
  "p: {cel: {validations: [{expression: 'true', reason: Invalid}], matchConstraints: {resourceRules: [{scope: '*'}]}}}",
  "g: {expression: a(), message: m, policies: {a: {module: ./x.wasm}}, policyMode: monitor}",
  "g: {expression: a(), message: m, policies: [{name: a, module: ./x.wasm}, {name: b, cel: {}}]}",
  "g: {expression: a(), message: m, policies: {a: {module: ./x.wasm}}, auditAnnotations: {a.b-c_1: 'x'}, messageExpression: x}",
  "g: {expression: a(), message: m, policies: {a: {module: ./x.wasm}}, auditAnnotations: [{key: k, valueExpression: x}]}",
  "g: {expression: a(), message: m, policies: {a: {module: ./x.wasm}}, auditAnnotations: null, messageExpression: null}",
  "g: {expression: a(), message: m, policies: {a: {expression: b(), message: m, auditAnnotations: {k: x}, policies: {b: {cel: {}}}}}}",
];
const BAD = [
  "[]",
  "p: {}",
  "p: 1",
  "p: {module: ''}",
  "p: {module: ./x.wasm, cel: {}}",
  "p: {module: ./x.wasm, url: ./x.wasm}",
  "p: {module: ./x.wasm, policyMode: Protect}",
  "p: {module: ./x.wasm, settings: []}",
  "p: {module: ./x.wasm, timeoutEvalSeconds: 0}",
  "p: {module: ./x.wasm, zzz: 1}",
  "p: {resource: []}",
  "p: {cel: {validations: [{message: m}]}}",
  "a/b: {module: ./x.wasm}",
  "g: {expression: a(), policies: {a: {module: ./x.wasm}}}",
  "g: {expression: a(), message: m, policies: {a: {module: ./x.wasm}}, auditAnnotations: {a/b: x}}",
  "g: {expression: a(), message: m, policies: {a: {module: ./x.wasm}}, auditAnnotations: {k: 1}}",
  "g: {expression: a(), message: m, policies: {a: {module: ./x.wasm}}, auditAnnotations: k}",
  "g: {expression: a(), message: m, policies: {a: {module: ./x.wasm}}, auditAnnotations: [{key: k}]}",
  "g: {expression: a(), message: m, policies: {a: {module: ./x.wasm}}, auditAnnotations: [{key: k, value: x}]}",
  "g: {expression: a(), message: m, policies: {a: {module: ./x.wasm}}, messageExpression: ''}",
  "p: {module: ./x.wasm, auditAnnotations: {k: x}}",
  "g: {expression: a(), message: m, policies: {}}",
  "g: {expression: a(), message: m, policies: {a: {module: ./x.wasm, policyMode: monitor}}}",
  "g: {expression: a(), message: m, policies: [{module: ./x.wasm}]}",
];

describe("the JSON Schema", () => {
  for (const text of GOOD) {
    test(`accepts what the reader accepts: ${text}`, () => {
      assert.ok(validate(parseYamlDocuments(text)[0]), JSON.stringify(validate.errors));
      assert.deepEqual(parseConfig(text, "p.yaml").problems, []);
    });
  }
  for (const text of BAD) {
    test(`refuses what the reader refuses: ${text}`, () => {
      assert.ok(!validate(parseYamlDocuments(text)[0]));
      assert.notDeepEqual(parseConfig(text, "p.yaml").problems, []);
    });
  }

  test("accepts the examples of the documentation", () => {
    const examples = [...documentation.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text!);
    const documents = examples.flatMap((text) => parseYamlDocuments(text));
    assert.ok(documents.length >= 4);
    for (const document of documents) assert.ok(validate(document), JSON.stringify(validate.errors));
  });
});
