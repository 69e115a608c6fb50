import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { firstPemBlock } from "../../src/x509/pem.js";

const block = (text: string): string | undefined => {
  const found = firstPemBlock(Buffer.from(text, "latin1"));
  return found && `${found.label}: ${found.content.toString("latin1")}`;
};

describe("the first block of PEM, as Go finds it", () => {
  const sound = "-----BEGIN A B-----\nYWJj\nZA==\n-----END A B-----\n";

  test("stands anywhere in a text, in lines of its own", () => {
    for (const text of [sound, `x\n${sound}y`, sound.trimEnd(), sound.replaceAll("\n", "\r\n"), `${sound}${sound}`]) {
      assert.equal(block(text), "A B: abcd");
    }
    for (const text of ["", "x", `x${sound}`, sound.replace("\n-----END", "-----END"), `${sound.trimEnd()}x`]) {
      assert.equal(block(text), undefined);
    }
  });

  test("ends with the label that it begins with", () => {
    assert.equal(block(sound.replace("END A B", "END A")), undefined);
    assert.equal(block(sound.replaceAll("A B", "")), ": abcd");
  });

  test("may have headers, and blanks within its content", () => {
    assert.equal(block(sound.replace("YWJj", "a: b\n:\n\nYW \tJj")), "A B: abcd");
    assert.equal(block(sound.replace("YWJj", "YW\vJj")), undefined);
    assert.equal(block(sound.replace("YWJj\nZA==", "a: b\n")), "A B: ");
    assert.equal(block(sound.replace("YWJj\nZA==", "a: b")), undefined);
    assert.equal(block(sound.replace("YWJj\nZA==\n", "")), "A B: ");
  });

  test("has padding, and nothing behind it", () => {
    assert.equal(block(sound.replace("==", "")), undefined);
    assert.equal(block(sound.replace("==", "==\nYWJj")), undefined);
    // Bits that nobody needs may be set.
    assert.equal(block(sound.replace("ZA", "ZB")), "A B: abcd");
  });

  test("is the next one where one is none", () => {
    assert.equal(block(`-----BEGIN A B-----\n${sound}`), "A B: abcd");
    assert.equal(block(`-----BEGIN A-----\n!\n-----END A-----\n${sound}`), "A B: abcd");
    // Headers that go on beyond the end of their block leave nothing to be found.
    assert.equal(block(`-----BEGIN A-----\na: b\n-----END A-----: c\n${sound}`), undefined);
  });
});
