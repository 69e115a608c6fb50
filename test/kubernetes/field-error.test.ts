import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  aggregate,
  formatFieldError,
  formatPath,
  goJson,
  goJsonMap,
  goQuote,
  invalid,
  notSupported,
  required,
} from "../../src/kubernetes/field-error.js";

/** Spec certificate-request-policy.md 0.3. */
describe("field errors", () => {
  test("have paths of names, indexes and keys", () => {
    assert.equal(formatPath(["spec", "a", 0, "b"]), "spec.a[0].b");
    assert.equal(formatPath(["spec", "otherNames", { key: "1.2.3" }, "values"]), "spec.otherNames[1.2.3].values");
    assert.equal(formatFieldError(required(["spec", { key: "k" }])), "spec[k]: Required value");
  });

  test("have no detail where there is nothing to say", () => {
    assert.equal(invalid(["a"], "x", "").text, 'Invalid value: "x"');
    assert.equal(notSupported(["a"], "x", []).text, 'Unsupported value: "x"');
  });

  test("print numbers of every size bare, lists as JSON", () => {
    assert.equal(invalid(["a"], 9007199254740993n, "").text, "Invalid value: 9007199254740993");
    assert.equal(invalid(["a"], -1, "").text, "Invalid value: -1");
    assert.equal(invalid(["a"], ["a", "b"], "").text, 'Invalid value: ["a","b"]');
  });

  const ODD = "a\"\\<>&\u2028\u00a0\u200b\u{e0001}\u007f\u0001\v\u0007\b\f\n\r\täé日😀'";

  test("quote texts as Go does", () => {
    assert.equal(goQuote(ODD), String.raw`"a\"\\<>&\u2028\u00a0\u200b\U000e0001\x7f\x01\v\a\b\f\n\r\täé日😀'"`);
  });

  test("encode texts as Go's JSON does", () => {
    assert.equal(
      goJson([ODD]),
      String.raw`["a\"\\\u003c\u003e\u0026\u2028` +
        "\u00a0\u200b\u{e0001}\u007f" +
        String.raw`\u0001\u000b\u0007\b\f\n\r\täé日😀'"]`,
    );
  });

  test("encode maps by the bytes of their keys", () => {
    assert.equal(
      goJsonMap({ b: "1", 10: "<", 9: "", "\u{1f600}": "x", "\uffee": "y" }),
      '{"10":"\\u003c","9":"","b":"1","\uffee":"y","\u{1f600}":"x"}',
    );
  });

  test("are told together, each once, and bare when there is one", () => {
    assert.equal(aggregate(["a"]), "a");
    assert.equal(aggregate(["a", "a"]), "a");
    assert.equal(aggregate(["b", "a", "b"]), "[b, a]");
  });
});
