import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { admissionReview, entry, immediate, post, serve, type TestServer } from "./fake-policy.js";
import { connect, postText } from "./raw-client.js";

const GOOD = JSON.stringify(admissionReview());

describe("hostile clients", () => {
  let server: TestServer;
  before(async () => {
    server = await serve([
      immediate("now", (review) => ({
        verdict: "deny",
        message:
          review.kind === "admission" ? (review.request.name ?? "") : Buffer.from(review.requestBytes()).toString(),
      })),
      entry("slow", async (review) => {
        await sleep(30);
        return { verdict: "deny", message: review.kind === "admission" ? (review.request.name ?? "") : "" };
      }),
    ]);
  });
  after(() => server.stop({ delay: 0, grace: 0 }));

  test("pipelined requests are answered in order, slow ones before quick ones that came later", async () => {
    const client = await connect(server.port);
    const names = Array.from({ length: 20 }, (_, i) => `n${i}`);
    const review = (name: string): string => JSON.stringify(admissionReview({ name }));
    client.send(names.map((name, i) => postText(`/validate/${i % 3 === 0 ? "slow" : "now"}`, review(name))).join(""));
    const text = await client.until(/"message":"n19"/);
    const order = Array.from(text.matchAll(/"message":"(n\d+)"/g), ([, name]) => name);
    assert.deepEqual(order, names);
    client.destroy();
  });

  test("a broken request after good ones ends the connection behind their answers, and nothing else", async () => {
    const client = await connect(server.port);
    client.send(`${postText("/validate/now", GOOD)}BROKEN\r\n\r\n`);
    const text = await client.closed();
    assert.match(text, /^HTTP\/1\.1 200 OK[\s\S]*\}HTTP\/1\.1 400 Bad Request/);
    assert.equal((await post(`${server.url}/validate/now`, GOOD)).status, 200);
  });

  test("headers beyond the limit are 431, requests that smuggle are 400", async () => {
    const cases: [string, RegExp][] = [
      [`GET / HTTP/1.1\r\nHost: x\r\nX: ${"a".repeat(20_000)}\r\n\r\n`, /^HTTP\/1\.1 431/],
      [
        "POST /validate/now HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        /^HTTP\/1\.1 400/,
      ],
      [
        "POST /validate/now HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        /^HTTP\/1\.1 400/,
      ],
      ["POST /validate/now HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", /^HTTP\/1\.1 400/],
      ["\u0016\u0003\u0001\u0002", /^HTTP\/1\.1 400/],
    ];
    for (const [request, expected] of cases) {
      const client = await connect(server.port);
      client.send(request);
      assert.match(await client.closed(), expected);
    }
  });

  test("a body that is longer than announced, or chunked beyond the limit, is refused", async () => {
    const client = await connect(server.port);
    client.send(
      "POST /validate/now HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    const chunk = "a".repeat(65_536);
    for (let i = 0; i < 33; i++) client.send(`10000\r\n${chunk}\r\n`);
    assert.match(await client.until(/length limit exceeded/), /^HTTP\/1\.1 413/);
    client.send("0\r\n\r\n");
    assert.match(await client.closed(), /Connection: close/);
  });

  test("half a body and a vanished client cost nothing", async () => {
    const before = server.lines.length;
    for (let i = 0; i < 50; i++) {
      const client = await connect(server.port);
      client.send(postText("/validate/now", GOOD).slice(0, 150));
      client.destroy();
    }
    const leaving = await connect(server.port);
    leaving.send(postText("/validate/slow", GOOD));
    leaving.destroy();
    await sleep(60);
    assert.equal((await post(`${server.url}/validate/now`, GOOD)).status, 200);
    assert.ok(server.lines.length - before <= 2);
  });

  test("prototype keys in a review change nothing for others", async () => {
    const review = GOOD.replace(
      '"object":{',
      '"__proto__":{"name":"evil"},"constructor":{"prototype":{"polluted":1}},"object":{"__proto__":{"polluted":1},',
    );
    const response = (await (await post(`${server.url}/validate/now`, review)).json()) as {
      response: { status: unknown };
    };
    assert.deepEqual(response.response.status, { message: "p" });
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
  });

  test("raw payloads of special values come back as they are", async () => {
    for (const payload of [
      '{"__proto__":1,"uid":{"toString":1}}',
      "[1e300,-0,0.10]",
      "123456789012345678901234567890",
      '"\\u0000"',
    ]) {
      const response = await post(`${server.url}/validate_raw/now`, `{"request":${payload}}`);
      assert.equal(response.status, 200, payload);
    }
  });

  test("a body that can be read in two ways is refused with its place", async () => {
    const digits = "9".repeat(5_000);
    const cases: readonly [path: string, body: string, status: number, said: string][] = [
      [
        "validate",
        GOOD.replace('"uid":', '"uid":"other","uid":'),
        400,
        "request: duplicate field `uid` at line 1 column",
      ],
      ["validate", GOOD.replace('"object":{', '"object":null,"object":{'), 400, "request: duplicate field `object` at"],
      [
        "validate",
        GOOD.replace('"object":{', '"Object":{},"object":{'),
        422,
        "unknown field `Object`, expected `object`",
      ],
      [
        "validate",
        GOOD.replace('"object":{', '"object":{"n":1e400,'),
        400,
        "request.object.n: number out of range at line 1",
      ],
      [
        "validate",
        GOOD.replace('"object":{', `"object":{"n":-${digits},`),
        400,
        "request.object.n: number out of range at",
      ],
      ["audit", GOOD.replace('"uid":', '"uid":"other","uid":'), 400, "request: duplicate field `uid` at line 1 column"],
      ["validate_raw", '{"request":{},"request":1}', 400, "duplicate field `request` at line 1 column 24"],
      ["validate_raw", '{"request":{"uid":"a","uid":"b"}}', 400, "request: duplicate field `uid` at line 1 column 28"],
      ["validate_raw", '{"request":[1e400]}', 400, "request[0]: number out of range at line 1 column 18"],
    ];
    for (const [path, body, status, said] of cases) {
      const response = await post(`${server.url}/${path}/now`, body);
      const text = await response.text();
      assert.equal(response.status, status, `${body.slice(0, 200)}: ${text}`);
      assert.ok(text.includes(said), text);
    }
    const inside = GOOD.replace('"object":{', '"object":{"a":1,"a":{"b":1,"b":2},');
    assert.equal((await post(`${server.url}/validate/now`, inside)).status, 200, "inside of objects as in Go");
  });

  test("log lines stay one line each, whatever a client sends", async () => {
    const name = 'x\n{"forged":true}\r\u001b[31m';
    await post(`${server.url}/validate/now`, admissionReview({ name }));
    const line = server.lines.at(-1) ?? "";
    assert.equal(line.includes("\n"), false);
    assert.equal((JSON.parse(line) as { fields: { name: string } }).fields.name, name);
  });

  test("16 clients with good, broken, huge and unknown requests get the specified answers", async () => {
    const huge = JSON.stringify({ ...admissionReview(), pad: "x".repeat(2_200_000) });
    const kinds: [string, string, number][] = [
      ["/validate/now", GOOD, 200],
      ["/validate/slow", GOOD, 200],
      ["/validate/now", GOOD.slice(0, -5), 400],
      ["/validate_raw/now", "{}", 422],
      ["/audit/unknown", GOOD, 404],
      ["/validate/now", huge, 413],
    ];
    const client = async (seed: number): Promise<void> => {
      for (let i = 0; i < 30; i++) {
        const [path, body, status] = kinds[(seed + i * 7) % kinds.length] ?? ["", "", 0];
        const response = await post(server.url + path, body);
        await response.arrayBuffer();
        assert.equal(response.status, status, path);
      }
    };
    await Promise.all(Array.from({ length: 16 }, (_, seed) => client(seed)));
  });
});
