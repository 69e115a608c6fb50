import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { JsonError, parseJson, readJson, stringifyJson, UNIQUE_KEYS } from "../../src/data/json.js";
import { ExactReader, numberOf } from "../../src/data/json-reader.js";

describe("numbers keep their kind and value", () => {
  for (const [text, expected] of [
    ["1", 1],
    ["-0", 0],
    ["0.5", 0.5],
    ["1.0", Object(1)],
    ["-0.0", Object(-0)],
    ["1e3", Object(1000)],
    ["9007199254740991", 9007199254740991],
    ["9007199254740993", 9007199254740993n],
    ["-9223372036854775808", -9223372036854775808n],
    ["9223372036854775808", 2 ** 63],
    ["1e300", 1e300],
  ] as const) {
    test(text, () => {
      assert.deepEqual(parseJson(text), expected);
      assert.deepEqual(parseJson(`{"a" : ${text}}`), { a: expected });
      assert.deepEqual(parseJson(`[ ${text}]`), [expected]);
    });
  }

  for (const [text, column] of [
    ["1e400", 5],
    ["-1e309", 6],
    ["9".repeat(5_000), 5_000],
    [`1${"0".repeat(1_800_000)}`, 1_800_001],
    [`${"9".repeat(400)}.5`, 402],
  ] as const) {
    test(`no double holds ${text.slice(0, 10)}, ${text.length} characters: an error, at once`, () => {
      const began = process.cpuUsage().user;
      assert.throws(() => parseJson(text), { message: `number out of range at line 1 column ${column}` });
      assert.ok(process.cpuUsage().user - began < 1_000_000);
    });
  }

  test("many digits of a fraction, and what is too small for a double, are read", () => {
    assert.equal(parseJson(`0.${"3".repeat(1_800_000)}`), 1 / 3);
    assert.deepEqual(parseJson("1e-400"), Object(0));
  });

  test("text inside strings does not look like numbers", () => {
    assert.deepEqual(readJson('{"image":"nginx:1.25","note":"a\\"b: 1.0"}'), {
      value: { image: "nginx:1.25", note: 'a"b: 1.0' },
      plain: true,
      cuts: [],
      isUnique: true,
    });
  });
});

describe("the built-in parser is used where it reads what the exact reader reads", () => {
  const exactly = (text: string): unknown => new ExactReader(text, numberOf).read();

  test("fractions that are no whole numbers", () => {
    for (const text of ["0.5", "-0.5", "-12.25", "12345678.012345"]) {
      assert.deepEqual(readJson(text), { value: exactly(text), plain: true, cuts: [], isUnique: true }, text);
    }
    // Whole, or too long to be sure of it.
    for (const text of [
      "1.0",
      "-0.0",
      "1.50",
      "0.5e1",
      "1.5E1",
      "9007199254740992.5",
      "0.99999999999999999999",
      "-0",
      // Printed with an exponent.
      "0.0000001",
    ]) {
      assert.deepEqual(readJson(text), { value: exactly(text), plain: false, cuts: [], isUnique: false }, text);
    }
  });

  test("texts with escapes end where they end", () => {
    const backslash = "\\";
    const quote = '"';
    for (let length = 0; length <= 6; length += 1) {
      for (let pattern = 0; pattern < 2 ** length; pattern += 1) {
        const inner = Array.from({ length }, (_, at) => ((pattern >> at) & 1 ? backslash : quote)).join("");
        for (const text of [`["${inner}",1.0]`, `["x${inner}",1.0]`, `["${inner}x:",{"a":1}]`]) {
          const outcome = (read: () => unknown): unknown => {
            try {
              return read();
            } catch (error) {
              return String(error);
            }
          };
          assert.deepEqual(
            outcome(() => readJson(text).value),
            outcome(() => exactly(text)),
            text,
          );
        }
      }
    }
  });
});

describe("hostile text is data or one clear error", () => {
  test("prototype keys are own keys in both readers", () => {
    for (const text of ['{"__proto__":{"x":1},"constructor":2}', '{"__proto__":{"x":1.0},"constructor":2}']) {
      const value = parseJson(text) as object;
      assert.deepEqual(Object.keys(value), ["__proto__", "constructor"]);
      assert.equal(Object.getPrototypeOf(value), Object.prototype);
    }
  });

  test("the last of equal keys wins", () => {
    assert.deepEqual(parseJson('{"a":1,"a":2}'), { a: 2 });
    assert.deepEqual(parseJson('{"a":1.5,"a":2}'), { a: 2 });
  });

  test("a repeated key is an error where keys must differ, in both readers", () => {
    for (const other of ["1", "1.0"]) {
      const unique = (depth: number) => ({
        unique: { depth, except: (path: unknown) => JSON.stringify(path) === '["x"]' },
      });
      for (const [text, depth] of [
        [`{"a":${other},"b":2,"a":3}`, 1],
        [`{"b":{"a":${other},"a":3}}`, 2],
        [`{"b":[{"a":${other},"a":3}]}`, 3],
        [`{"__proto__":${other},"__proto__":3}`, 1],
        [`{"a":${other},"\\u0061":3}`, 1],
      ] as const) {
        assert.throws(() => parseJson(text, unique(depth)), /^JsonError: duplicate field `(a|__proto__)` at line 1/);
        assert.throws(() => parseJson(text, { unique: UNIQUE_KEYS }), JsonError);
        assert.doesNotThrow(() => parseJson(text, unique(depth - 1)));
      }
      assert.deepEqual(parseJson(`{"x":{"a":${other},"a":3}}`, unique(9)), { x: { a: 3 } });
      assert.doesNotThrow(() => parseJson(`{"a:":":","b":[{"a":${other}},{"a":1}],"c":{"a":{"a":{}}}}`, unique(9)));
    }
    assert.throws(
      () => parseJson(`{"${"k".repeat(99)}":1,"${"k".repeat(99)}":1}`, { unique: UNIQUE_KEYS }),
      /`k{64}…`/,
    );
  });

  test("lone surrogates become the replacement character", () => {
    assert.equal(parseJson('"\\ud800x"'), "\ufffdx");
    assert.equal(parseJson('"\\ud83d\\ude00"'), "\u{1f600}");
  });

  for (const [text, message] of [
    ["", "EOF while parsing a value at line 1 column 0"],
    ["{", "EOF while parsing an object at line 1 column 1"],
    ['{"a":1,}', "trailing comma at line 1 column 8"],
    ["[1,]", "trailing comma at line 1 column 4"],
    ["{}x", "trailing characters at line 1 column 3"],
    ['{"a"\n 1}', "expected `:` at line 2 column 2"],
    ["nul", "EOF while parsing a value at line 1 column 3"],
    ["this", "expected ident at line 1 column 2"],
    ["01", "invalid number at line 1 column 2"],
    ["{a:1}", "key must be a string at line 1 column 2"],
    ['"a\nb"', "control character (\\u0000-\\u001F) found while parsing a string at line 1 column 3"],
  ] as const) {
    test(`broken: ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseJson(text), { name: "JsonError", message });
    });
  }

  test("nesting beyond the limit is refused by both readers", () => {
    const nested = (n: number, core = "") => "[".repeat(n) + core + "]".repeat(n);
    assert.doesNotThrow(() => parseJson(nested(500)));
    assert.throws(() => parseJson(nested(501)), /recursion limit exceeded/);
    assert.throws(() => parseJson(nested(100_000, "1.0")), JsonError);
  });
});

test("printing is read back to the same value", () => {
  const text = '{"a":9007199254740993,"b":1.0,"c":-0.0,"d":0.5,"e":[null,true,"\\"x"],"__proto__":1}';
  assert.equal(stringifyJson(parseJson(text)), text);
});

test("a value is printed the same beside one that the built-in printer cannot print, and without it", () => {
  const plain = parseJson(
    '{"__proto__":{"a":[1,-1.5,1e300,""]},"toJSON":"x","":null,"\\ud800":"\\ud83d\\ude00\\u0007","list":[[],{},true]}',
  );
  const others = [undefined, Number.NaN, -0, { a: undefined, b: 1 }, [undefined, 1], Object.create(null) as object];
  for (const value of [plain, ...others]) {
    for (const [number, printed] of [
      [Object(1), "1.0"],
      [2n ** 60n, "1152921504606846976"],
    ] as const) {
      assert.equal(stringifyJson([value, number]), `[${stringifyJson(value)},${printed}]`);
      assert.equal(
        stringifyJson({ deep: [{ number }], value: [value] }),
        `{"deep":[{"number":${printed}}],"value":[${stringifyJson(value)}]}`,
      );
    }
  }
});

test("the scan agrees with the exact reader on random documents", () => {
  let seed = 7;
  const random = (n: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % n;
  };
  const pieces = [
    '{"a":',
    "[",
    "]",
    "}",
    ",",
    "1",
    "-0",
    "1.0",
    '"\\""',
    '"\\\\"',
    '"x:1.5"',
    "12345678901234567",
    " ",
    "true",
    "null",
  ];
  for (let i = 0; i < 20_000; i++) {
    let text = "";
    for (let n = random(8) + 1; n > 0; n--) text += pieces[random(pieces.length)];
    let expected: unknown;
    try {
      expected = JSON.parse(text);
    } catch {
      assert.throws(() => parseJson(text), JsonError, text);
      continue;
    }
    const close = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value, (_, v) => (typeof v === "bigint" ? Number(v) : v)));
    assert.deepEqual(close(parseJson(text)), close(expected), text);
  }
});

test("numbers are read as the caller wants, fractions of any length, too", () => {
  const read = (text: string): unknown => parseJson(text, { number: (written) => ({ written }) });
  for (const text of ["1.5", "-0.25", "1.50", "1e2", "12345678901234567890", "1.2345678901234567"])
    assert.deepEqual(read(`{"a":["0.5",${text}]}`), { a: ["0.5", { written: text }] });
});

describe("escapes of surrogates", () => {
  const lone = "\ufffd";
  for (const [text, expected] of [
    [String.raw`"\ud83d\ude00"`, "😀"],
    [String.raw`"\uD83D\uDE00 \ud83d\uDE00 \uD83D\ude00"`, "😀 😀 😀"],
    [String.raw`"\ud83d"`, lone],
    [String.raw`"\ud83dx\ude00"`, `${lone}x${lone}`],
    [String.raw`"\ude00\ud83d"`, `${lone}${lone}`],
    [String.raw`"\ud83d\ud83d\ude00"`, `${lone}😀`],
    [String.raw`"\\ud83d\ude00"`, String.raw`\ud83d${""}`.slice(0, 6) + lone],
    [String.raw`"\\ud83d\\ude00"`, String.raw`\ud83d\ude00`],
    [String.raw`["\ud83d\ude00", "\ud83d"]`, ["😀", lone]],
  ] as const) {
    test(text, () => assert.deepEqual(parseJson(text), expected));
  }

  test("in pairs are left to the built-in parser", () => {
    const text = JSON.stringify("x".repeat(10)).replaceAll("x", String.raw`\ud83d\ude00`);
    assert.equal(readJson(text).plain, true);
    assert.equal(readJson(String.raw`"\ud83d"`).plain, false);
  });
});
