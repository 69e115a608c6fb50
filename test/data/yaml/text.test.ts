import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readYamlStream, yamlText } from "../../../src/data/yaml.js";

function valuesOf(bytes: Uint8Array): unknown[] {
  const { documents, error } = readYamlStream(yamlText(bytes));
  return [...documents.map(({ value }) => value), ...(error === undefined ? [] : [error.message])];
}

describe("bytes of files", () => {
  test("may begin with a mark of UTF-8", () => {
    assert.deepEqual(valuesOf(Buffer.from("\ufeffa: é😀\n")), [{ a: "é😀" }]);
  });

  test("that are no UTF-8 are an error in the document where they stand", () => {
    const bytes = Buffer.concat([Buffer.from("a: \ufffd\n---\nb: x"), Buffer.from([0x80]), Buffer.from("y\n")]);
    assert.deepEqual(valuesOf(bytes), [{ a: "\ufffd" }, "what stands here is not UTF-8 at line 3 column 5"]);
    for (const broken of [
      [0xc0, 0x80],
      [0xed, 0xa0, 0x80],
      [0xf5, 0x80, 0x80, 0x80],
      [0xe2, 0x82],
    ]) {
      assert.deepEqual(valuesOf(Buffer.from(broken)), ["what stands here is not UTF-8 at line 1 column 1"]);
    }
  });

  test("that are no UTF-8 are U+FFFD in JSON", () => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0x80]), Buffer.from('"}')]);
    assert.deepEqual(valuesOf(bytes), [{ a: "\ufffd" }]);
  });

  test("that are no UTF-8 are an error in what follows on JSON, and where there is none", () => {
    const broken = (text: string) => Buffer.from(text, "latin1");
    assert.deepEqual(valuesOf(broken('{"a":"\xff\xff"}\n---\nc: \xff')), [
      { a: "\ufffd\ufffd" },
      "what stands here is not UTF-8 at line 3 column 4",
    ]);
    assert.equal(readYamlStream(yamlText(broken('{a: "\xff"}'))).documents.length, 0);
    assert.deepEqual(valuesOf(broken('\xef\xbb\xbf{"a":"\xff"}')), [
      "what stands here is not UTF-8 at line 1 column 7",
    ]);
  });

  test("are no UTF-8 in every document where it is so", () => {
    // What stands far behind the end of the first is not looked at.
    const behind = `a: 1\n...\n${"x".repeat(600)}`;
    const bytes = Buffer.concat([Buffer.from(behind), Buffer.from("\xff\n---\nb: \xff\n", "latin1")]);
    assert.deepEqual(valuesOf(bytes), [{ a: 1 }, "what stands here is not UTF-8 at line 5 column 4"]);
  });

  test("may be UTF-16 with the higher byte first", () => {
    const little = Buffer.from("\ufeffa: é\n", "utf16le");
    assert.deepEqual(valuesOf(Buffer.from(little).swap16()), [{ a: "é" }]);
    assert.deepEqual(valuesOf(little), ["what stands here is not UTF-8 at line 1 column 1"]);
  });
});
