import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CelError } from "../../../../src/cel/index.js";
import { LONGEST_PATTERN, randomText } from "../../../../src/kinds/kyverno/libraries/random.js";
import { evaluated, resultOf } from "../evaluated.js";

test("a service account is what stands in a user name, colons and all", () => {
  const of = (user: string) =>
    resultOf(`[parseServiceAccount("${user}").Namespace, user.parseServiceAccount("${user}").Name]`);
  assert.deepEqual(of("system:serviceaccount:ns:a:b"), ["ns", "a:b"]);
  assert.deepEqual(of("system:serviceaccount:ns"), ["", ""]);
  assert.deepEqual(of("alice"), ["", ""]);
});

test("a field of a service account that is empty counts as absent", () => {
  assert.equal(resultOf('has(parseServiceAccount("alice").Name)'), false);
  assert.equal(resultOf('parseServiceAccount("alice").?Name.orValue("nobody")'), "nobody");
  assert.equal(resultOf('dyn(parseServiceAccount("alice")).name'), "error: no such field: name");
});

test("digests are those of the UTF-8 octets, under both names", () => {
  assert.equal(resultOf('md5("é")'), "66ddcd97cfdeabb2f6fb8a999b4bc76f");
  assert.equal(resultOf('sha1("abc")'), "a9993e364706816aba3e25717850c26c9cd0d89d");
  assert.equal(resultOf('hash.sha256("")'), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
});

test("numbers are rounded to places, halves away from zero", () => {
  const of = (args: string) => resultOf(`string(math.round(${args}))`);
  assert.equal(of("2.5, 0"), "3");
  assert.equal(of("-2.5, 0"), "-3");
  assert.equal(of("0.49999999999999994, 0"), "0");
  assert.equal(of("1234.5678, 2"), "1234.57");
  assert.equal(of("1234.5678, -2"), "1200");
  assert.equal(of("2.5"), "3");
});

describe("times", () => {
  test("are those of the evaluation", () => {
    assert.equal(resultOf("string(time.now())"), "2027-01-15T08:00:00Z");
  });

  test("are cut down to a multiple of a duration since the year 1, in their own zone", () => {
    const of = (time: string, length: string) =>
      resultOf(`string(time.truncate(timestamp("${time}"), duration("${length}")))`);
    assert.equal(of("2024-03-05T06:07:08.5Z", "1h"), "2024-03-05T06:00:00Z");
    assert.equal(of("2024-03-05T23:07:08+05:30", "24h"), "2024-03-05T05:30:00+05:30");
    assert.equal(of("1969-12-31T23:30:00Z", "1h"), "1969-12-31T23:00:00Z");
    assert.equal(of("2024-03-05T06:07:08.5Z", "-1h"), "2024-03-05T06:07:08.5Z");
  });

  test("are written for cron in their own zone", () => {
    assert.equal(resultOf('time.toCron(timestamp("2024-03-03T05:04:00Z"))'), "4 5 3 3 0");
    assert.equal(resultOf('time.toCron(timestamp("2024-03-02T23:04:00-08:00"))'), "4 23 2 3 6");
  });
});

describe("listObjToMap", () => {
  const objects = (text: string) => `json.unmarshal('${text}')`;

  test("pairs keys with values by their places", () => {
    const keys = objects('[{"k": "a"}, {"k": "b"}]');
    const values = objects('[{"v": true}, {}]');
    assert.deepEqual(resultOf(`transform.listObjToMap(${keys}, ${values}, "k", "v")`), { a: true, b: null });
  });

  test("wants lists of equal length, texts as keys, and objects", () => {
    assert.match(String(resultOf('listObjToMap([{"k": "a"}], [], "k", "v")')), /list1: 1, list2: 0$/);
    assert.match(String(resultOf('listObjToMap([{"k": 1}], [{}], "k", "v")')), /cannot be handled as a string/);
    assert.match(String(resultOf('listObjToMap([1], [2], "k", "v")')), /^error: internal error: interface conversion/);
    const number = objects("[5]");
    assert.match(String(resultOf(`listObjToMap([{"k": "a"}], ${number}, "k", "v")`)), /is float64, not map/);
  });
});

describe("a random text", () => {
  const random = Math.random;

  test("matches its pattern", () => {
    for (const pattern of [
      "[0-9a-z]{8}",
      "(ab|c){2,3}-[^\\\\x00-z]?",
      "x+[[:upper:]]*",
      "[]a-]{3}",
      "\\\\.\\\\x41\\\\101",
    ]) {
      const text = resultOf(`random("${pattern}")`, { random });
      const readable = pattern
        .replaceAll("\\\\", "\\")
        .replace("[:upper:]", "A-Z")
        .replace("[]", "[\\]")
        .replace("\\101", "A");
      assert.match(String(text), new RegExp(`^(?:${readable})$`, "su"));
    }
    assert.match(String(resultOf("random()", { random })), /^[0-9a-z]{8}$/);
  });

  test("is made of the request's row of numbers", () => {
    const row = [0, 0.5, 0.999];
    assert.equal(resultOf('random("[a-c]{3}")', { random: () => row[0] ?? 0 }), "aaa");
    let at = 0;
    assert.equal(resultOf('random.random("[a-c][a-c][a-c]")', { random: () => row[at++] ?? 0 }), "abc");
  });

  test("is not made while an expression is compiled", () => {
    let asked = 0;
    const outcome = evaluated('random("a") + random("b")', { random: () => ++asked && 0 });
    assert.ok("value" in outcome);
    assert.equal(outcome.value, "ab");
  });

  test("is refused where the pattern may make a very long one", () => {
    for (const pattern of ["((a*)b*)*", "(x{1000})*y", "a".repeat(LONGEST_PATTERN + 1)]) {
      const text = randomText(pattern, random);
      assert.ok(text instanceof CelError && text.code === "too-large", pattern);
    }
    // A character of a class is looked for among all its ranges.
    const ranges = Array.from({ length: 400 }, (_, index) => String.fromCodePoint(0x4e00 + 2 * index)).join("");
    const many = randomText(`([${ranges}]{22})*`, random);
    assert.ok(many instanceof CelError && many.code === "too-large");
    assert.equal(String(randomText(`[${ranges}]{22}`, () => 0.999999)), "\u511e".repeat(22));
    assert.equal(String(randomText("x{1000}", random)).length, 1000);
  });
});
