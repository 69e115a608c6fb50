import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Outcome } from "../../src/policy/outcome.js";
import { readSettingsVerdict, readValidation } from "../../src/wasm/answer.js";
import { readGatekeeperAnswer } from "../../src/wasm/protocols/gatekeeper/answer.js";
import { readOpaAnswer } from "../../src/wasm/protocols/opa/answer.js";
import type { ReadAnswer } from "../../src/wasm/question.js";
import { question, raw } from "./support.js";

const ASKED = question(raw({}));

describe("an answer that says two things says nothing", () => {
  test("a field twice is an error that names it", () => {
    for (const [text, field] of [
      ['{"accepted":false,"accepted":true}', "accepted"],
      ['{"accepted":true,"\\u0061ccepted":true}', "accepted"],
      ['{"accepted":true,"message":"a","code":1.0,"message":"b"}', "message"],
      ['{"accepted":true,"mutated_object":{"a":{"b":1,"b":2}}}', "b"],
    ] as const) {
      assert.throws(() => readValidation(text, ASKED), { name: "AnswerError", message: new RegExp(`\`${field}\``) });
    }
    assert.throws(
      () => readSettingsVerdict('{"valid":false,"valid":true}'),
      /duplicate field `valid` at line 1 column 23/,
    );
  });

  test("a number that no double holds is an error", () => {
    const text = '{"accepted":true,"mutated_object":{"replicas":1e400}}';
    assert.throws(() => readValidation(text, ASKED), { name: "AnswerError", message: /^number out of range at/ });
  });

  test("the same of Rego's results", () => {
    const answer = (response: string): Outcome => readOpaAnswer(`[{"result":{"response":${response}}}]`, ASKED);
    assert.equal(answer('{"uid":"u","allowed":true}').verdict, "allow");
    for (const [response, said] of [
      ['{"uid":"u","allowed":false,"allowed":true}', /duplicate field `allowed`/],
      ['{"uid":"u","allowed":true,"status":{"code":1e400}}', /number out of range/],
    ] as const) {
      const outcome = answer(response);
      assert.equal(outcome.verdict, "error");
      assert.match(outcome.message ?? "", said);
    }
  });

  test("several results of a Rego rule are an error, whichever comes first", () => {
    const of = (read: ReadAnswer, ...results: string[]): Outcome["verdict"] =>
      read(`[${results.join()}]`, ASKED).verdict;
    const [yes, no] = [true, false].map((allowed) => `{"result":{"response":{"uid":"u","allowed":${allowed}}}}`);
    assert.ok(yes && no);
    assert.deepEqual(
      [of(readOpaAnswer, yes), of(readOpaAnswer, yes, no), of(readOpaAnswer, no, yes), of(readOpaAnswer)],
      ["allow", "error", "error", "error"],
    );
    const [none, one] = ['{"result":[]}', '{"result":[{"msg":"no"}]}'];
    assert.deepEqual([of(readGatekeeperAnswer, none), of(readGatekeeperAnswer, none, one)], ["allow", "error"]);
  });
});
