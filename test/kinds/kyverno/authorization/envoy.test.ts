/** What Envoy asks as policies see it, and what they answer (spec kyverno.md 6.3). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readRequest } from "../../../../src/kinds/kyverno/authorization/index.js";
import { policyOf, said } from "./authorized.js";

/** What an int expression gives for a request with these attributes. */
const code = async (expression: string, attributes: unknown = {}): Promise<string> => {
  const text = await said(policyOf("Envoy", `envoy.Denied(${expression}).Response()`), { attributes });
  return text.replace("fail: request denied with status code ", "");
};

describe("a request of Envoy's", () => {
  test("has all its fields, given or not", async () => {
    const empty =
      'object.attributes.request.http.host == "" && !has(object.attributes.request.http.host) && !has(object.attributes.source)';
    assert.equal(await code(`${empty} ? 1 : 2`), "1");
    assert.equal(await code("size(object.attributes.context_extensions)"), "0");
    assert.equal(await code("int(object.attributes.source.address.socket_address.port_value)"), "0");
    assert.equal(await code("has(object.attributes.request) ? 1 : 2", { request: {} }), "1");
  });

  test("is read under both names that its fields have", async () => {
    const expression = 'object.attributes.context_extensions["a"] == "b" ? 1 : 2';
    assert.equal(await code(expression, { contextExtensions: { a: "b" } }), "1");
    assert.equal(await code(expression, { context_extensions: { a: "b" } }), "1");
  });

  test("has numbers, octets, times, enums and any JSON", async () => {
    const http = (http: unknown) => ({ request: { http } });
    assert.equal(await code("object.attributes.request.http.size", http({ size: "401" })), "401");
    assert.equal(await code("size(object.attributes.request.http.raw_body)", http({ rawBody: "aGVsbG8=" })), "5");
    const time = { request: { time: "2024-01-02T03:04:05Z" } };
    assert.equal(await code("object.attributes.request.time.getFullYear()", time), "2024");
    const address = { source: { address: { socketAddress: { portValue: 8080, protocol: "UDP" } } } };
    const socket = "object.attributes.source.address.socket_address";
    assert.equal(await code(`int(${socket}.port_value) + ${socket}.protocol`, address), "8081");
    const metadata = { metadataContext: { filterMetadata: { jwt: { payload: { sub: "bob", n: 1 } } } } };
    const payload = 'object.attributes.metadata_context.filter_metadata["jwt"].payload';
    assert.equal(await code(`${payload}.sub == "bob" && ${payload}.n == 1.0 ? 1 : 2`, metadata), "1");
  });

  test("is refused for fields that are unknown, twice there, or of another type", () => {
    for (const text of [
      '{"attributes": {"nope": 1}}',
      '{"attributes": {"request": 1}}',
      '{"attributes": {"request": {"http": {"headers": {"a": 1}}}}}',
      '{"attributes": {"request": {"http": {"headers": {"a": null}}}}}',
      '{"attributes": {"request": {"http": {"host": "a", "host": "b"}}}}',
      '{"attributes": {"contextExtensions": {}, "context_extensions": {}}}',
      '{"attributes": {"request": {"http": {"size": 1.5}}}}',
      '{"attributes": {"source": {"address": {"socketAddress": {"portValue": -1}}}}}',
      '{"attributes": {"metadataContext": {"typedFilterMetadata": {"a": {}}}}}',
      "null",
      "[]",
    ]) {
      assert.equal(readRequest("Envoy", text).ok, false, text);
    }
  });

  test("has fields that are null as if they were absent", async () => {
    assert.equal(
      await code('object.attributes.request.http.host == "" ? 1 : 2', { request: { http: { host: null } } }),
      "1",
    );
  });
});

describe("an answer to Envoy", () => {
  test("is built step by step", async () => {
    const allowed = `envoy.Allowed().WithHeader("a", "b").WithoutHeader("c").WithResponseHeader("d", "e")
      .WithResponseHeader(envoy.Header("a", "b")).WithQueryParam("a", "b").WithQueryParam(envoy.QueryParam("c", "d"))
      .WithoutQueryParam("x").Response().WithMessage("m").WithMetadata({"a": 1})`;
    assert.equal(await said(policyOf("Envoy", allowed), {}), "pass: request allowed");
    const denied = `envoy.Denied(302).WithHeader("location", "/x").WithHeader(envoy.Header("a", "b").KeepEmptyValue())
      .WithHeader(envoy.Header("a", "b").KeepEmptyValue(false)).WithBody("b").Response()`;
    assert.equal(await said(policyOf("Envoy", denied), {}), "fail: request denied with status code 302");
  });

  test("keeps what it was given", async () => {
    const expression = `[envoy.Allowed().WithHeader("a", "b").WithHeader(envoy.Header("c", "").KeepEmptyValue())].all(ok,
      ok.headers.map(h, h.header.key) == ["a", "c"] && ok.headers[1].keep_empty_value && !has(ok.headers[0].append))`;
    assert.equal(await code(`${expression} ? 1 : 2`), "1");
  });

  test("is no message that an expression writes: the reference knows only its own", async () => {
    const text = await said(
      policyOf("Envoy", "envoy.service.auth.v3.CheckResponse{ok_response: envoy.service.auth.v3.OkHttpResponse{}}"),
      {},
    );
    assert.equal(text, "error: rule result is expected to be *authv3.CheckResponse");
  });

  test("has a status that fits 32 bits", async () => {
    assert.match(await code("4294967296"), /^error: integer overflow/);
  });
});
