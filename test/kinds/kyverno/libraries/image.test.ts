import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { evaluated, resultOf } from "../evaluated.js";

const DIGEST = `sha256:${"1".repeat(64)}`;
const parts = ["registry", "repository", "tag", "digest", "identifier", "identifierWithSeparator"];
const partsOf = (text: string): unknown =>
  resultOf(`[${parts.map((part) => `image(${JSON.stringify(text)}).${part}()`).join(", ")}]`);
const isImage = (text: string): unknown => resultOf(`isImage(${JSON.stringify(text)})`);

describe("an image reference", () => {
  for (const [text, ...expected] of [
    ["nginx", "index.docker.io", "library/nginx", "latest", "", "latest", ":latest"],
    ["docker.io/nginx:1.2", "index.docker.io", "library/nginx", "1.2", "", "1.2", ":1.2"],
    ["localhost/app", "localhost", "app", "latest", "", "latest", ":latest"],
    ["localhost", "index.docker.io", "library/localhost", "latest", "", "latest", ":latest"],
    ["localhost:5000/app:v1", "localhost:5000", "app", "v1", "", "v1", ":v1"],
    ["Docker.io/abc", "Docker.io", "abc", "latest", "", "latest", ":latest"],
    ["[::1]:5000/abc", "[::1]:5000", "abc", "latest", "", "latest", ":latest"],
    ["https://x/yz", "https:", "/x/yz", "latest", "", "latest", ":latest"],
    [`ghcr.io/a/b@${DIGEST}`, "ghcr.io", "a/b", "", DIGEST, DIGEST, `@${DIGEST}`],
    [`ghcr.io:80/a/b:1@${DIGEST}`, "ghcr.io:80", "a/b", "1", DIGEST, `1@${DIGEST}`, `@${DIGEST}`],
  ] as const) {
    test(`is made of these parts: ${text}`, () => assert.deepEqual(partsOf(text), expected));
  }

  test("has a repository of two to 255 characters, a tag of 128 and a digest of 64", () => {
    assert.equal(isImage("c"), false);
    assert.equal(isImage(`a.b/${"x".repeat(255)}`), true);
    assert.equal(isImage(`a.b/${"x".repeat(256)}`), false);
    assert.equal(isImage(`ab:${"x".repeat(128)}`), true);
    assert.equal(isImage(`ab:${"x".repeat(129)}`), false);
    assert.equal(isImage(`ab@${DIGEST}`), true);
    assert.equal(isImage(`ab@${DIGEST}1`), false);
    assert.equal(isImage("ab@sha512:12"), false);
  });

  for (const text of [
    "",
    "Not OK",
    "a/B",
    "a.b/c",
    "ab:",
    "a b.c/dd",
    "a%20b.c/dd",
    "u@b.c/dd",
    "a.b:x/cd",
    "[zz]:5/ab",
  ]) {
    test(`is not written like that: "${text}"`, () => {
      assert.equal(isImage(text), false);
      assert.deepEqual(evaluated(`parseImageReference(${JSON.stringify(text)})`), {
        error: `could not parse reference: ${text}`,
      });
    });
  }

  test("equals one that is written the same way", () => {
    assert.equal(resultOf('image("nginx") == parseImageReference("nginx")'), true);
    assert.equal(resultOf('image("nginx") == image("nginx:latest")'), false);
    assert.equal(resultOf('image("nginx") == dyn(1)'), "error: no such overload");
  });

  test("is not looked for in a text of a request's size", () => {
    const bindings = { object: "a".repeat(3_000_000) };
    assert.equal(resultOf("isImage(object)", { bindings }), "error: too long for an image reference");
    assert.equal(resultOf("parseImageReference(object)", { bindings }), "error: too long for an image reference");
  });
});
