/** What is kept of answers, and how much (spec kubewarden.md 7.2). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AnswerCache } from "../../../src/wasm/host/answer-cache.js";

const MIB = 1024 * 1024;

describe("kept answers", () => {
  test("are bounded in what they take, whatever a registry answers and however long the questions are", async () => {
    const answers = new AnswerCache<object>(60_000, () => 1);
    for (let index = 0; index < 50; index++)
      await answers.get(`${index} ${"q".repeat(MIB)}`, async () => ({ manifest: "m".repeat(MIB) }));
    assert.ok(answers.size <= 32 * MIB, `${answers.size}`);
    let asked = 0;
    const ask = (question: string) =>
      answers.get(question, async () => {
        asked++;
        return {};
      });
    await ask(`49 ${"q".repeat(MIB)}`);
    assert.equal(asked, 0);
    await ask(`49 ${"q".repeat(MIB - 1)}r`);
    assert.equal(asked, 1);
  });

  test("an answer that is too large is given and not kept", async () => {
    const answers = new AnswerCache<object>(60_000, () => 1);
    let asked = 0;
    const ask = () =>
      answers.get("q", async () => {
        asked++;
        return { manifest: "m".repeat(33 * MIB) };
      });
    assert.ok("manifest" in (await ask()));
    await ask();
    assert.equal(asked, 2);
  });
});
