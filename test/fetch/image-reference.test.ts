import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatImageReference, isFloating, parseImageReference } from "../../src/fetch/image-reference.js";

const DIGEST = `sha256:${"a".repeat(64)}`;

describe("image references", () => {
  const full: Record<string, string> = {
    busybox: "docker.io/library/busybox:latest",
    "team/app:v1": "docker.io/team/app:v1",
    "ghcr.io/a/b": "ghcr.io/a/b:latest",
    "localhost:5000/x": "localhost:5000/x:latest",
    "localhost/x:1.0": "localhost/x:1.0",
    "[::1]:5000/x:v": "[::1]:5000/x:v",
    "10.1.2.3:443/x": "10.1.2.3:443/x:latest",
    "REG.Example/x": "REG.Example/x:latest",
    "xn--mnchen-3ya.de/x": "xn--mnchen-3ya.de/x:latest",
    [`r.example/x@${DIGEST}`]: `r.example/x@${DIGEST}`,
    [`r.example/x:v1@${DIGEST}`]: `r.example/x:v1@${DIGEST}`,
  };
  for (const [text, expected] of Object.entries(full)) {
    test(`${text} is ${expected}`, () => assert.equal(formatImageReference(parseImageReference(text)), expected));
  }
  for (const text of [
    "",
    "r.example/",
    "r.example/A",
    "r.example/../x",
    "r.example/x:",
    "r.example/x@sha256:1",
    "a@b@c",
    "r.example/x//y",
    "r_.example/x",
    // URLs make other hosts of these, or none.
    "127.1/x",
    "256.1.1.1/x",
    "1.2.3/x",
    "0x7f.0.0.1/x",
    "0177.0.0.1/x",
    "r.example:65536/x",
    "a..example/x",
    "-a.example/x",
    "a-.example/x",
    `${"a".repeat(64)}.example/x`,
    `${"a.".repeat(127)}example/x`,
    "[::g]/x",
    "[1.2.3.4]/x",
    "xn--a.example/x",
  ]) {
    test(`${JSON.stringify(text)} is none`, () =>
      assert.throws(() => parseImageReference(text), /invalid image reference/));
  }
  test("only the tag latest floats", () => {
    assert.equal(isFloating(parseImageReference("x")), true);
    assert.equal(isFloating(parseImageReference("x:latest")), true);
    assert.equal(isFloating(parseImageReference("x:v1")), false);
    assert.equal(isFloating(parseImageReference(`x@${DIGEST}`)), false);
  });
});
