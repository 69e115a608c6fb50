import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { createRuleCompiler } from "../../../src/kinds/certificate-request-policy/index.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import { decideReview, type ReviewExpectation } from "../../../src/offline/cases/certificate-request-policy/review.js";

interface Golden extends JsonObject {
  readonly id: string;
  readonly expect: ReviewExpectation;
}

const UNDECODABLE = "subjectAltName (SAN) extension could not be decoded: ";

const golden = (name: string): readonly Golden[] =>
  readFileSync(new URL(`../../../../test/vectors/certificate-request-policy/${name}`, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Golden);

/** Without the words of Go's decoders: errors, and why subjectAltName could not be decoded. */
function comparable({ result, message, error, evaluators, mayUse }: ReviewExpectation): unknown {
  const text = (said: string | undefined): string | undefined =>
    said?.includes(UNDECODABLE) === true ? said.slice(0, said.indexOf(UNDECODABLE) + UNDECODABLE.length) : said;
  return {
    result,
    message: text(message),
    error: error !== undefined,
    evaluators: evaluators?.map((each) => ({ ...each, message: text(each.message), error: each.error !== undefined })),
    mayUse,
  };
}

describe("the reference's answers", () => {
  for (const [name, count] of [
    ["curated.jsonl", 657],
    ["generated.jsonl", 250],
  ] as const) {
    test(`to the reviews of ${name}`, async () => {
      const compiler = createRuleCompiler();
      const cases = golden(name);
      assert.equal(cases.length, count);
      for (const each of cases) {
        const answer = await decideReview(each, compiler);
        assert.deepEqual(comparable(answer), comparable(each.expect), each.id);
      }
    });
  }
});
