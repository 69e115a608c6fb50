import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { admissionReview, immediate, post, serve, type TestServer } from "./fake-policy.js";
import { connect } from "./raw-client.js";

const LIMIT = 10_000;
const GOOD = JSON.stringify(admissionReview());

function head(length: number, expect: string): string {
  const lines = ["POST /validate/p HTTP/1.1", "Host: h", "Content-Type: application/json"];
  return `${[...lines, `Content-Length: ${length}`, `Expect: ${expect}`].join("\r\n")}\r\n\r\n`;
}

describe("what a client asks before it sends a body", () => {
  let server: TestServer;
  before(async () => {
    server = await serve([immediate("p", () => ({ verdict: "allow" }))], { bodyLimit: LIMIT });
  });
  after(() => server.stop({ delay: 0, grace: 0 }));

  test("a body within the limit may come", async () => {
    const client = await connect(server.port);
    client.send(head(GOOD.length, "100-continue"));
    assert.match(await client.until(/\r\n\r\n/), /^HTTP\/1\.1 100 Continue\r\n/);
    client.send(GOOD);
    await client.until(/HTTP\/1\.1 200 OK[\s\S]*"allowed":true/);
    client.destroy();
  });

  test("a body above the limit is refused at once", async () => {
    const client = await connect(server.port);
    client.send(head(LIMIT + 1, "100-continue"));
    const answer = await client.until(/length limit exceeded/);
    assert.match(answer, /^HTTP\/1\.1 413 /);
    client.destroy();
  });

  test("other expectations can't be met", async () => {
    const client = await connect(server.port);
    client.send(head(GOOD.length, "tea"));
    assert.match(await client.until(/\r\n\r\n/), /^HTTP\/1\.1 417 /);
    client.destroy();
  });
});

describe("encodings of bodies", () => {
  let server: TestServer;
  before(async () => {
    server = await serve([immediate("p", () => ({ verdict: "allow" }))]);
  });
  after(() => server.stop({ delay: 0, grace: 0 }));

  test("a body that is not sent as it is gets 415, and is told what is taken", async () => {
    for (const encoding of ["gzip", "br, gzip", "identity, gzip"]) {
      const response = await post(`${server.url}/validate/p`, GOOD, { "Content-Encoding": encoding });
      assert.equal(response.status, 415);
      assert.equal(response.headers.get("accept-encoding"), "identity");
      assert.match(await response.text(), /Content-Encoding \\"[a-z, ]+\\" is not supported/);
    }
  });

  test("identity is as none", async () => {
    const response = await post(`${server.url}/validate/p`, GOOD, { "Content-Encoding": "Identity" });
    assert.equal(response.status, 200);
    await response.text();
  });
});
