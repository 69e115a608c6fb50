import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ScanError } from "../../../../src/offline/scan/scan-error.js";
import { textsOf } from "../../../../src/offline/scan/split/batch.js";
import { split } from "../../../../src/offline/scan/split/split.js";

async function* inChunks(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  // As when a file is read: one piece of memory for all chunks.
  const chunk = Buffer.alloc(size);
  for (let at = 0; at < bytes.length; at += size) {
    const length = bytes.copy(chunk, 0, at, Math.min(at + size, bytes.length));
    yield chunk.subarray(0, length);
    chunk.fill(0);
  }
}

async function texts(text: string, size: number): Promise<string[]> {
  const all: string[] = [];
  for await (const batch of split("f", inChunks(text, size))) all.push(...textsOf(batch));
  return all;
}

/** The same texts, however the file is read. */
async function assertTexts(text: string, expected: readonly string[]): Promise<void> {
  for (const size of [1, 2, 3, 7, 4096]) assert.deepEqual(await texts(text, size), expected, `${size} bytes at a time`);
}

describe("JSON", () => {
  test("lines, with blanks and separators between them", () =>
    assertTexts('{"a":1}\n\n {"b":"}{"}\n---\n{"c":[{}]}', ['{"a":1}', '{"b":"}{"}', '{"c":[{}]}']));
  test("the items of a list, whose kind comes behind them", () =>
    assertTexts(
      '{"apiVersion":"v1","items":[{"kind":"A","s":"\\"]"}, {"kind":"B","items":[{"x":1}]}],"kind":"List","metadata":{"items":[1]}}',
      ['{"kind":"A","s":"\\"]"}', '{"kind":"B","items":[{"x":1}]}'],
    ));
  test("an array of objects", () => assertTexts('[{"a":"[ö]"},{"b":2}]', ['{"a":"[ö]"}', '{"b":2}']));
  test("an object with items below its top is one text", () =>
    assertTexts('{"kind":"X","spec":{"items":[{"a":1}]}}', ['{"kind":"X","spec":{"items":[{"a":1}]}}']));
  test("an object with items that says first that it is no list is one text", () =>
    assertTexts('{"kind":"X","items":[{"a":1}]}', ['{"kind":"X","items":[{"a":1}]}']));
  test("a byte order mark and escaped quotes", () => assertTexts('\ufeff{"a":"\\\\"}', ['{"a":"\\\\"}']));

  test("items say their kind by the list's, where that comes first", async () => {
    const lists = [];
    const text = '{"kind":"PodList","apiVersion":"v1","items":[{"a":1}]}\n{"kind":"X"}';
    for await (const batch of split("f", inChunks(text, 5))) lists.push(batch.list);
    assert.deepEqual(lists, [{ apiVersion: "v1", kind: "Pod" }, undefined]);
  });

  test("keys and kinds that are written with escapes are what they mean", async () => {
    const list = String.raw`{"k\u0069nd":"Pod\u004cist","apiV\u0065rsion":"v1","\u0069tems":[{"a":1}]}`;
    await assertTexts(list, ['{"a":1}']);
    const lists = [];
    for await (const batch of split("f", inChunks(list, 5))) lists.push(batch.list);
    assert.deepEqual(lists, [{ apiVersion: "v1", kind: "Pod" }]);
    const object = String.raw`{"k\u0069nd":"X","items":[{"a":1}]}`;
    await assertTexts(object, [object]);
  });

  const REFUSED = ['{"a":', "[1]", '["x"]', "{}]", '{"items":[{}],"kind":"X"}', "{} x"];
  test("a template is named as such", async () => {
    for (const size of [3, 4096])
      await assert.rejects(texts("\n{{- if .Values.a }}\na: b\n", size), /f:2: this is a Helm template/);
  });
  for (const text of REFUSED) test(`${text} is refused`, async () => await assert.rejects(texts(text, 3), ScanError));
});

describe("YAML", () => {
  test("documents, those of comments alone left out", () =>
    assertTexts("# first\n---\na: 1\n---   \n# nothing\n\n--- # b\nb: |\n  ---x\n", ["a: 1\n", "b: |\n  ---x\n"]));
  test("the items of a list as kubectl prints it", () =>
    assertTexts("apiVersion: v1\nitems:\n- a: 1\n  b:\n  - x\n\n# c\n- a: 2\nkind: List\n", [
      "  a: 1\n  b:\n  - x\n\n# c\n",
      "  a: 2\n",
    ]));
  test("items that are indented", () =>
    assertTexts("kind: List\nitems:\n  - a: 1\n  - a: 2\n---\nc: 3\n", ["    a: 1\n", "    a: 2\n", "c: 3\n"]));
  test("the last line needs no end", () => assertTexts("a: 1\n---\nb: 2", ["a: 1\n", "b: 2"]));
  test("what has items and is no list is refused", async () =>
    await assert.rejects(texts("kind: X\nitems:\n- a: 1\n", 4), ScanError));
});

test("batches are as large as they have to be, and a text larger than one stays whole", async () => {
  const line = JSON.stringify({ a: "x".repeat(1000) });
  const large = JSON.stringify({ b: "y".repeat(1_000_000) });
  const sizes: number[] = [];
  const all: string[] = [];
  for await (const batch of split("f", inChunks(`${line}\n`.repeat(600) + large, 65_536))) {
    sizes.push(batch.bytes.length);
    all.push(...textsOf(batch));
  }
  assert.equal(all.length, 601);
  assert.equal(all[600], large);
  assert.ok(sizes.length > 2 && sizes.slice(0, -1).every((size) => size < 1_300_000), sizes.join(" "));
});
