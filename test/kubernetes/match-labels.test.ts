import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { matchLabelsError } from "../../src/kubernetes/match-labels.js";

describe("labels that a selector wants", () => {
  test("are any that can be", () => {
    assert.equal(matchLabelsError({}), undefined);
    assert.equal(matchLabelsError({ a: "", "app.kubernetes.io/name": "x_1" }), undefined);
  });

  test("have one that cannot be told, the first by the bytes of its key", () => {
    assert.match(matchLabelsError({ b: "!", $x: "v" }) ?? "", /^key: Invalid value: "\$x": name part must consist of/);
    assert.match(matchLabelsError({ b: "b*" }) ?? "", /^values\[0\]\[b\]: Invalid value: "b\*": a valid label must be/);
  });

  test("have both told when key and value of one are wrong", () => {
    assert.match(
      matchLabelsError({ $x: "$v" }) ?? "",
      /^\[key: Invalid value: .*, values\[0\]\[\$x\]: Invalid value: .*\]$/s,
    );
  });
});
