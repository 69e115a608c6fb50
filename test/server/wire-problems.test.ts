/** Messages that are not HTTP/1.1, or have what the server does not take, by RFC 9110 and RFC 9112: one answer with a reason, and the connection closes. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { admissionReview, entry, immediate, post, serve, type TestServer } from "./fake-policy.js";
import { connect, postText } from "./raw-client.js";

const GOOD = JSON.stringify(admissionReview());

/** A POST with these headers, and what stands behind them. */
const message = (headers: readonly string[], behind = "", version = "1.1"): string =>
  `POST /validate/now HTTP/${version}\r\n${["Content-Type: application/json", ...headers].join("\r\n")}\r\n\r\n${behind}`;
const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

/** Status, what the reason names, and the message. */
const REFUSED: readonly (readonly [number, RegExp, string])[] = [
  // RFC 9112, 6.1: a transfer coding that is not understood SHOULD be answered with 501.
  [501, /Transfer-Encoding/, message(["Host: a", "Transfer-Encoding: gzip, chunked"], chunked(GOOD))],
  [
    501,
    /Transfer-Encoding/,
    message(["Host: a", "Transfer-Encoding: deflate", "Transfer-Encoding: chunked"], chunked(GOOD)),
  ],
  [501, /Transfer-Encoding/, message(["Host: a", "transfer-encoding: IDENTITY , Chunked"], chunked(GOOD))],
  // Not more than once; and a last coding that is not chunked leaves no way to know the end: 400.
  [400, /HTTP/, message(["Host: a", "Transfer-Encoding: chunked, chunked"], chunked(GOOD))],
  [400, /Transfer-Encoding/, message(["Host: a", "Transfer-Encoding: gzip"], GOOD)],
  [400, /Transfer-Encoding/, message(["Host: a", "Transfer-Encoding: chunked, gzip"], GOOD)],
  [
    400,
    /Transfer-Encoding/,
    message(["Host: a", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], chunked(GOOD)),
  ],
  [400, /HTTP/, message(["Host: a", `Content-Length: ${GOOD.length}`, "Transfer-Encoding: chunked"], chunked(GOOD))],
  [400, /HTTP\/1.0/, message(["Host: a", "Transfer-Encoding: chunked"], chunked(GOOD), "1.0")],
  [400, /HTTP/, message(["Host: a", "Content-Length: 5", "Content-Length: 6"], GOOD)],
  [400, /HTTP/, message(["Host: a", "Content-Length: +5"], GOOD)],
  // RFC 9112, 3.2: none, more than one, or one that is not a host: 400.
  [400, /Host/, message([`Content-Length: ${GOOD.length}`], GOOD)],
  [400, /more than one Host/, message(["Host: a", "HOST: a", `Content-Length: ${GOOD.length}`], GOOD)],
  [400, /Host/, message(["Host: a b", `Content-Length: ${GOOD.length}`], GOOD)],
  [400, /Host/, message(["Host: user@a", `Content-Length: ${GOOD.length}`], GOOD)],
  [400, /Host/, message(["Host: a:80x", `Content-Length: ${GOOD.length}`], GOOD)],
  [417, /Expect/, message(["Host: a", "Expect: coffee", `Content-Length: ${GOOD.length}`], GOOD)],
  [400, /HTTP/, message(["Host: a", "Transfer-Encoding: chunked"], "xyz\r\n")],
  [400, /HTTP/, message(["Host: a", "Transfer-Encoding: chunked"], "2\r\nabc\r\n")],
  [400, /HTTP/, message(["Host: a", "No colon"])],
  [413, /extensions/, message(["Host: a", "Transfer-Encoding: chunked"], `2;x=${"y".repeat(20_000)}\r\n{}\r\n`)],
  [431, /16384 bytes/, message(["Host: a", `X: ${"y".repeat(20_000)}`])],
  [505, /HTTP\/1\.1/, message(["Host: a"], "", "2.0")],
  [400, /HTTP/, "\u0016\u0003\u0001\u0002"],
];

const TAKEN: readonly string[] = [
  message(["Host: a", "Transfer-Encoding: Chunked"], chunked(GOOD)),
  message(["Host:", `Content-Length: ${GOOD.length}`], GOOD),
  message(["Host: [::1]:8443", `Content-Length: ${GOOD.length}`], GOOD),
  message(["Host: policy_server.default.svc:443", `Content-Length: ${GOOD.length}`], GOOD),
  message([`Content-Length: ${GOOD.length}`], GOOD, "1.0"),
  message(["Host: a", "Transfer-Encoding: chunked"], chunked(GOOD).replace("\r\n", ";name=value\r\n")),
];

describe("messages that are refused", () => {
  let server: TestServer;
  let asked = 0;
  before(async () => {
    server = await serve([
      immediate("now", () => {
        asked += 1;
        return { verdict: "allow" };
      }),
      entry("slow", async () => {
        await new Promise(setImmediate);
        return { verdict: "deny", message: "slow" };
      }),
    ]);
  });
  after(() => server.stop({ delay: 0, grace: 0 }));

  for (const [status, reason, text] of REFUSED) {
    const shown = JSON.stringify(text.replace("POST /validate/now ", "").replace(/(.{60})[\s\S]*/, "$1…"));
    test(`${status} ${reason} for ${shown}`, async () => {
      const before = asked;
      const client = await connect(server.port);
      client.send(text);
      const answer = await client.closed();
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.match(answer, /\r\nConnection: close\r\n/i);
      const [, body = ""] = /\r\n\r\n([\s\S]*)$/.exec(answer) ?? [];
      const said = JSON.parse(body) as { message: string; status: number };
      assert.equal(said.status, status);
      assert.match(said.message, reason);
      assert.equal(asked, before, "no policy is asked");
    });
  }

  test("the readiness port refuses them, too", async () => {
    const client = await connect(Number(new URL(server.probes).port));
    client.send("GET /readiness HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
    assert.match(await client.closed(), /^HTTP\/1\.1 400 [\s\S]*more than one Host/);
  });

  test("others are answered", async () => {
    for (const text of TAKEN) {
      const client = await connect(server.port);
      client.send(text);
      assert.match(await client.until(/"allowed"/), /^HTTP\/1\.1 200 [\s\S]*"allowed":true/, text);
      client.destroy();
    }
  });

  test("behind requests that can be read they are answered last, each in its place", async () => {
    const good = postText("/validate/slow", GOOD);
    for (const [behind, status] of [
      ["BROKEN\r\n\r\n", 400],
      [message(["Host: a", "Transfer-Encoding: chunked"], "2\r\n{}\r\nxyz\r\n"), 400],
      [message(["Host: a", "Transfer-Encoding: gzip, chunked"], chunked(GOOD)), 501],
    ] as const) {
      const client = await connect(server.port);
      client.send(good + good + behind);
      const answer = await client.closed();
      const statuses = Array.from(answer.matchAll(/HTTP\/1\.1 (\d+)/g), ([, each]) => Number(each));
      assert.deepEqual(statuses, [200, 200, status], behind);
      assert.equal(answer.split('"message":"slow"').length, 3);
    }
    assert.equal((await post(`${server.url}/validate/now`, GOOD)).status, 200);
  });
});
