import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { evaluated } from "./evaluated.js";

/** An expression with what Kyverno 1.19.1 says of it. */
interface Golden {
  readonly expression: string;
  readonly wants: "bool" | "string";
  readonly refused?: string;
  readonly error?: string;
  readonly value?: string;
}

const file = new URL("../../../../test/vectors/kyverno/cel.jsonl", import.meta.url);
const cases = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Golden);

/** Expressions of which the outcome differs, with ours. */
function differences(of: readonly Golden[], said: keyof Golden): readonly unknown[] {
  return of.flatMap((golden) => {
    const outcome = evaluated(golden.expression, { wanted: golden.wants, random: Math.random });
    const own = said in outcome ? (outcome as Record<string, unknown>)[said] : undefined;
    return own !== undefined && String(own) === golden[said] ? [] : [{ ...golden, own: outcome }];
  });
}

describe("what the reference says of expressions", () => {
  for (const said of ["refused", "error", "value"] as const) {
    const of = cases.filter((golden) => golden[said] !== undefined);
    test(`is said here, word for word: ${said}`, () => {
      assert.ok(of.length > 200);
      assert.deepEqual(differences(of, said), []);
    });
  }
});
