import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MOST_COMPRESSED, MOST_DECOMPRESSED } from "../../../../src/kinds/kyverno/libraries/gzip.js";
import { libraryBindings } from "../../../../src/kinds/kyverno/libraries/index.js";
import { LONGEST_TEXT, MOST_VALUES } from "../../../../src/kinds/kyverno/libraries/json.js";
import { LONGEST_YAML } from "../../../../src/kinds/kyverno/libraries/yaml.js";
import { evaluated, resultOf } from "../evaluated.js";

const errorOf = (source: string, object: unknown): unknown =>
  resultOf(source, { bindings: { ...libraryBindings, object: object as never } });

describe("json.unmarshal", () => {
  test("reads every number as a double", () => {
    const outcome = evaluated('json.unmarshal("[1, -0, 1.5, 12345678901234567000]")');
    assert.ok("plain" in outcome);
    assert.deepEqual(outcome.plain, [Object(1), Object(-0), 1.5, 12345678901234567000]);
    assert.equal(resultOf(`json.unmarshal('{"a": 1}').a + 1.0 == 2.0`), true);
    assert.equal(resultOf(`json.unmarshal('{"a": 1}').a + 1`), "error: no such overload");
  });

  test("reads no text of more than so many characters or values", () => {
    assert.equal(
      errorOf("json.unmarshal(object)", " ".repeat(LONGEST_TEXT + 1)),
      "error: too large to be read as JSON",
    );
    assert.equal(
      errorOf("json.unmarshal(object)", `[${"1,".repeat(MOST_VALUES)}1]`),
      "error: too large to be read as JSON",
    );
    assert.equal(errorOf("json.unmarshal(object).size()", `[${"1,".repeat(MOST_VALUES / 2)}1]`), MOST_VALUES / 2 + 1);
  });

  test("nests no deeper than everything else does", () => {
    const nested = (depth: number) => errorOf("json.unmarshal(object)", "[".repeat(depth) + "]".repeat(depth));
    assert.equal(nested(600), "error: too large to be read as JSON");
    assert.equal(nested(10_001), "error: exceeded max depth");
  });
});

describe("json.marshal", () => {
  test("sorts keys by their octets and escapes what HTML would read", () => {
    assert.equal(
      resultOf('json.marshal({"é": "1", "z": "<&>", "😀": "\\u2028"})'),
      '{"z":"\\u003c\\u0026\\u003e","é":"1","😀":"\\u2028"}',
    );
  });

  test("ends with what would take too long", () => {
    const object = Array.from({ length: 300_000 }, () => 0);
    assert.equal(errorOf("json.marshal(object)", object), "error: too large to become JSON");
    assert.equal(
      errorOf("json.marshal([object, object, object, object])", "x".repeat(3_000_000)),
      "error: too large to become JSON",
    );
  });
});

describe("yaml.parse", () => {
  test("reads the first document, as Go reads JSON", () => {
    const outcome = evaluated('yaml.parse("a: [1, 2.5, yes]\\na: 3\\n---\\nb: 1")');
    assert.ok("plain" in outcome);
    assert.deepEqual(outcome.plain, { a: Object(3) });
    assert.equal(resultOf('yaml.parse("")'), null);
  });

  test("says that it could not be converted, and where", () => {
    assert.match(String(resultOf('yaml.parse("a: [1")')), /^error: error converting YAML to JSON: yaml: line 1: /);
  });

  test("reads no text that is too long", () => {
    assert.equal(errorOf("yaml.parse(object)", "a".repeat(LONGEST_YAML + 1)), "error: too large to be read as YAML");
  });
});

describe("gzip", () => {
  test("gives back what it was given, without a time", () => {
    assert.equal(resultOf('gzip.decompress(gzip.compress("é✓"))'), "é✓");
    const outcome = evaluated('gzip.compress("hello")');
    assert.ok("plain" in outcome);
    assert.deepEqual([...(outcome.plain as Uint8Array).slice(0, 10)], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
  });

  test("reads what Go has compressed", () => {
    assert.equal(resultOf('gzip.decompress(base64.decode("H4sIAAAAAAAA/8pIzcnJBwQAAP//hqYQNgUAAAA="))'), "hello");
  });

  test("reads to the end, and nothing behind it", async () => {
    const { gzipSync } = await import("node:zlib");
    const behind = (...parts: readonly Uint8Array[]) =>
      errorOf("gzip.decompress(object)", new Uint8Array(Buffer.concat([gzipSync("abc"), ...parts])));
    assert.equal(behind(gzipSync("def")), "abcdef");
    assert.equal(behind(new Uint8Array(3)), "error: unexpected EOF");
  });

  test("compresses texts only", () => {
    assert.equal(resultOf('gzip.compress(b"a")'), "error: type conversion error from Bytes to 'string'");
    assert.equal(resultOf("gzip.compress(1)"), "error: unsupported type conversion from 'int' to string");
  });

  test("takes and gives no more than so much", async () => {
    const { gzipSync } = await import("node:zlib");
    assert.equal(
      errorOf("gzip.compress(object)", "x".repeat(MOST_COMPRESSED + 1)),
      "error: too large to be compressed",
    );
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(MOST_DECOMPRESSED + 1)));
    assert.equal(errorOf("gzip.decompress(object)", bomb), "error: too large to be decompressed");
  });
});
