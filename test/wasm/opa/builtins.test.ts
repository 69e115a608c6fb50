import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseJson, stringifyJson } from "../../../src/data/json.js";
import { builtinsFor } from "../../../src/wasm/opa/builtins/index.js";
import { file } from "../support.js";

interface Vector {
  readonly builtin: string;
  readonly args: readonly unknown[];
  readonly result?: unknown;
  readonly error?: string;
}

const traced: string[] = [];
const builtins = builtinsFor({ trace: (text) => traced.push(text), now: () => 1_700_000_000_123 });

/** Rego knows one kind of number: 1 and 1.0 are the same. */
function sameNumbers(value: unknown): unknown {
  return JSON.parse(stringifyJson(value), (_key, member: unknown) => member);
}

describe("Rego builtins answer as OPA does", () => {
  const lines = file("test/vectors/rego/builtins.jsonl").toString().trim().split("\n");
  for (const [index, line] of lines.entries()) {
    const { builtin, args, result, error } = parseJson(line) as Vector;
    test(`${index + 1}: ${builtin}(${stringifyJson(args).slice(1, -1)})`, () => {
      const serve = builtins[builtin];
      assert.ok(serve);
      if (error !== undefined) assert.throws(() => serve(...args));
      else assert.deepEqual(sameNumbers(serve(...args)), sameNumbers(result));
    });
  }
});

describe("Rego builtins of the host's own", () => {
  test("trace logs and is null", () => {
    assert.equal(builtins.trace?.("a note"), null);
    assert.deepEqual(traced, ["a note"]);
  });

  test("time stands still during an evaluation, and is exact", () => {
    assert.equal(builtins["time.now_ns"]?.(), 1_700_000_000_123_000_000n);
  });

  test("two names work without their prefix, as the reference host has them", () => {
    assert.deepEqual(builtins.date?.(0), [1970, 1, 1]);
    assert.equal(builtins.parse_rfc3339_ns?.("1970-01-01T00:00:01Z"), 1_000_000_000);
  });
});
