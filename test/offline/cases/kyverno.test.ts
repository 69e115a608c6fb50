import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parseJson } from "../../../src/data/json.js";
import { createCompilers } from "../../../src/kinds/kyverno/dialect.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import { decideKyvernoCase } from "../../../src/offline/cases/kyverno/case.js";

const compilers = createCompilers();

/** Cases with what the released program says of them. */
function read(name: string): { readonly id: string; readonly written: JsonObject; readonly expected: unknown }[] {
  const lines = readFileSync(new URL(`../../../../test/vectors/kyverno/${name}`, import.meta.url), "utf8").split("\n");
  return lines
    .filter((line) => line !== "")
    .map((line) => {
      const { id, expect } = JSON.parse(line) as { id: string; expect: unknown };
      return { id, written: parseJson(line) as JsonObject, expected: expect };
    });
}

const asWritten = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

for (const [name, count] of [
  ["engine.jsonl", 455],
  // Spec kyverno.md 11, by the numbers of its rows.
  ["tricky.jsonl", 85],
] as const) {
  const cases = read(name);
  describe(`what Kyverno says of ${name}`, () => {
    for (const { id, written, expected } of cases) {
      test(id, async () => {
        assert.deepEqual(asWritten(await decideKyvernoCase(written, compilers)), expected);
      });
    }
    test("there are as many cases as there should be", () => assert.equal(cases.length, count));
  });
}
