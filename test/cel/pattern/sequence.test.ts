import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RE2JS } from "re2js";
import { sequenceTest } from "../../../src/cel/pattern/sequence.js";
import { cpuMilliseconds } from "../../support/cpu-time.js";

const ATOMS = [
  "a",
  "b",
  ".",
  "[ab]",
  "[^a]",
  "[a-c-]",
  "[-b]",
  "\\d",
  "\\w",
  "[\\w.]",
  "\\.",
  "-",
  " ",
  "[^\\s/]",
  "[.$^]",
  "1",
];
const QUANTIFIERS = ["", "", "*", "+", "?"];
const CHARACTERS = ["a", "b", "c", "1", ".", "-", " ", "\n", "/", "é", "😀", "$", "^", "_"];

/** The same numbers in every run. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (state * 1103515245 + 12345) % 2147483648;
    yield state / 2147483648;
  }
}

describe("simple patterns", () => {
  test("decide as RE2 does", () => {
    const random = numbers(7);
    const pick = (from: readonly string[]): string => from[Math.floor(random.next().value * from.length)] as string;
    const many = (most: number, make: () => string): string =>
      Array.from({ length: Math.floor(random.next().value * (most + 1)) }, make).join("");
    for (let round = 0; round < 4000; round++) {
      const source = `${pick(["", "^"])}${many(5, () => pick(ATOMS) + pick(QUANTIFIERS))}${pick(["", "$"])}`;
      const simple = sequenceTest(source);
      assert.ok(simple !== undefined, source);
      const pattern = RE2JS.compile(source);
      for (let i = 0; i < 12; i++) {
        const text = many(8, () => pick(CHARACTERS));
        assert.equal(simple(text), pattern.matcher(text).find(), `${source} on ${JSON.stringify(text)}`);
      }
    }
  });

  test("are only those that have nothing else", () => {
    const others = [
      "(a)",
      "a|b",
      "a{2}",
      "a*?",
      "a\\b",
      "(?i)a",
      "[[:alpha:]]",
      "é",
      "\\pL",
      "a^b",
      "a$b",
      "[\\d-z]",
      "[]a]",
      "\\Qa\\E",
    ];
    for (const source of others) assert.equal(sequenceTest(source), undefined, source);
  });

  test("take time linear in the text", async () => {
    const took = await cpuMilliseconds(() =>
      assert.equal(sequenceTest("^a*a*a*a*a*a*a*a*b$")?.("a".repeat(1_000_000)), false),
    );
    assert.ok(took < 2000, `${took} ms`);
  });
});
