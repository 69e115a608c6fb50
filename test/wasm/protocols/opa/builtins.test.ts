import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sameValue } from "../../../../src/data/same-value.js";
import { builtinsFor } from "../../../../src/wasm/protocols/opa/builtins/index.js";
import { readRego } from "../../../../src/wasm/protocols/opa/read-rego.js";
import { printRego, printTerm } from "../../../../src/wasm/protocols/opa/rego-value.js";
import { file } from "../../support.js";

interface Vector {
  readonly builtin: string;
  readonly args: readonly unknown[];
  readonly result?: unknown;
  readonly error?: string;
}

const traced: string[] = [];
const builtins = builtinsFor({ trace: (text) => traced.push(text), now: () => 1_700_000_000_123, work: () => {} });

/** Versions with a `v` in front: OPA takes them since 1.22, the reference host's library does not, and neither does SemVer. */
const isReference = ({ builtin, args }: Pick<Vector, "builtin" | "args">): boolean =>
  builtin.startsWith("semver.") && args.some((text) => typeof text === "string" && /^v\d/.test(text));

test("Rego builtins refuse versions with a v in front as the reference host does", () => {
  assert.equal(builtins["semver.is_valid"]?.("v1.0.0"), false);
  assert.throws(() => builtins["semver.compare"]?.("v1.0.0", "1.0.0"), /is not a semantic version/);
});

describe("Rego builtins answer as OPA does", () => {
  const lines = file("test/vectors/rego/builtins.jsonl").toString().trim().split("\n");
  for (const [index, line] of lines.entries()) {
    const vector = readRego(line) as Vector;
    if (isReference(vector)) continue;
    const { builtin, args, result, error } = vector;
    test(`${index + 1}: ${builtin}(${printRego(args).slice(1, -1)})`, () => {
      const serve = builtins[builtin];
      assert.ok(serve);
      if (error !== undefined) assert.throws(() => serve(...args));
      else {
        const answer = printRego(serve(...args));
        assert.ok(sameValue(readRego(answer), result), `${answer}, not ${printRego(result)}`);
      }
    });
  }
});

/** Thousands of odd calls: every verb with every kind of number, limits of 64 bits, broken UTF-8, time zones. */
describe("Rego builtins answer generated calls as OPA does", () => {
  const vectors = file("test/vectors/rego/generated.jsonl")
    .toString()
    .trim()
    .split("\n")
    .map((line) => readRego(line) as Omit<Vector, "error"> & { readonly error?: true });
  for (const name of new Set(vectors.map(({ builtin }) => builtin))) {
    test(name, () => {
      const wrong = vectors
        .filter((vector) => vector.builtin === name && !isReference(vector))
        .flatMap(({ args, result, error }) => {
          const answer = answerOf(name, args);
          const same =
            error === true ? answer === undefined : answer !== undefined && sameValue(readRego(answer), result);
          return same ? [] : [`${printRego(args)}: ${answer ?? "fails"}, not ${error ? "fails" : printRego(result)}`];
        });
      assert.deepEqual(wrong, []);
    });
  }
});

/** The answer, printed as the module gets it; undefined when the builtin fails. */
function answerOf(name: string, args: readonly unknown[], print = printRego): string | undefined {
  try {
    return print(builtins[name]?.(...args));
  } catch {
    return undefined;
  }
}

/** Sets, and keys of any kind, as modules pass them. */
describe("Rego builtins answer calls with all that Rego has as OPA does", () => {
  const calls = file("test/vectors/rego/calls.jsonl")
    .toString()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly builtin: string; readonly args: string; readonly answer?: string });
  for (const name of new Set(calls.map(({ builtin }) => builtin))) {
    test(name, () => {
      const wrong = calls
        .filter(({ builtin, args }) => builtin === name && !isReference({ builtin, args: readRego(args) as unknown[] }))
        .flatMap(({ args, answer }) => {
          const ours = answerOf(name, readRego(args) as unknown[], printTerm);
          return ours === answer ? [] : [`${args}: ${ours ?? "fails"}, not ${answer ?? "fails"}`];
        });
      assert.deepEqual(wrong, []);
    });
  }
});

test("a format can't exhaust the host", () => {
  assert.throws(() => builtins.sprintf?.("%9999999d".repeat(100), Array(100).fill(1)), /longer than/);
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
