import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Question, type QuestionFailure, Questions, Waiting } from "../../src/cel/questions.js";

const NEVER = new AbortController().signal;
const said = (failure: QuestionFailure): string =>
  failure.kind === "limit" ? `limit ${failure.limit}` : `thrown ${String(failure.error)}`;

function question(key: string, put: () => string | Promise<string>): Question<string> {
  return { key, put, failed: said };
}

const later = async (answer: string): Promise<string> => {
  await sleep(1);
  return answer;
};

describe("questions", () => {
  test("are put once, and answered at once from then on", () => {
    const questions = new Questions(5);
    let put = 0;
    const ask = () =>
      questions.ask(
        question("a", () => {
          put += 1;
          return "yes";
        }),
      );
    assert.deepEqual([ask(), ask(), put, questions.waiting], ["yes", "yes", 1, false]);
  });

  test("are put once while their answer is on its way, too", async () => {
    const questions = new Questions(5);
    let put = 0;
    const ask = () =>
      questions.ask(
        question("a", () => {
          put += 1;
          return later("yes");
        }),
      );
    const answers = await questions.settle(
      () => [ask(), ask()],
      { signal: NEVER },
      () => [],
    );
    assert.deepEqual([answers, put], [["yes", "yes"], 1]);
  });

  test("of one round are waited for together, and then answered to a second attempt", async () => {
    const questions = new Questions(5);
    let under_way = 0;
    let most = 0;
    const slow = (answer: string) => async () => {
      under_way += 1;
      most = Math.max(most, under_way);
      await sleep(2);
      under_way -= 1;
      return answer;
    };
    let attempts = 0;
    const result = await questions.settle(
      () => {
        attempts += 1;
        const answers = ["a", "b", "c"].map((key) => questions.ask(question(key, slow(key))));
        return answers.map((answer) => (answer instanceof Waiting ? "?" : answer)).join("");
      },
      { signal: NEVER },
      () => "gone",
    );
    assert.deepEqual([result, attempts, most], ["abc", 2, 3]);
  });

  test("that depend on each other take a round each", async () => {
    const questions = new Questions(10);
    let attempts = 0;
    const result = await questions.settle(
      () => {
        attempts += 1;
        let text = "";
        for (let i = 0; i < 6; i++) {
          const answer = questions.ask(question(`${i}${text}`, () => later(String(i))));
          if (answer instanceof Waiting) return text;
          text += answer;
        }
        return text;
      },
      { signal: NEVER },
      () => "gone",
    );
    assert.deepEqual([result, attempts], ["012345", 7]);
  });

  test("an attempt that need not wait is settled without a promise, and looks at no signal", () => {
    const questions = new Questions(1);
    const waiter = {
      get signal(): AbortSignal {
        throw new Error("nobody waits");
      },
    };
    assert.equal(
      questions.settle(
        () => questions.ask(question("a", () => "now")),
        waiter,
        () => "gone",
      ),
      "now",
    );
  });

  test("beyond the limit are failures; those already put are not", async () => {
    const questions = new Questions(2);
    const ask = (key: string) => questions.ask(question(key, () => later(key)));
    assert.deepEqual([ask("a"), ask("b")], [Waiting.INSTANCE, Waiting.INSTANCE]);
    assert.equal(ask("c"), "limit 2");
    const end = await questions.settle(
      () => [ask("a"), ask("b"), ask("c")],
      { signal: NEVER },
      () => [],
    );
    assert.deepEqual(end, ["a", "b", "limit 2"]);
  });

  test("that throw or reject are failures, and leave no rejection behind", async () => {
    const questions = new Questions(5);
    const thrown = question("a", () => {
      throw new Error("at once");
    });
    const rejected = question("b", () => Promise.reject(new Error("later")));
    assert.equal(questions.ask(thrown), "thrown Error: at once");
    const answer = await questions.settle(
      () => questions.ask(rejected),
      { signal: NEVER },
      () => "gone",
    );
    assert.equal(answer, "thrown Error: later");
  });

  test("are not waited for once nobody wants the answer, and nothing further is asked", async () => {
    const questions = new Questions(5);
    const gone = new AbortController();
    let attempts = 0;
    const settled = questions.settle(
      () => {
        attempts += 1;
        return questions.ask(question("a", () => new Promise<string>(() => {})));
      },
      { signal: gone.signal },
      () => "gone",
    );
    gone.abort();
    assert.deepEqual([await settled, attempts], ["gone", 1]);
  });

  test("have as many answers as keys, whatever the keys are called", () => {
    const questions = new Questions(5);
    for (const key of ["__proto__", "constructor", ""])
      assert.equal(questions.ask(question(key, () => `of ${key}`)), `of ${key}`);
    assert.equal(questions.empty, false);
  });

  test("whose failure cannot be told reject the wait, and are waited for no longer", async () => {
    const refuse = (error: Error) => ({
      key: "a",
      put: () => Promise.reject(error),
      failed: () => {
        throw new Error("no answer at all");
      },
    });
    const questions = new Questions(5);
    let attempts = 0;
    const settled = questions.settle(
      () => {
        attempts += 1;
        if (attempts > 3) throw new Error("it never ends");
        return questions.ask(refuse(new Error("refused")));
      },
      { signal: AbortSignal.timeout(60_000) },
      () => Waiting.INSTANCE,
    );
    await assert.rejects(async () => settled, /no answer at all/);
    assert.deepEqual([attempts, questions.waiting], [1, false]);
    // Where nobody waits it harms nobody either.
    questions.ask(refuse(new Error("unheard")));
    await sleep(1);
    assert.equal(questions.waiting, false);
  });
});
