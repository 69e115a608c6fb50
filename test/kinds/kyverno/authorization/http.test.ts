/** HTTP requests as policies see them (spec kyverno.md 6.3). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readRequest } from "../../../../src/kinds/kyverno/authorization/index.js";
import { policyOf, said, shown } from "./authorized.js";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("an HTTP request", () => {
  test("has all its attributes, given or not", async () => {
    assert.equal(await shown("object.attributes.path"), "");
    assert.equal(await shown("string(object.attributes.contentLength)"), "0");
    assert.equal(await shown("string(has(object.attributes.path))"), "false");
    assert.equal(await shown("string(size(object.attributes.header) + size(object.attributes.query))"), "0");
    assert.equal(await shown("string(has(object.attributes.path))", { path: "/" }), "true");
  });

  test("has headers under their canonical names", async () => {
    const header = { "X-Foo": ["a", "b"], "x-bar": ["c"] };
    assert.equal(await shown('object.attributes.Header("x-foo").join(",")', { header }), "a,b");
    assert.equal(await shown('string(size(object.attributes.Header("x-bar")))', { header }), "0");
    assert.equal(await shown('object.attributes.header["x-bar"][0]', { header }), "c");
    assert.equal(await shown('string(size(object.attributes.Header("nope")))', { header }), "0");
  });

  test("has query parameters", async () => {
    const query = { q: ["1", "2"] };
    assert.equal(await shown('object.attributes.QueryParam("q").join(",")', { query }), "1,2");
    assert.equal(await shown('string(size(object.attributes.QueryParam("Q")))', { query }), "0");
  });

  test("has a body of octets, written in base64, that may be JSON", async () => {
    assert.equal(await shown("string(object.attributes.body)", { body: base64("hello") }), "hello");
    const body = base64('{"user":"bob"}');
    assert.equal(await shown("json.Unmarshal(string(object.attributes.body)).user", { body }), "bob");
  });

  test("is what its type says", async () => {
    assert.equal(await shown("string(type(object) == http.CheckRequest)"), "true");
    assert.equal(await shown("string(object.attributes == null)"), "false");
  });
});

describe("an HTTP answer", () => {
  test("may be written as a message", async () => {
    const ok = "http.CheckResponse{ok: http.CheckResponseOk{}}";
    const denied = 'http.CheckResponse{denied: http.CheckResponseDenied{reason: "made"}}';
    assert.equal(await said(policyOf("HTTP", ok), {}), "pass: request allowed");
    assert.equal(await said(policyOf("HTTP", denied), {}), "fail: request denied, reason: made");
  });
});

describe("an HTTP request in a file", () => {
  const wrong = (value: unknown): string => {
    const read = readRequest("HTTP", typeof value === "string" ? value : JSON.stringify(value));
    assert.equal(read.ok, false);
    return read.ok ? "" : read.error;
  };
  const attributes = (value: unknown) => wrong({ attributes: value });

  test("has names in any case, and members that nobody knows", async () => {
    const payload = { Attributes: { HOST: "h", other: 1 }, more: 2 };
    assert.equal(
      await said(policyOf("HTTP", "http.Denied(object.attributes.host).Response()"), payload),
      "fail: request denied, reason: h",
    );
  });

  test("is refused for members of another type, in Go's words", () => {
    const field = "json: cannot unmarshal";
    const at = "into Go struct field CheckRequestAttributes.attributes";
    assert.equal(attributes({ host: 1 }), `${field} number ${at}.host of type string`);
    assert.equal(attributes({ header: { a: "b" } }), `${field} string ${at}.header of type []string`);
    assert.equal(attributes({ contentLength: 1.5 }), `${field} number 1.5 ${at}.contentLength of type int64`);
    assert.equal(attributes({ body: "***" }), "illegal base64 data at input byte 0");
    assert.equal(wrong([]), `${field} array into Go value of type http.CheckRequest`);
    assert.match(wrong("{"), /unexpected end of JSON input/);
    assert.match(wrong({ mcp: { request: { Method: "x" } } }), /not read here/);
  });
});
