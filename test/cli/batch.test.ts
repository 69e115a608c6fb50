import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../../src/cli/command-line.js";

const vectors = new URL("../../../test/vectors/vap/", import.meta.url);
const lines = (name: string, count: number): string[] =>
  readFileSync(new URL(name, vectors), "utf8").split("\n").slice(0, count);

async function run(args: readonly string[], input: string): Promise<{ code: number; out: string; err: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const out = text(stdout);
  const err = text(stderr);
  const code = await runCommandLine(args, { env: {}, stdin: Readable.from([input]), stdout, stderr });
  stdout.end();
  stderr.end();
  return { code, out: await out, err: await err };
}

const expected = (written: readonly string[]): string =>
  written
    .map((line) => {
      const { id, result } = JSON.parse(line) as { id: string; result: unknown };
      return JSON.stringify({ id, result });
    })
    .join("\n");
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort()
      .map(([key, inner]) => [key, sorted(inner)]),
  );
};
const parsed = (out: string): unknown =>
  out
    .trim()
    .split("\n")
    .map((line) => sorted(JSON.parse(line)));

describe("in bulk", () => {
  for (const [args, name] of [
    [["eval", "--batch"], "curated.jsonl"],
    [["check", "--batch"], "static.jsonl"],
    [["check", "--batch", "--typecheck"], "typecheck.jsonl"],
    [
      ["check", "--batch", "--typecheck", "--schemas", fileURLToPath(new URL("typecheck-schemas.json", vectors))],
      "typecheck.jsonl",
    ],
  ] as const) {
    test(args.slice(0, 4).join(" ").replace(/ \/.*/, ""), async () => {
      const written = lines(name, 70);
      const { code, out, err } = await run(args, `${written.join("\n")}\n\n`);
      assert.deepEqual([code, err], [0, ""]);
      assert.deepEqual(parsed(out), parsed(expected(written)));
    });
  }

  test("a line that is no object ends the run, and is named", async () => {
    const [first] = lines("curated.jsonl", 1);
    const broken = await run(["eval", "--batch"], `${first}\n[1]\n${first}\n`);
    assert.deepEqual(
      [broken.code, broken.err, broken.out.trim().split("\n").length],
      [2, "line 2: not a JSON object\n", 1],
    );
    assert.match((await run(["check", "--batch"], "{")).err, /^line 1: EOF/);
  });

  test("a case that cannot be decided says so", async () => {
    const { code, out } = await run(["eval", "--batch"], '{"id":"x","policies":[{"kind":"Pod"}],"request":{}}\n');
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(out), {
      id: "x",
      result: { error: "policy: kind and metadata.name are required", allowed: false },
    });
  });

  test("cases are of a known format", async () => {
    const known = await run(["eval", "--batch", "--cases", "validating-admission-policy"], "");
    assert.deepEqual(
      [known.code, known.err],
      [3, "nothing was judged: standard input has no line (--allow-empty: exit 0 all the same)\n"],
    );
    const near = await run(["eval", "--batch", "--cases", "validating-admission-polcy"], "{}");
    assert.equal(near.code, 2);
    assert.match(near.err, /did you mean "validating-admission-policy"/);
    const far = await run(["eval", "--batch", "--cases", "x"], "{}");
    assert.deepEqual(
      [far.code, far.err, far.out],
      [
        2,
        "Error: unknown cases 'x' (known: validating-admission-policy, mutating-admission-policy, kyverno, kyverno-old, certificate-request-policy)\n",
        "",
      ],
    );
  });

  test("lines end at line feeds only", async () => {
    const { out } = await run(["cel", "--batch"], '{"expr":"\'a\u2028b\'"}\n{"expr":"1"}');
    const values = out
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { value: unknown }).value);
    assert.deepEqual(values, [{ string: "a\u2028b" }, { int: "1" }]);
    const broken = await run(["cel", "--batch"], '{"expr":1}\nnothing');
    assert.deepEqual([broken.code, JSON.parse(broken.out)], [2, { expr: 1, error: "expr is not a string" }]);
  });

  test("schemas that cannot be read are a mistake of the command line", async () => {
    const { code, err } = await run(["check", "--batch", "--typecheck", "--schemas", "/none.json"], "");
    assert.equal(code, 2);
    assert.match(err, /none\.json/);
  });
});
