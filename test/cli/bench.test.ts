/** `bench`: figures that are there, whatever they are. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import type { Figures } from "../../src/cli/bench/figures.js";
import { percentile } from "../../src/cli/bench/measure.js";
import { runCommandLine } from "../../src/cli/command-line.js";

const folder = mkdtempSync(join(tmpdir(), "bench-"));
after(() => rmSync(folder, { recursive: true }));
const write = (name: string, content: string): string => {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
};
const POLICIES = write(
  "policies.yaml",
  `
named: { cel: { validations: [{ expression: "object.metadata.name == 'web'", message: "only web" }] } }
failing: { cel: { validations: [{ expression: "object.nope == 1" }] } }
both:
  expression: "one() || two()"
  message: "neither"
  policies:
    one: { policy: named }
    two: { cel: { validations: [{ expression: "object.metadata.name.size() > 100" }] } }
`,
);
const WEB = write("web.json", JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "web" } }));

async function bench(...args: readonly string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const all = ["bench", "--policies", POLICIES, "--object", WEB, "--seconds", "0.02", ...args];
  const code = await runCommandLine(all, { env: {}, stdin: Readable.from([]), stdout, stderr });
  stdout.end();
  stderr.end();
  return { code, out: await text(stdout), err: await text(stderr) };
}

test("a group: times, how often each member is asked, and what each expression costs", async () => {
  const { code, out, err } = await bench("both", "-o", "json", "--concurrency", "3");
  assert.deepEqual([code, err], [0, ""]);
  const { answer, answers, failed, concurrency, milliseconds, members, expressions, cost } = JSON.parse(out) as Figures;
  assert.deepEqual({ answer, failed, concurrency }, { answer: "ALLOWED", failed: 0, concurrency: 3 });
  assert.ok(answers >= 3);
  assert.ok(milliseconds.median <= milliseconds.p95 && milliseconds.p95 <= milliseconds.p99);
  assert.ok(milliseconds.p99 <= milliseconds.most);
  assert.deepEqual(
    members.map(({ policy, asked }) => [policy, asked]),
    [
      ["both/one", 1],
      ["both/two", 0],
    ],
  );
  assert.deepEqual(
    expressions.map(({ policy, path, limit }) => [policy, path, limit]),
    [["both/one", "spec.validations[0].expression", 1_000_000]],
  );
  assert.ok(cost > 0);
  assert.equal(cost, expressions[0]?.cost);
});

test("a table for people says what was measured", async () => {
  const { code, out } = await bench("named");
  assert.equal(code, 0);
  assert.match(out, /^named \(ValidatingAdmissionPolicy\), about one object: ALLOWED\n/);
  assert.match(out, /evaluations in this process, one after the other, warm; without HTTP/);
  assert.match(out, /median .* 99 % .* per second/);
  assert.match(out, /cost: \d+ units .*\n {4}units {2}of limit/);
});

test("answers that fail are said to, and make the exit code 2", async () => {
  const { code, out } = await bench("failing");
  assert.equal(code, 2);
  assert.match(out, /(\d+) of \1 answers failed: these are the times of failing/);
});

for (const [name, args, error] of [
  ["no policy", [], /^Error: which policy\? bench/],
  ["no time", ["named", "--seconds", "0"], /'0' is not a number above 0 and up to 3600/],
  ["half a question at a time", ["named", "--concurrency", "0.5"], /'0\.5' is not a whole number from 1 to 1024/],
  ["an object without its option", ["named", "pod.yaml"], /an object is named by --object, as in --object FILE/],
  ["a format that there is not", ["named", "-o", "yaml"], /^Error: unknown format 'yaml', expected text or json/],
] as const)
  test(`${name}: a usage error`, async () => {
    const { code, err } = await bench(...args);
    assert.equal(code, 2);
    assert.match(err, error);
  });

test("a percentile is the time below which that share stays", () => {
  const times = Float64Array.from({ length: 100 }, (_, i) => i + 1);
  assert.deepEqual(
    [0.5, 0.95, 0.99, 1].map((share) => percentile(times, share)),
    [50, 95, 99, 100],
  );
  assert.equal(percentile(Float64Array.of(7), 0.5), 7);
});
