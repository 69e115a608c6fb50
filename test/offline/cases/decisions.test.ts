import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compilePolicy } from "../../../src/kinds/validating-admission-policy/compiled-policy.js";
import { createExpressionCompiler } from "../../../src/kinds/validating-admission-policy/index.js";
import { readDocument } from "../../../src/kinds/validating-admission-policy/read.js";
import { validateBinding } from "../../../src/kinds/validating-admission-policy/validate-binding.js";
import { validatePolicy } from "../../../src/kinds/validating-admission-policy/validate-policy.js";
import { formatFieldError } from "../../../src/kubernetes/field-error.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import { decideCase } from "../../../src/offline/cases/validating-admission-policy/case.js";
import { asWritten, readVectors, type Vector } from "../../support/vap-vectors.js";

const compiler = createExpressionCompiler();
const curated = readVectors("curated.jsonl");
const generated = readVectors("generated.jsonl");
/** Random rules over resources that have equivalents, addressed and converted in all ways. */
const equivalents = readVectors("equivalents.jsonl");
const bench = readVectors("bench.jsonl");

/** The errors with which the API server refuses to store what a case is made of. */
function refusals({ written }: Vector): string[] {
  const texts: string[] = [];
  for (const document of [...(written.policies as JsonObject[]), ...(written.bindings as JsonObject[])]) {
    const read = readDocument(document);
    if (read.kind === "other" || read.kind === "unreadable") {
      texts.push(read.kind === "other" ? "unknown kind" : read.message);
      continue;
    }
    const errors =
      read.kind === "policy"
        ? validatePolicy(read.resource, compilePolicy(read.resource.spec, compiler, "written"))
        : validateBinding(read.resource);
    texts.push(...errors.map((error) => `${read.resource.metadata.name}: ${formatFieldError(error)}`));
  }
  return texts.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

describe("decisions of the real admission plugin", () => {
  for (const [name, vectors] of Object.entries({ curated, bench })) {
    for (const vector of vectors) {
      test(`${name}: ${vector.id}`, () => {
        assert.deepEqual(asWritten(decideCase(vector.written, compiler)), vector.expected);
      });
    }
  }

  test("every generated case", () => {
    for (const vector of [...generated, ...equivalents]) {
      assert.deepEqual(asWritten(decideCase(vector.written, compiler)), vector.expected, vector.id);
    }
  });

  test("there are as many as there should be", () => {
    assert.deepEqual([curated.length, generated.length, equivalents.length], [625, 1500, 130]);
  });
});

describe("what the API server would not have stored", () => {
  for (const vector of curated.filter(({ written }) => written.raw !== true)) {
    const expected = (vector.written.unvalidated as string[] | undefined) ?? [];
    if (expected.length === 0) continue;
    test(vector.id, () => {
      assert.deepEqual(refusals(vector), [...expected]);
    });
  }

  test("nothing else is refused", () => {
    for (const vector of [...curated, ...generated]) {
      const { written } = vector;
      if (written.unvalidated === undefined) assert.deepEqual(refusals(vector), [], vector.id);
      else if (written.raw !== true)
        assert.deepEqual(refusals(vector), [...(written.unvalidated as string[])], vector.id);
    }
  });
});
