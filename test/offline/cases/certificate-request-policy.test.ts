import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parseJson } from "../../../src/data/json.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import {
  type AdmissionExpectation,
  createCaseDecider,
} from "../../../src/offline/cases/certificate-request-policy/case.js";

const decide = createCaseDecider();

/** What Go's decoder says is free, but for durations. Mistakes of several members come in an order that changes from run to run. */
const comparable = ({ schemaErrors = [], ...rest }: AdmissionExpectation): object => ({
  ...rest,
  ...(rest.code === 400 && { message: /time: .*/s.exec(rest.message ?? "")?.[0] ?? "" }),
  schemaErrors: [...schemaErrors].sort(),
});

for (const [name, count] of [
  ["admission.jsonl", 117],
  ["admission-more.jsonl", 300],
] as const) {
  describe(`what approver-policy says of ${name}`, () => {
    const file = new URL(`../../../../test/vectors/certificate-request-policy/${name}`, import.meta.url);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    for (const line of lines) {
      const { id, expect } = JSON.parse(line) as { id: string; expect: AdmissionExpectation };
      test(id, async () => {
        const decided = (await decide(parseJson(line) as JsonObject)) as AdmissionExpectation;
        assert.deepEqual(comparable(decided), comparable(expect));
      });
    }
    test("there are as many cases as there should be", () => assert.equal(lines.length, count));
  });
}

test("a case of a kind that there is not is not allowed", async () => {
  assert.deepEqual(await decide({ id: "x", kind: "Admission" }), {
    error: 'there are no cases of the kind "Admission"',
    allowed: false,
  });
});
