import assert from "node:assert/strict";
import { test } from "node:test";
import { inOrder } from "../../../src/offline/scan/in-order.js";

async function* numbers(count: number): AsyncGenerator<number> {
  for (let i = 0; i < count; i++) yield i;
}

test("answers come in the order of the questions, and no more are under way than allowed", async () => {
  let [underWay, most] = [0, 0];
  const answer = async (question: number): Promise<number> => {
    most = Math.max(most, ++underWay);
    for (let turns = (question * 7) % 5; turns >= 0; turns--) await new Promise(setImmediate);
    underWay--;
    return question;
  };
  const answers: number[] = [];
  for await (const each of inOrder(numbers(20), answer, 3)) answers.push(each);
  assert.deepEqual(answers, [...Array(20).keys()]);
  assert.equal(most, 3);
});

test("a failure is told when its turn comes", async () => {
  const got: number[] = [];
  const answer = async (question: number): Promise<number> => {
    if (question === 2) throw new Error("broken");
    return question;
  };
  await assert.rejects(async () => {
    for await (const each of inOrder(numbers(9), answer, 4)) got.push(each);
  }, /broken/);
  assert.deepEqual(got, [0, 1]);
});
