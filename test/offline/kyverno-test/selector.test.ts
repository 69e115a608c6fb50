import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseSelector, wildcardMatch } from "../../../src/offline/kyverno-test/selector.js";

const RESULT = { policy: "need-owner", rule: "r1", resources: ["bad", "team-a/good"] };

describe("a selector", () => {
  test("takes results whose policy, rule and resource fit", () => {
    assert.deepEqual(parseSelector("policy=*,rule=*,resource=*").select(RESULT), RESULT);
    assert.deepEqual(parseSelector("").select(RESULT), RESULT);
    assert.deepEqual(parseSelector(" policy = need-* , rule=r?").select(RESULT), RESULT);
    assert.equal(parseSelector("policy=need").select(RESULT), undefined);
    assert.equal(parseSelector("rule=r").select(RESULT), undefined);
    assert.equal(parseSelector("resource=good").select(RESULT), undefined);
  });

  test("leaves of a result's resources those that fit", () => {
    assert.deepEqual(parseSelector("resource=bad").select(RESULT)?.resources, ["bad"]);
    assert.deepEqual(parseSelector("resource=team-a/*").select(RESULT)?.resources, ["team-a/good"]);
  });

  test("takes what says nothing of the policy, the rule or resources", () => {
    const bare = {};
    const { select, resource } = parseSelector("policy=p,rule=r,resource=x*");
    assert.equal(select(bare), bare);
    assert.deepEqual([resource?.("xy"), resource?.("y")], [true, false]);
    assert.equal(parseSelector("resource=*").resource, undefined);
  });

  test("says what it does not understand", () => {
    assert.deepEqual(parseSelector("abc,foo=zz,policy=p=q").errors, [
      "Invalid test-case-selector argument (abc). Parameter must be in the form `<key>=<value>`.",
      "Invalid test-case-selector (foo=zz). Parameter can only be policy, rule or resource.",
      "Invalid test-case-selector argument (policy=p=q). Parameter must be in the form `<key>=<value>`.",
    ]);
  });
});

test("wildcards stand for any text and for one character", () => {
  for (const [pattern, text, fits] of [
    ["", "", true],
    ["", "a", false],
    ["*", "", true],
    ["a*c", "abbc", true],
    ["a*c", "abcd", false],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["*b*", "abc", true],
    ["*ab", "aab", true],
    ["a.c", "abc", false],
  ] as const) {
    assert.equal(wildcardMatch(pattern, text), fits, `${pattern} ${text}`);
  }
});

test("a pattern of many stars is matched in time", () => {
  assert.equal(wildcardMatch("*a".repeat(50), "a".repeat(5_000)), true);
  assert.equal(wildcardMatch(`${"*a".repeat(50)}b`, "a".repeat(5_000)), false);
});
