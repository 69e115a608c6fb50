import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parseJson, UNIQUE_KEYS } from "../../src/data/json.js";
import { ExactReader, numberOf } from "../../src/data/json-reader.js";
import { scanJson } from "../../src/data/json-scan.js";
import { chance, someJson } from "./support/some-json.js";

test("a text that was passed over is not held, whether or not the built-in parser reads it", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const scanned = (text: string, readable: boolean): WeakRef<Buffer> => {
    const bytes = Buffer.from(text);
    assert.equal(scanJson(bytes, 1, { member: "request", mayRepeat: true }) !== undefined, readable);
    return new WeakRef(bytes);
  };
  // The last one is what would be held.
  for (const [text, readable] of [
    ['{"request":{}}', true],
    [`{"request":${"[".repeat(1000)}`, false],
  ] as const) {
    const bytes = scanned(text, readable);
    await turn();
    collect();
    assert.equal(bytes.deref(), undefined, text.slice(0, 20));
  }
});

const parsed = (text: string): unknown => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
};

const repeats = (text: string): boolean => {
  try {
    parseJson(text, { unique: UNIQUE_KEYS });
    return false;
  } catch {
    return true;
  }
};

test("what it says of a text is so: that it is JSON, and that no key is repeated", () => {
  const next = chance(7);
  const seen = { whole: 0, unique: 0, repeated: 0, broken: 0 };
  for (let round = 0; round < 12_000; round++) {
    let text = someJson(next);
    // Half of them with a letter less, more, or another.
    if (round % 2 === 1) {
      const at = next(text.length + 1);
      const letter = ['"', "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "u", " ", "\u0001", "e"][next(15)] ?? "";
      text = `${text.slice(0, at)}${next(3) === 0 ? "" : letter}${text.slice(at + next(2))}`.toWellFormed();
    }
    const scan = scanJson(Buffer.from(text), 4);
    const read = parsed(text);
    assert.equal(scan !== undefined, read !== undefined, text);
    if (scan?.isUnique === true) assert.equal(repeats(text), false, `repeated: ${text}`);
    if (scan?.isExact === true)
      assert.deepEqual({ value: new ExactReader(text, numberOf).read() }, read, `read otherwise: ${text}`);
    if (
      round % 2 === 0 &&
      !repeats(text) &&
      !text.includes("\\u0061") &&
      !/"(?:[^"\\]|\\.)*\\\/(?:[^"\\]|\\.)*"\s*:/.test(text)
    )
      assert.equal(scan?.isUnique, true, text);
    seen.broken += read === undefined ? 1 : 0;
    seen.whole += scan?.isWhole === true && scan.isExact ? 1 : 0;
    seen.unique += scan?.isUnique === true ? 1 : 0;
    seen.repeated += scan?.isUnique === false && repeats(text) ? 1 : 0;
  }
  for (const [what, count] of Object.entries(seen)) assert.ok(count > 500, `${what}: ${count}`);
});

test("texts of every length lie against the end of what is looked at", () => {
  for (const tail of ['"x"}', "1}", "true}", "null }", "[]}", '"\\u00e4"}', '""\t}']) {
    for (let length = 0; length < 40; length++) {
      const text = `{"${"k".repeat(length)}":${tail}`;
      // What an earlier, longer text has left behind it is no part of it.
      scanJson(Buffer.from(`{"${"z".repeat(200)}":"${"}".repeat(100)}"}`), 1);
      assert.equal(scanJson(Buffer.from(text), 1)?.isWhole, true, text);
      for (let end = 1; end < text.length; end++) {
        scanJson(Buffer.from(`${text}${"]}".repeat(50)}`), 1);
        assert.equal(scanJson(Buffer.from(text.slice(0, end)), 1), undefined, text.slice(0, end));
      }
    }
  }
});

test("repeated keys are found among as many as there may be", () => {
  const object = (keys: number, last: string): string =>
    `{${Array.from({ length: keys }, (_, index) => `"key-${index}":{"key-${index}":1}`).join(",")},"${last}":2}`;
  assert.equal(scanJson(Buffer.from(object(500, "other")), 1)?.isUnique, true);
  for (const index of [0, 1, 250, 498, 499])
    assert.equal(scanJson(Buffer.from(object(500, `key-${index}`)), 1)?.isUnique, false, `${index}`);
  for (const keys of [512, 513, 514, 600, 20_000]) {
    assert.equal(scanJson(Buffer.from(object(keys, "other")), 1)?.isUnique, true, `${keys}`);
    for (const index of [0, 511, 512, 513, keys - 1].filter((each) => each < keys))
      assert.equal(scanJson(Buffer.from(object(keys, `key-${index}`)), 1)?.isUnique, false, `${keys}: ${index}`);
  }
  // Several of many, beside and in each other, with the same names.
  const many = (inner: string): string =>
    `{${Array.from({ length: 1_500 }, (_, index) => `"key-${index}":${index === 700 ? inner : 1}`).join(",")}}`;
  assert.equal(scanJson(Buffer.from(`[${many(many("1"))},${many("2")},{"key-1":1}]`), 1)?.isUnique, true);
  assert.equal(scanJson(Buffer.from(`[${many("1")},${many('{"a":1,"a":2}')}]`), 1)?.isUnique, false);
  assert.equal(scanJson(Buffer.from(`[${many("1").replace("key-900", "key-899")},${many("2")}]`), 1)?.isUnique, false);
  // More than are kept.
  assert.equal(scanJson(Buffer.from(object(300_000, "other")), 1)?.isUnique, false);
  // Objects in objects: the names of each are its own.
  assert.equal(scanJson(Buffer.from('{"a":{"b":{"a":1,"b":2},"a":3},"b":[{"a":1},{"a":1}]}'), 1)?.isUnique, true);
  assert.equal(scanJson(Buffer.from('{"a":{"b":{"a":1,"b":2},"a":3},"b":1,"a":0}'), 1)?.isUnique, false);
});

test("keys that were made to meet at one place of the table are not compared for long", () => {
  const file = new URL("../../../test/vectors/json/same-place-keys.txt", import.meta.url);
  const made = readFileSync(file, "utf8").trimEnd().split("\n");
  const object = (keys: readonly string[]): Buffer =>
    Buffer.from(
      `{${Array.from({ length: 512 }, (_, index) => `"key-${index}":1,`).join("")}${keys.map((key) => `${JSON.stringify(key)}:1`).join(",")}}`,
    );
  const ordinary = (count: number): string[] => Array.from({ length: count }, (_, index) => `name/${index}`);
  // A thousand find half a million places taken; 1,600 more than a million, and then nothing is said. The slower way says that none is repeated.
  assert.equal(scanJson(object(made.slice(0, 1000)), 1)?.isUnique, true);
  assert.equal(scanJson(object(made), 1)?.isUnique, false);
  assert.equal(repeats(object(made).toString()), false);
  assert.equal(repeats(object([...made, made[7] ?? ""]).toString()), true);
  // Of each text anew, and far from what ordinary names come to.
  assert.equal(scanJson(object(ordinary(made.length)), 1)?.isUnique, true);
  assert.equal(scanJson(object(ordinary(199_000)), 1)?.isUnique, true);
});
