import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { hasRepeatedKeys, readJson, type WantedCuts } from "../../src/data/json.js";

const WANTED: WantedCuts = { member: "request", inner: ["object", "options"] };

/** The texts that were cut out, by name. */
function cut(text: string, cuts: WantedCuts = WANTED): Record<string, string> {
  const bytes = Buffer.from(text);
  const found = readJson(text, { cuts }, bytes).cuts;
  return Object.fromEntries(found.map(({ name, start, end }) => [name, bytes.toString("utf8", start, end)]));
}

describe("values' own text is found", () => {
  const cases: readonly (readonly [name: string, text: string, found: Record<string, string>])[] = [
    [
      "as it is written",
      '{"request":{"object":{"b": 1,\n"a":[ ]},"options":{}}}',
      { object: '{"b": 1,\n"a":[ ]}', options: "{}" },
    ],
    ["behind other letters", '{"ä":"→🙂","request":{"object":{"é":"🙂"}}}', { object: '{"é":"🙂"}' }],
    ["behind white space", '{ "request" : {\t"object"\n:\r{ "a" : 1 } } }', { object: '{ "a" : 1 }' }],
    ["of lists", '{"request":{"object":[1,{"object":{}}]}}', { object: '[1,{"object":{}}]' }],
    ["and no other member's", '{"request":{"objects":{},"object":{"x":1},"old":{}}}', { object: '{"x":1}' }],
    ["not of the same name elsewhere", '{"other":{"object":{}},"object":{},"request":{"deep":{"object":{}}}}', {}],
    ["not of texts that look like it", '{"request":{"a":"\\"object\\":{}","b":["object",{}],"object":"{}"}}', {}],
    ["not where its name has escapes", String.raw`{"request":{"o\u0062ject":{"a":1}}}`, {}],
    [
      "with escapes in it",
      String.raw`{"request":{"object":{"a\"}":"\\","b":"}\\\""}}}`,
      { object: String.raw`{"a\"}":"\\","b":"}\\\""}` },
    ],
    [
      "with long texts in it",
      `{"request":{"object":{"a":"${'\\"}x'.repeat(100)}"}}}`,
      { object: `{"a":"${'\\"}x'.repeat(100)}"}` },
    ],
    ["not where a number is to be read exactly", '{"request":{"object":{"a":1.0}}}', {}],
    ["not where a letter is two escapes", String.raw`{"request":{"object":{"a":"\ud83d\ude00"}}}`, {}],
  ];
  for (const [name, text, found] of cases) test(name, () => assert.deepEqual(cut(text), found));

  test("of a member itself", () => {
    assert.deepEqual(cut('{"a":{},"request":[{}]}', { member: "request" }), { request: "[{}]" });
    assert.deepEqual(cut('{"request":7,"a":["request",{}]}', { member: "request" }), {});
  });

  test("of many that are repeated only one is kept, the last", () => {
    assert.deepEqual(cut(`{"request":{${'"object":{"a":0},'.repeat(1_000)}"object":{"b":1}}}`), { object: '{"b":1}' });
  });
});

describe("a cut text with repeated keys is told", () => {
  const repeated = (object: string): boolean => {
    const { value, cuts } = readJson(`{"request":{"object":${object}}}`, { cuts: WANTED });
    const [found] = cuts;
    assert.ok(found);
    return hasRepeatedKeys(found, (value as { request: { object: unknown } }).request.object);
  };
  for (const object of [
    '{"a":1,"a":1}',
    '{"a":{"b":[{"c":1,"c":{}}]}}',
    '{"__proto__":1,"__proto__":2}',
    String.raw`{"a":1,"\u0061":2}`,
  ]) {
    test(object, () => assert.equal(repeated(object), true));
  }
  for (const object of [
    "{}",
    "[]",
    '{"a":{"a":{"a":[{"a":1},{"a":1}]}}}',
    '{"__proto__":{"constructor":1},"1":2,"b:c":":"}',
  ]) {
    test(`${object}: none`, () => assert.equal(repeated(object), false));
  }
});
