import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { runCommandLine } from "../../../src/cli/command-line.js";

interface Vector {
  readonly id: string;
  readonly text: string;
  readonly docs: readonly unknown[];
  readonly error?: string;
}

const folder = mkdtempSync(join(tmpdir(), "read-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function read(args: readonly string[], stdin = "") {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  const code = await runCommandLine(["read", ...args], { env: {}, stdin: Readable.from([stdin]), stdout, stderr });
  stdout.end();
  stderr.end();
  const [out, err] = await printed;
  return { code, out, err };
}

describe("read", () => {
  test("prints what Kubernetes' decoder makes of its edge cases, and fails where that does", async () => {
    const lines = readFileSync(new URL("../../../../test/vectors/yaml/edge.jsonl", import.meta.url), "utf8").trim();
    const wrong: unknown[] = [];
    for (const line of lines.split("\n")) {
      const { id, text: source, docs, error } = JSON.parse(line) as Vector;
      const { code, out, err } = await read([], source);
      const printed = out.split("\n").slice(0, -1);
      const same = isDeepStrictEqual(
        printed.map((each) => JSON.parse(each) as unknown),
        docs,
      );
      if (!same || code !== (error === undefined ? 0 : 1) || /^(?!warning: )./m.test(err) !== (error !== undefined))
        wrong.push({ id, out, err, docs, error });
    }
    assert.deepEqual(wrong, []);
  });

  test("goes on with the next file behind one that is broken, or not there", async () => {
    const broken = file("broken.yaml", "a: 1\n---\nb: [\n  é, }\n---\nc: 3\n");
    const sound = file("sound.json", '{"d": 9007199254740993, "e": 1.0}{"f": null}');
    const { code, out, err } = await read([broken, join(folder, "missing.yaml"), "-", sound], "g: no\n");
    assert.equal(code, 2);
    assert.equal(out, '{"a":1}\n{"g":false}\n{"d":9007199254740993,"e":1.0}\n{"f":null}\n');
    const [first = "", second = "", ...others] = err.trimEnd().split("\n");
    assert.ok(first.startsWith(`${broken}:4:6: `), first);
    assert.match(second, /missing\.yaml: no such file/);
    assert.deepEqual(others, []);
  });

  test("says where documents and their values stand", async () => {
    const source = '# first\na: &x\n  - é: 1\n    b~/c: {d: e}\nf: *x\n---\n"g": |\n  text\n';
    const { out } = await read(["--positions", "-"], source);
    const [first, second] = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    const x = (at: string) => ({
      [at]: "3:3",
      [`${at}/0`]: "3:5",
      [`${at}/0/é`]: "3:8",
      [`${at}/0/b~0~1c`]: "4:11",
      [`${at}/0/b~0~1c/d`]: "4:15",
    });
    const value = [{ é: 1, "b~/c": { d: "e" } }];
    assert.deepEqual(first, {
      file: "-",
      line: 2,
      column: 1,
      document: { a: value, f: value },
      positions: { "": "2:1", ...x("/a"), ...x("/f") },
    });
    assert.deepEqual(second, {
      file: "-",
      line: 7,
      column: 1,
      document: { g: "text\n" },
      positions: { "": "7:1", "/g": "7:6" },
    });
  });

  test("says which key stands twice, and goes on", async () => {
    const { code, out, err } = await read(["-"], "a: 1\na: 2\n");
    assert.deepEqual([code, out], [0, '{"a":2}\n']);
    assert.equal(err, "warning: -:2:1: duplicate key: the same key stands above in this map\n");
  });

  test("gives the place of the value that counts", async () => {
    const source = "base: &b {one: 1, two: 2}\nall:\n  <<: [{one: 0}, *b]\n  two: 3\n  two: 4\n  0x10: 5\n";
    const { out } = await read(["--positions"], source);
    const { document, positions } = JSON.parse(out) as { document: unknown; positions: Record<string, string> };
    assert.deepEqual(document, { base: { one: 1, two: 2 }, all: { one: 0, two: 4, 16: 5 } });
    assert.deepEqual([positions["/all/one"], positions["/all/two"], positions["/all/16"]], ["3:14", "5:8", "6:9"]);
    assert.equal(positions["/all/<<"], undefined);
  });

  test("gives the places of all values, however many the aliases stand for", async () => {
    const source = `a: &a [${"1,".repeat(1_500)}]\nlists: [${"*a,".repeat(75)}]\nlast: [x]\n`;
    const { positions } = JSON.parse((await read(["--positions"], source)).out) as {
      positions: Record<string, string>;
    };
    assert.deepEqual([positions["/lists/74/1499"], positions["/last/0"]], ["1:3006", "3:8"]);
  });

  test("finds the places of a long line without looking at it again for each", async () => {
    const items = Array.from({ length: 20_000 }, (_, index) => `"${index}"`).join(",");
    const before = process.cpuUsage();
    const { out } = await read(["--positions"], `{"a": [${items}]}`);
    const { user } = process.cpuUsage(before);
    const { positions } = JSON.parse(out) as { positions: Record<string, string> };
    assert.equal(positions["/a/19999"], `1:${7 + items.lastIndexOf('"', items.length - 2) + 1}`);
    // Twenty thousand times a line of 150,000 characters would take half a minute.
    assert.ok(user < 5_000_000, `${user} µs`);
  });
});
