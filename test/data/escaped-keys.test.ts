/** Keys that are written with escapes are read for what they are, whichever version of Node reads them, and whatever it has read before. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { REVIEW_CUTS } from "../../src/admission/request-bytes.js";
import {
  hasEscapedKeys,
  type JsonDocument,
  parseJson,
  parsePlainJson,
  readJson,
  readJsonInSteps,
} from "../../src/data/json.js";
import { readJsonParts } from "../../src/data/json-parts.js";
import {
  ESCAPED_BESIDE,
  ESCAPED_IN_PART,
  ESCAPED_WITHIN,
  scanJson,
  type WantedCuts,
} from "../../src/data/json-scan.js";
import { type EscapedKeyCase, someEscapedKeys } from "./support/escaped-keys.js";

const CASES = 400;

/** Lets the built-in parser see what misleads some versions of it, and then has the text read. */
function check(cases: readonly EscapedKeyCase[], read: (text: string) => unknown): void {
  for (const { before, text, members } of cases) {
    JSON.parse(before);
    assert.deepEqual(Object.entries(read(text) as object), members, text);
  }
}

/** The last thing that steps give. */
function last(steps: Generator<undefined, JsonDocument, undefined>): JsonDocument {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

const inSteps = (text: string): JsonDocument => last(readJsonInSteps(text, {}, Buffer.from(text)));
/** Many members before an object, so that it comes in a piece of its own. */
const among = (text: string): string => {
  const many = JSON.stringify(Array.from({ length: 20_000 }, (_, i) => i));
  return `{"many":${many},"one":${text},"more":${many},"object":${text}}`;
};

describe("a key with an escape is the key that it means", () => {
  test("in a document", () => {
    check(someEscapedKeys(CASES, 1), (text) => readJson(text).value);
    check(someEscapedKeys(CASES, 2), (text) => parseJson(text));
    check(someEscapedKeys(CASES, 3), parsePlainJson);
  });

  test("with numbers of another reader's", () => {
    check(someEscapedKeys(CASES, 4), (text) => parseJson(text, { number: Number, unique: { depth: 9 } }));
  });

  test("within others", () => {
    check(someEscapedKeys(CASES, 5), (text) => (parseJson(`{"a":[${text}]}`) as { a: unknown[] }).a[0]);
  });

  test("in a document that is read in steps", () => {
    check(someEscapedKeys(20, 6), (text) => (inSteps(among(text)).value as { one: unknown }).one);
    check(someEscapedKeys(20, 7), (text) => (inSteps(among(text)).value as { object: unknown }).object);
  });

  test("also where its value is longer than a piece", () => {
    const long = JSON.stringify(Array.from({ length: 20_000 }, (_, i) => i));
    for (const { written, key } of someEscapedKeys(20, 8)) {
      const { value, plain, cuts } = inSteps(`{"x":1,${written}:${long},"y":{${written}:{"a":${long}}}}`);
      assert.deepEqual(Object.keys(value as object), ["x", key, "y"]);
      assert.deepEqual(Object.keys((value as { y: object }).y), [key]);
      // What is handed on is printed, unless it is written as it would be.
      assert.equal(plain, written === JSON.stringify(key), written);
      assert.deepEqual(cuts, []);
    }
  });
});

const WANTED: WantedCuts = REVIEW_CUTS;
const LATER = new Set(["object", "oldObject"]);
const partsOf = (text: string) => {
  const bytes = Buffer.from(text);
  const scan = scanJson(bytes, 4, WANTED);
  return scan && readJsonParts(bytes, scan, WANTED, LATER, 0);
};
const request = (members: string): string => `{"request":{"uid":"u",${members}}}`;

describe("of a document that is read in parts", () => {
  test("keys with escapes in what is read later are read then", () => {
    for (const { before, text, members } of someEscapedKeys(CASES, 9, "printed")) {
      JSON.parse(before);
      const parts = partsOf(request(`"object":${text},"oldObject":{"a":[${text}]}`));
      const [object, oldObject] = parts?.cuts ?? [];
      assert.ok(parts && object && oldObject);
      assert.deepEqual(Object.entries(parts.read(object) as object), members);
      assert.deepEqual(Object.entries((parts.read(oldObject) as { a: object[] }).a[0] ?? {}), members);
    }
  });

  test("and those in its part when that is asked for, however short it is", () => {
    for (const { before, text, members } of someEscapedKeys(CASES, 10, "printed")) {
      for (const padding of ["", "x".repeat(600)]) {
        JSON.parse(before);
        const parts = partsOf(
          request(`"object":{"metadata":{"name":"n","managedFields":[${text},"${padding}"]},"z":1}`),
        );
        const [object] = parts?.cuts ?? [];
        assert.ok(parts && object);
        const { metadata } = parts.read(object) as { metadata: { managedFields: object[] } };
        assert.deepEqual(Object.entries(metadata.managedFields[0] ?? {}), members);
      }
    }
  });

  test("a value that is long for the exact reader is not read so", () => {
    const long = "x".repeat(128 * 1024);
    const key = String.raw`"a\"b"`;
    for (const [object, isRead] of [
      [`{${key}:"${long}"}`, false],
      [`{"metadata":{"managedFields":[{${key}:"${long}"}]}}`, false],
      [`{"x":"${long}","metadata":{"managedFields":[{${key}:1}]}}`, true],
      [`{"x":"${long}"}`, true],
    ] as const)
      assert.equal(partsOf(request(`"object":${object}`)) !== undefined, isRead, object.slice(0, 50));
  });

  test("those beside it are not read so, nor any that can be written otherwise: other readers may not know them", () => {
    for (const { text } of someEscapedKeys(50, 11, "printed"))
      assert.equal(partsOf(request(`"object":{},"more":${text}`)), undefined, text);
    for (const { text } of someEscapedKeys(50, 12, "other"))
      for (const place of [
        `"object":${text}`,
        `"object":{"metadata":{"managedFields":[${text}]}}`,
        `"object":{},"more":${text}`,
      ])
        assert.equal(partsOf(request(place)), undefined, place);
  });
});

test("where keys have escapes is told apart, and escapes in values count nowhere", () => {
  const escaped = (text: string): number | undefined => scanJson(Buffer.from(text), 4, WANTED)?.escapedKeys;
  const key = String.raw`"a\"b"`;
  for (const [members, where] of [
    [`"object":{"a":${key}},"x":[${key}]`, 0],
    [`${key}:1,"object":{}`, ESCAPED_BESIDE],
    [`"x":{${key}:1},"object":{}`, ESCAPED_BESIDE],
    [`"object":{"x":{${key}:1}}`, ESCAPED_WITHIN],
    [`"object":{"metadata":{"managedFields":{${key}:1}}}`, ESCAPED_IN_PART],
    [`"object":{"metadata":{"x":{${key}:1},"managedFields":{${key}:1}}},"y":{${key}:1}`, 7],
  ] as const)
    assert.equal(escaped(request(members)), where, members);
  // A key that is longer than what is looked at at a time.
  const long = "k".repeat(300_000);
  assert.equal(escaped(request(`"${long}":"\\n"`)), 0);
  assert.equal(escaped(request(`"${long}\\n":1`)), ESCAPED_BESIDE);
  assert.equal(escaped(request(`"x":"\\n${long}"`)), 0);
});

test("whether code that is not ours may read a text", () => {
  for (const { text } of someEscapedKeys(50, 13)) assert.ok(hasEscapedKeys(text));
  for (const text of ['{"a":"\\n"}', '{"a":1}', '"\\u0041"', "[]"]) assert.equal(hasEscapedKeys(text), false, text);
});
