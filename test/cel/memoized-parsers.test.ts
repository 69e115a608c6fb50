import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { libraries, memoized } from "../../src/cel/libraries.js";
import type { Value } from "../../src/cel/values/value.js";

function counted() {
  const asked: (readonly Value[])[] = [];
  const answer = memoized((...args) => {
    asked.push(args);
    return args.length;
  });
  return { asked, answer };
}

describe("a memoized parser", () => {
  test("is asked once for the same text", () => {
    const { asked, answer } = counted();
    assert.deepEqual([answer("a"), answer("a"), answer("b")], [1, 1, 1]);
    assert.equal(asked.length, 2);
  });

  test("is asked each time for long texts, other kinds and more arguments", () => {
    const { asked, answer } = counted();
    for (const args of [["x".repeat(300)], [1], ["a", true]]) {
      answer(...args);
      answer(...args);
    }
    assert.equal(asked.length, 6);
  });

  test("forgets what is long ago", () => {
    const { asked, answer } = counted();
    for (let i = 0; i < 600; i++) answer(`${i}`);
    answer("0");
    assert.equal(asked.length, 601);
  });

  test("belongs to one environment", () => {
    const parser = () =>
      libraries("kubernetes")
        .flatMap(({ functions }) => functions)
        .find(({ name }) => name === "quantity")?.overloads[0]?.implementation;
    assert.notEqual(parser(), parser());
    assert.equal(parser()?.("1Gi")?.toString(), "1Gi");
  });
});
