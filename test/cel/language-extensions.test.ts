import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createEnvironment, type LanguageExtension } from "../../src/cel/index.js";

const EXPRESSIONS: Readonly<Record<LanguageExtension, string>> = {
  bindings: "cel.bind(x, 1, x + x) == 2",
  encoders: 'base64.encode(b"a") == "YQ=="',
  jsonpatch: 'jsonpatch.escapeKey("~a/~1/") == "~0a~1~01~1"',
  math: "math.greatest(1, 2) == 2 && math.abs(-1) == 1",
  regex: 'regex.replace("abc", "b", "") == "ac"',
  strings: '"abc".reverse() == "cba"',
};

describe("an extension of the language", () => {
  for (const [extension, expression] of Object.entries(EXPRESSIONS)) {
    test(`is what Kubernetes' environment has only when asked for: ${extension}`, () => {
      assert.equal(createEnvironment({ flavour: "kubernetes" }).compile(expression).ok, false);
      const extensions = [extension as LanguageExtension];
      const compiled = createEnvironment({ flavour: "kubernetes", extensions }).compile(expression);
      assert.ok(compiled.ok);
      assert.equal(compiled.program.evaluate({}).result, true);
    });
  }

  test("comes without what the others bring", () => {
    const environment = createEnvironment({ flavour: "kubernetes", extensions: ["math"] });
    assert.equal(environment.compile(EXPRESSIONS.bindings).ok, false);
    assert.equal(environment.compile("[1].existsOne(x, x == 1)").ok, false);
  });
});
