import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { hasRepeatedKeys, readJson, type WantedCuts } from "../../src/data/json.js";
import { ExactReader, numberOf } from "../../src/data/json-reader.js";

const WANTED: WantedCuts = { member: "request", inner: ["object", "options"], mayRepeat: true };

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
    ["not where a key can be written otherwise", String.raw`{"request":{"object":{"a":1,"\u0061":2}}}`, {}],
    [
      "where a key is written as it would be printed",
      String.raw`{"request":{"object":{"\n": 1}}}`,
      { object: String.raw`{"\n": 1}` },
    ],
    ["not where a letter is two escapes", String.raw`{"request":{"object":{"a":"\ud83d\ude00"}}}`, {}],
  ];
  for (const [name, text, found] of cases) test(name, () => assert.deepEqual(cut(text), found));

  test("of a member itself", () => {
    assert.deepEqual(cut('{"a":{},"request":[{}]}', { member: "request", mayRepeat: false }), { request: "[{}]" });
    assert.deepEqual(cut('{"request":7,"a":["request",{}]}', { member: "request", mayRepeat: false }), {});
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
    String.raw`{"a\n":1,"a\n":2}`,
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

describe("keys that must not be repeated are looked for", () => {
  const refused = (text: string, cuts: WantedCuts): boolean => {
    try {
      readJson(text, { cuts, unique: { depth: 4, except: ([, second]) => cuts.mayRepeat && second === "object" } });
      return false;
    } catch (error) {
      assert.match(String(error), /duplicate field/);
      return true;
    }
  };
  test("in cut texts where they may not be", () => {
    for (const mayRepeat of [false, true]) {
      const inner: WantedCuts = { member: "request", inner: ["object"], mayRepeat };
      assert.equal(refused('{"request":{"object":{"a":1,"a":2}}}', inner), !mayRepeat);
      assert.equal(refused('{"request":{"object":{"b":{"a":1,"a":2}}}}', inner), !mayRepeat);
      assert.equal(refused('{"request":{"object":{"b":{"c":{"a":1,"a":2}}}}}', inner), false);
      assert.equal(refused('{"request":{"object":{"a":1}}}', inner), false);
      assert.equal(refused('{"request":{"a":{"a":1}},"b":{"a":1}}', inner), false);
    }
    assert.equal(refused('{"request":{"a":1,"a":2}}', { member: "request", mayRepeat: false }), true);
  });
  test("beside them wherever they stand", () => {
    for (const text of [
      '{"request":{"object":{"a":1}},"request":{"object":{"a":1}}}',
      '{"request":{"object":{"a":1},"object":{"a":1}}}',
      '{"request":{"object":{"a":1},"object":null}}',
      '{"request":{"object":{},"userInfo":{"a":1,"a":2}}}',
      '{"request":{"object":{},"userInfo":{"extra":{"a":1,"a":2}}}}',
      '{"request":{"object":{}},"a":{"b":{"c":1,"c":2}}}',
      '{"a":1,"request":{"object":{}},"a":2}',
    ]) {
      assert.equal(refused(text, WANTED), true, text);
    }
  });
});

describe("long texts are looked at in windows", () => {
  const WINDOW = 256 * 1024;
  /** A text in which `token` begins so many bytes before the end of the first window. */
  const placed = (token: string, before: number): string => {
    const head = '{"request":{"object":{"a":"';
    const filler = "x".repeat(WINDOW - head.length - before - '","b":'.length);
    return `${head}${filler}","b":${token},"c":{"d":[1]}}},"e":2}`;
  };
  for (const token of [
    '"text"',
    String.raw`"\"\\\""`,
    String.raw`"\u00e4\n"`,
    "123456789",
    "-0.125",
    "[{}]",
    "true",
    '"🙂"',
  ]) {
    test(`${token} may lie across two of them`, () => {
      for (let before = 0; before <= 24; before += 1) {
        const text = placed(token, before);
        const bytes = Buffer.from(text);
        const { value, plain, cuts } = readJson(text, { cuts: WANTED, unique: { depth: 4 } }, bytes);
        assert.deepEqual(value, JSON.parse(text));
        assert.equal(plain, true);
        assert.equal(cuts.length, 1);
        for (const { start, end } of cuts) {
          assert.deepEqual(JSON.parse(bytes.toString("utf8", start, end)), (JSON.parse(text) as Review).request.object);
        }
      }
    });
  }

  for (const token of [
    "1.0",
    "1e2",
    "-0",
    "12345678901234567",
    String.raw`"\ud83d"`,
    "0.0000001",
    `${"[".repeat(500)}${"]".repeat(500)}`,
  ]) {
    test(`${token.slice(0, 20)} is found there, too`, () => {
      for (let before = 0; before <= 24; before += 1) {
        const text = placed(token, before);
        if (token.startsWith("[")) assert.throws(() => readJson(text), /recursion limit/);
        else assert.equal(readJson(text).plain, false, `${before}`);
      }
    });
  }

  test("a text may be longer than one", () => {
    for (const inner of ["x", String.raw`\"`, String.raw`\\`, "ä"]) {
      for (const length of [WINDOW - 40, WINDOW, 3 * WINDOW]) {
        const text = `{"request":{"object":{"a":"${inner.repeat(length)}","b":[]},"options":{}},"c":"${inner.repeat(length)}"}`;
        assert.deepEqual(Object.keys(cut(text)), ["object", "options"]);
        assert.equal(readJson(text).plain, true);
        assert.equal(readJson(text.replace("[]", "[1.0]")).plain, false);
      }
    }
  });

  test("one that never ends is an error", () => {
    for (const text of [
      '"',
      `["${"x".repeat(2 * WINDOW)}`,
      `["${'\\"'.repeat(2 * WINDOW)}`,
      `{"a":1${" ".repeat(WINDOW)}`,
    ]) {
      assert.throws(() => readJson(text), /EOF/);
    }
  });
});

test("strings end where they end, however many escapes they have and wherever those stand", () => {
  let seed = 1;
  const next = (most: number): number => {
    seed = (seed * 48_271) % 0x7fffffff;
    return seed % most;
  };
  for (let round = 0; round < 3_000; round += 1) {
    const inner = Array.from({ length: next(60) }, () => ["\\", '"', "\n", "u", "}"][next(5)]).join("");
    const text = `{"request":{"object":${JSON.stringify([inner, { [inner]: inner }])},"options":{}}}`;
    const { object } = cut(text);
    assert.deepEqual(JSON.parse(object ?? "null"), [inner, { [inner]: inner }]);
    // With one backslash less it may be anything; what is said of it is what the exact reader says.
    const at = text.indexOf("\\");
    if (at < 0) continue;
    const broken = text.slice(0, at) + text.slice(at + 1);
    const outcome = (read: () => unknown): unknown => {
      try {
        return read();
      } catch (error) {
        return String(error);
      }
    };
    assert.deepEqual(
      outcome(() => readJson(broken).value),
      outcome(() => new ExactReader(broken, numberOf).read()),
      broken,
    );
  }
});

interface Review {
  readonly request: { readonly object: unknown };
}
