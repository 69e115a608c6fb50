/** How large an answer, a patch and what the main thread gets to read may be. What is larger is no outcome, and so never an *allow*. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { diff } from "../../src/data/json-patch.js";
import { readCallAnswer } from "../../src/wasm/answer.js";
import { DEFAULT_GUEST_LIMITS, FINDINGS_CHARACTERS, mostAnswerBytes, mostPatchBytes } from "../../src/wasm/limits.js";
import { printOutcome, readOutcome } from "../../src/wasm/outcome-text.js";
import { readOpaAnswer } from "../../src/wasm/protocols/opa/answer.js";
import { readAnswer } from "../../src/wasm/run/guest/read-answer.js";
import { question, raw } from "./support.js";

const MIB = 1024 * 1024;
const asked = question(raw({}));
const REFUSED = { name: "GuestLimitError" };

describe("limits of answers", () => {
  test("grow with the question, up to a most", () => {
    assert.equal(mostAnswerBytes(DEFAULT_GUEST_LIMITS, 1000), 4000 + MIB);
    assert.equal(mostAnswerBytes(DEFAULT_GUEST_LIMITS, 100 * MIB), DEFAULT_GUEST_LIMITS.outputBytes);
    assert.equal(mostPatchBytes(1000), 4000 + MIB);
    assert.equal(mostPatchBytes(100 * MIB), 8 * MIB);
  });

  test("an answer that is longer is not read", () => {
    const most = mostAnswerBytes(DEFAULT_GUEST_LIMITS, asked.input.length);
    const read = (length: number) => {
      const bytes = Buffer.from('{"accepted":true}'.padEnd(length));
      return readAnswer({ kind: "answer", bytes }, "validate-raw", asked, readCallAnswer);
    };
    assert.deepEqual(read(most), { kind: "outcome", outcome: { verdict: "allow" } });
    assert.throws(() => read(most + 1), REFUSED);
  });

  test("a patch that is longer is not made, nor taken from a Rego policy", () => {
    const most = mostPatchBytes(asked.input.length);
    const added = '[{"op":"add","path":"/a","value":""}]'.length;
    const change = (length: number) =>
      readCallAnswer(`{"accepted":true,"mutated_object":{"a":"${"x".repeat(length)}"}}`, asked);
    assert.equal(change(most - added).verdict, "allow");
    assert.throws(() => change(most - added + 1), REFUSED);
    const patch = Buffer.from(`[${" ".repeat(most)}]`).toString("base64");
    const answer = `[{"result":{"response":{"uid":"u","allowed":true,"patch":"${patch}"}}}]`;
    assert.throws(() => readOpaAnswer(answer, asked), REFUSED);
  });

  test("a patch that repeats a long key in every step is given up while it is made", () => {
    const key = "k".repeat(1000);
    const list = (first: number) => ({ [key]: Array.from({ length: 100 }, (_, index) => first + index) });
    assert.equal(diff(list(0), list(1), 200_000).length, 100);
    assert.throws(() => diff(list(0), list(1), 100_000), { name: "PatchTooLong" });
  });

  test("words of an outcome that are too many are no outcome; its patch does not count", () => {
    const patch = "A".repeat(FINDINGS_CHARACTERS);
    const outcome = { verdict: "allow", mutation: { kind: "patch", patch } } as const;
    assert.deepEqual(readOutcome(printOutcome(outcome)), outcome);
    assert.throws(() => printOutcome({ ...outcome, message: patch }), REFUSED);
    const words = (length: number) => printOutcome({ verdict: "deny", message: "m".repeat(length) });
    const most = FINDINGS_CHARACTERS - words(0).length;
    assert.equal(words(most).length, FINDINGS_CHARACTERS);
    assert.throws(() => words(most + 1), REFUSED);
  });

  test("an outcome keeps the numbers of a status that a policy made", () => {
    const outcome = { verdict: "deny", status: { n: 9007199254740993n, whole: Object(1), half: 0.5 } } as const;
    assert.deepEqual(readOutcome(printOutcome(outcome)), outcome);
  });
});
