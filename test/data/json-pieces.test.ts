import assert from "node:assert/strict";
import { test } from "node:test";
import { type JsonLimits, readJson, readJsonInSteps } from "../../src/data/json.js";
import { readInPieces } from "../../src/data/json-pieces.js";
import { chance, someJson } from "./support/some-json.js";

/** What the steps come to, and how many there were. */
function all<T>(steps: Generator<undefined, T, undefined>): { value: T; steps: number } {
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done === true) return { value: step.value, steps: count };
  }
}

test("a text read in pieces, of whatever length, is what it is when it is read at once", () => {
  const next = chance(11);
  let most = 0;
  for (let round = 0; round < 6_000; round++) {
    const text = `${" ".repeat(next(2))}${someJson(next)}`;
    const { value, steps } = all(readInPieces(text, (piece) => JSON.parse(piece), 1 + next(30)));
    // Their order, too.
    assert.equal(JSON.stringify(value), JSON.stringify(JSON.parse(text)), text);
    assert.deepEqual(value, JSON.parse(text));
    most = Math.max(most, steps);
  }
  assert.ok(most > 10, `${most}`);
});

const LONG = 300 * 1024;
const filled = (piece: (index: number) => string, around: (pieces: string) => string): string => {
  const pieces: string[] = [];
  for (let [index, length] = [0, 0]; length < LONG; index++)
    length += pieces[pieces.push(piece(index)) - 1]?.length ?? 0;
  return around(pieces.join(","));
};
const SHAPES: Readonly<Record<string, string>> = {
  "one wide object": filled(
    (index) => `"key-${index}":${index}`,
    (all) => `{"request":{"object":{${all}}}}`,
  ),
  "a list": filled(
    (index) => `{"a":[${index}]}`,
    (all) => `{"request":{"object":[${all}],"uid":"u"}}`,
  ),
  "objects in each other": `${'{"a":1,"b":[2,'.repeat(240)}${filled(
    () => "[]",
    (all) => all,
  )}${"]}".repeat(240)}`,
  "numbers to be read exactly": filled(
    (index) => `${index}.0`,
    (all) => `{"request":[${all},12345678901234567890]}`,
  ),
  "pairs of surrogates": filled(
    () => String.raw`"\ud83d\ude00"`,
    (all) => `{"request":[${all}]}`,
  ),
  "halves of letters": filled(
    () => String.raw`"\ud83d"`,
    (all) => `{"request":[${all}]}`,
  ),
  "repeated keys": filled(
    (index) => `"key-${index % 9_000}":${index}`,
    (all) => `{"request":{"object":{${all}}}}`,
  ),
  "letters of more than a byte": filled(
    (index) => `"ä-${index}":"→🙂"`,
    (all) => `{"request":{"object":{${all}}}}`,
  ),
};
const LIMITS: JsonLimits = {
  unique: { depth: 4, except: ([, second]) => second === "object" },
  cuts: { member: "request", inner: ["object"], mayRepeat: true },
};

for (const [name, text] of Object.entries(SHAPES)) {
  test(`a long document is read in steps: ${name}`, () => {
    const bytes = Buffer.from(text);
    const { value: document, steps } = all(readJsonInSteps(text, LIMITS, bytes));
    const atOnce = readJson(text, LIMITS, bytes);
    assert.deepEqual(document.value, atOnce.value);
    assert.deepEqual([document.plain, document.cuts], [atOnce.plain, atOnce.cuts]);
    assert.ok(steps > 5, `${steps}`);
  });
}

test("what is wrong with a long document is said as it is of any other", () => {
  const wide = filled(
    (index) => `"key-${index}":${index}`,
    (all) => all,
  );
  for (const text of [
    `{"request":{"object":{${wide}}}`,
    `{"request":{"object":{${wide},"x":1e999}}}`,
    `{"request":{"object":{${wide}},"userInfo":{"a":1,"a":2}}}`,
    `{${wide},"key-1":2}`,
    `{${wide}}}`,
    `${"[".repeat(600)}${wide}`,
  ]) {
    const said = (read: () => unknown): string => {
      try {
        read();
        return "nothing";
      } catch (error) {
        return String(error);
      }
    };
    const bytes = Buffer.from(text);
    const words = said(() => readJson(text, LIMITS, bytes));
    assert.notEqual(words, "nothing");
    assert.equal(
      said(() => all(readJsonInSteps(text, LIMITS, bytes))),
      words,
    );
  }
});

test("a long text within a document is no more than a step", () => {
  for (const length of [300 * 1024, 3 * 1024 * 1024]) {
    const text = `{"request":{"object":{"a":"${"x".repeat(length)}","b":[1,2]}}}`;
    assert.deepEqual(all(readJsonInSteps(text, LIMITS, Buffer.from(text))).value.value, JSON.parse(text));
  }
});
