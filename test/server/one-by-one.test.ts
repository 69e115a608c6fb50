/** Requests that are sent before the last one has its answer. */
import assert from "node:assert/strict";
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo, type Socket } from "node:net";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import tls from "node:tls";
import { serveConnections } from "../../src/server/listener.js";
import { PacedReading } from "../../src/server/paced-reading.js";
import { newCertificate } from "../fetch/certificates.js";
import { until } from "../support/until.js";
import { admissionReview, entry, immediate, serve } from "./fake-policy.js";
import { connect, postText, type RawClient } from "./raw-client.js";

const nameOf = (review: { kind: string; request?: { name?: string | undefined } }): string =>
  review.request?.name ?? "";
const named = (path: string, name: string): string => postText(path, JSON.stringify(admissionReview({ name })));

const answersOf = (client: RawClient): number => client.received().split("HTTP/1.1 ").length - 1;

async function answered(client: RawClient, count: number): Promise<void> {
  const said = () => `${answersOf(client)} of ${count} were answered`;
  await until("the answers", () => answersOf(client) >= count, said);
}

describe("requests on one connection", () => {
  test("are asked about one at a time, and those of two connections side by side", async () => {
    let underWay = 0;
    let most = 0;
    const server = await serve([
      entry("slow", async () => {
        most = Math.max(most, ++underWay);
        await new Promise(setImmediate);
        underWay -= 1;
        return { verdict: "allow" };
      }),
    ]);
    const client = await connect(server.port);
    client.send(named("/validate/slow", "n").repeat(50));
    await answered(client, 50);
    assert.equal(most, 1);
    client.destroy();
    await server.stop({ delay: 0, grace: 0 });
  });

  const PIPELINED = 400;
  for (const [what, request, other] of [
    ["verdicts", named("/validate/now", "crowd"), named("/validate/now", "alone")],
    ["404", "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n", "GET /void HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["metrics", "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", "GET /version HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["what Express answers", "GET /policies HTTP/1.1\r\nHost: a\r\n\r\n", "GET /version HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["errors", postText("/validate/now", "{"), "GET /version HTTP/1.1\r\nHost: a\r\n\r\n"],
  ] as const) {
    test(`let another one be answered between them: ${what}`, async () => {
      const server = await serve([immediate("now", (review) => ({ verdict: "deny", message: nameOf(review) }))]);
      const [crowd, alone] = await Promise.all([connect(server.port), connect(server.port)]);
      crowd.send(request.repeat(PIPELINED));
      await crowd.until(/HTTP\/1\.1/);
      alone.send(other);
      await alone.until(/HTTP\/1\.1/);
      const before = answersOf(crowd);
      assert.ok(before < PIPELINED / 2, `${before} of ${PIPELINED} were answered before`);
      await answered(crowd, PIPELINED);
      for (const client of [crowd, alone]) client.destroy();
      await server.stop({ delay: 0, grace: 0 });
    });
  }

  for (const scheme of ["http", "https"] as const) {
    test(`are not even read before they can be answered: of 20,000 no more than Node reads at once are made (${scheme})`, async () => {
      const own = newCertificate({ name: "server", hosts: ["localhost"] });
      const server = scheme === "http" ? http.createServer() : https.createServer({ cert: own.pem, key: own.keyPem });
      let made = 0;
      server.on("request", () => {
        made += 1;
      });
      // No request is ever answered.
      serveConnections(server, { handler: () => {}, reading: new PacedReading(), bodyLimit: 0 });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
      const clients: Socket[] = [];
      const crowd = async (): Promise<number> => {
        made = 0;
        const at = { port, host: "127.0.0.1" };
        const client = scheme === "http" ? net.connect(at) : tls.connect({ ...at, rejectUnauthorized: false });
        clients.push(client);
        client.write(request.repeat(20_000));
        for (let before = -1; before !== made || made === 0; await sleep(100)) before = made;
        return made;
      };
      try {
        // What is decrypted at once is a quarter of what is read at once.
        for (let i = 0; i < 3; i++) {
          const requests = await crowd();
          assert.ok(requests <= 65_536 / request.length + 1, `${requests} requests`);
        }
        // All connections have a pace by now, so that one more has a few of them made.
        const more = await crowd();
        assert.ok(more <= 16, `${more} requests of one more`);
      } finally {
        for (const client of clients) client.destroy();
        server.close();
        server.closeAllConnections();
      }
    });
  }
});

describe("a request that is cut where the others before it end", () => {
  /** Answers nothing until it is told to; that a request takes too long says the test. */
  async function held(context: TestContext) {
    const server = http.createServer({ headersTimeout: 0, requestTimeout: 0 });
    const sockets: Socket[] = [];
    server.on("connection", (socket: Socket) => sockets.push(socket));
    const answers: (() => void)[] = [];
    const due: (() => void)[] = [];
    let isHeld = true;
    serveConnections(server, {
      handler: (request, response) => {
        request.resume().once("end", () => {
          const answer = (): void => void response.end("ok");
          if (isHeld) answers.push(answer);
          else answer();
        });
      },
      reading: new PacedReading(),
      bodyLimit: 1000,
      after: (run) => due.push(run),
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const client = await connect((server.address() as AddressInfo).port);
    context.after(() => {
      client.destroy();
      server.close();
      server.closeAllConnections();
    });
    return {
      client,
      due,
      /** The request that came last is late, when others wait for their answers. */
      late: async () => {
        await until("the request", () => answers.length > 0);
        const error = Object.assign(new Error("late"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
        for (const socket of sockets) server.emit("clientError", error, socket);
      },
      release: () => {
        isHeld = false;
        for (const answer of answers) answer();
      },
    };
  }

  const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const POST = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody";
  for (const [what, request, cut] of [
    ["in its headers", GET, 20],
    ["in its body", POST, POST.length - 2],
  ] as const) {
    test(`is not late while it waits behind them, and has time of its own then: ${what}`, async (context) => {
      const { client, due, late, release } = await held(context);
      client.send(GET + GET + request.slice(0, cut));
      await late();
      assert.equal(client.received(), "");
      release();
      await answered(client, 2);
      await until("its own time", () => due.length > 0);
      client.send(request.slice(cut));
      await answered(client, 3);
      for (const run of due) run();
      client.send(GET);
      await answered(client, 4);
      assert.doesNotMatch(client.received(), /408/);
    });

    test(`is late when it does not come then: ${what}`, async (context) => {
      const { client, due, late, release } = await held(context);
      client.send(GET + GET + request.slice(0, cut));
      await late();
      release();
      await answered(client, 2);
      await until("its own time", () => due.length > 0);
      for (const run of due) run();
      assert.match(await client.closed(), /HTTP\/1\.1 200[\s\S]*HTTP\/1\.1 200[\s\S]*HTTP\/1\.1 408/);
    });
  }
});

test("a body in chunks of a byte is answered as any other, and others are meanwhile", async () => {
  const server = await serve([immediate("now", (review) => ({ verdict: "deny", message: nameOf(review) }))]);
  const body = JSON.stringify(admissionReview({ name: "chunks", object: { pad: "x".repeat(60_000) } }));
  const [crumbs, alone] = await Promise.all([connect(server.port), connect(server.port)]);
  crumbs.send(
    "POST /validate/now HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
  );
  crumbs.send(`${Array.from(body, (byte) => `1\r\n${byte}\r\n`).join("")}0\r\n\r\n`);
  for (let i = 0; i < 3; i++) {
    alone.send("GET /version HTTP/1.1\r\nHost: a\r\n\r\n");
    await answered(alone, i + 1);
  }
  assert.equal(crumbs.received(), "", "three others are answered before the body has come");
  await crumbs.until(/"message":"chunks"/);
  for (const client of [crumbs, alone]) client.destroy();
  await server.stop({ delay: 0, grace: 0 });
});
