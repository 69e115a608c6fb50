import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import type { Resolve } from "../../../src/world/http/connector.js";
import { DEFAULT_BLOCKLIST, EgressRules } from "../../../src/world/http/egress-rules.js";
import { GuardedClient } from "../../../src/world/http/guarded-client.js";
import type { HttpQuestion } from "../../../src/world/http/http-source.js";
import { MAX_BODY_BYTES, MAX_BODY_VALUES } from "../../../src/world/http/limits.js";
import { NetworkHttp } from "../../../src/world/http/network-http.js";
import { LookupFailure } from "../../../src/world/resources/resource-source.js";
import { evaluated } from "../../kinds/kyverno/external/support.js";

interface Heard {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

let server: Server;
let port: number;
let heard: Heard[] = [];
const clients: GuardedClient[] = [];
const answers: Record<string, (response: ServerResponse) => void> = {
  "/object": (response) => response.writeHead(500).end('{"ok": false, "n": 2, "statusCode": 7}'),
  "/list": (response) => response.end("[1]"),
  "/text": (response) => response.writeHead(404).end("nothing here"),
  "/long": (response) => response.end(`"${"x".repeat(MAX_BODY_BYTES)}"`),
  "/values": (response) => response.end(`[${"1,".repeat(MAX_BODY_VALUES)}1]`),
  "/loop": (response) => response.writeHead(302, { location: "/loop" }).end(),
  "/see-other": (response) => response.writeHead(303, { location: "/object" }).end(),
  "/keep": (response) => response.writeHead(307, { location: "/list" }).end(),
  "/to-name": (response) => response.writeHead(302, { location: `http://inside.example:${port}/list` }).end(),
  "/to-address": (response) => response.writeHead(302, { location: "http://169.254.169.254/?token=x" }).end(),
  "/to-host": (response) => response.writeHead(302, { location: "http://metadata.google.internal/" }).end(),
  "/to-both": (response) => response.writeHead(302, { location: `http://both.example:${port}/list` }).end(),
  "/to-nobody": (response) => response.writeHead(302, { location: "http://server.example:1/?token=x" }).end(),
  "/to-long": (response) => response.writeHead(302, { location: "/long?token=x" }).end(),
  "/to-odd": (response) => response.writeHead(302, { location: "http://[?token=x" }).end(),
  "/to-file": (response) => response.writeHead(302, { location: "file:///etc/passwd" }).end(),
  "/elsewhere": (response) => response.writeHead(302, { location: `http://elsewhere.example:${port}/list` }).end(),
};

before(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url, headers } = request;
      heard.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      const answer = answers[url?.replace("?token=x", "") ?? ""];
      if (answer === undefined) response.socket?.destroy();
      else answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
after(async () => {
  await Promise.all(clients.map((client) => client.close()));
  server.close();
  server.closeAllConnections();
});

/** Names that lead to this machine, and one that also leads to where nobody may go. */
const resolve: Resolve = async (hostname) => {
  const loopback = { address: "127.0.0.1", family: 4 };
  if (hostname === "both.example") return [loopback, { address: "::ffff:10.0.0.1", family: 6 }];
  if (hostname === "none.example") return [];
  return [loopback];
};

/** The network with a block list of its own: none of them has loopback on it unless a test says so. */
function network(blocklist: readonly string[] = [], allowlist: readonly string[] = [], forNamespaced = false) {
  const client = new GuardedClient(new EgressRules({ blocklist, allowlist }), resolve);
  clients.push(client);
  heard = [];
  return new NetworkHttp(client, forNamespaced);
}

const question = (path: string, own: Partial<HttpQuestion> = {}): HttpQuestion => ({
  method: "GET",
  url: path.startsWith("/") ? `http://server.example:${port}${path}` : path,
  headers: {},
  body: undefined,
  ca: "",
  namespaced: false,
  ...own,
});
const failureOf = async (http: NetworkHttp, asked: HttpQuestion): Promise<string> => {
  const answer = await http.send(asked);
  assert.ok(answer instanceof LookupFailure, JSON.stringify(answer));
  return answer.message.replaceAll(String(port), "PORT");
};

describe("answers", () => {
  test("an object has the status beside its members, whatever it is", async () => {
    const external = { http: network() };
    const get = `http.Get("http://server.example:${port}/object")`;
    assert.equal(
      await evaluated(`!${get}.ok && ${get}.statusCode + 0 == 500 && ${get}.n + 0.0 == 2.0`, { external }),
      true,
    );
    assert.equal(heard.length, 1);
  });

  test("all else stands under `body`, what is no JSON is null there", async () => {
    const http = network();
    assert.deepEqual(await http.send(question("/list")), { body: [Object(1)], statusCode: 200 });
    assert.deepEqual(await http.send(question("/text")), { body: null, statusCode: 404 });
  });

  test("one that is too large is none", async () => {
    assert.equal(
      await failureOf(network(), question("/long")),
      `request failed: Get "http://server.example:PORT/long": response length must be less than max allowed response length of ${MAX_BODY_BYTES}`,
    );
  });

  test("one of too many values is none, however short", async () => {
    assert.equal(
      await failureOf(network(), question("/values")),
      `request failed: the answer has more than ${MAX_BODY_VALUES} values`,
    );
  });

  test("a server that says nothing is an error, without the address that the policy did not name", async () => {
    assert.equal(
      await failureOf(network(), question("/nothing")),
      'request failed: Get "http://server.example:PORT/nothing": the server has closed the connection',
    );
    const answer = await network().send(question("http://server.example:1/"));
    assert.ok(answer instanceof LookupFailure);
    assert.equal(answer.message, 'request failed: Get "http://server.example:1/": connection refused');
    assert.match(answer.detail ?? "", /127\.0\.0\.1/);
  });
});

describe("requests", () => {
  test("have the policy's headers and body, and nothing that says how they are sent", async () => {
    const headers = { "X-A": "b", Host: "other", "Content-Length": "1", Connection: "close" };
    await network().send(question("/list", { method: "POST", body: '{"a":1}\n', headers }));
    const [request] = heard;
    assert.equal(request?.method, "POST");
    assert.equal(request?.body, '{"a":1}\n');
    assert.equal(request?.headers["x-a"], "b");
    assert.equal(request?.headers.host, `server.example:${port}`);
    assert.equal(request?.headers["content-type"], undefined);
  });

  test("have the account that stands in the address, and errors have not", async () => {
    const http = network();
    await http.send(question(`http://me:secret@server.example:${port}/list`));
    assert.equal(heard[0]?.headers.authorization, `Basic ${Buffer.from("me:secret").toString("base64")}`);
    assert.equal(
      await failureOf(http, question(`http://me:secret@server.example:${port}/nothing`)),
      'request failed: Get "http://me:***@server.example:PORT/nothing": the server has closed the connection',
    );
  });

  test("that cannot be made are errors", async () => {
    const http = network();
    const texts: Readonly<Record<string, string>> = {
      "ftp://x/": 'request failed: Get "ftp://x/": unsupported protocol scheme "ftp"',
      "file:///etc/passwd": 'request failed: Get "file:///etc/passwd": unsupported protocol scheme "file"',
      nonsense: 'request failed: Get "nonsense": unsupported protocol scheme ""',
      "http:///x": 'request failed: Get "http:///x": http: no Host in request URL',
      "http:x": 'request failed: Get "http:x": http: no Host in request URL',
      "http://x\n/": 'invalid URL: parse "http://x\\n/": net/url: invalid control character in URL',
      "http://x:99999/": 'invalid URL: parse "http://x:99999/"',
    };
    for (const [url, text] of Object.entries(texts)) assert.equal(await failureOf(http, question(url)), text);
    assert.match(
      await failureOf(http, question("/list", { headers: { "a b": "c" } })),
      /invalid header field name "a b"$/,
    );
    assert.match(
      await failureOf(http, question("/list", { headers: { a: "b\r\nc: d" } })),
      /invalid header field value/,
    );
    assert.deepEqual(heard, []);
  });

  test("of policies of a namespace are not sent unless that is allowed", async () => {
    const asked = question("/list", { namespaced: true });
    assert.equal(
      await failureOf(network(), asked),
      "http calls are not allowed in namespaced policies: set --allowHTTPInNamespacedPolicies to enable",
    );
    assert.deepEqual(heard, []);
    assert.deepEqual(await network([], [], true).send(asked), { body: [Object(1)], statusCode: 200 });
  });
});

describe("what is blocked", () => {
  test("an address is refused before anybody is connected to", async () => {
    const external = { http: network(DEFAULT_BLOCKLIST) };
    assert.equal(
      await evaluated('http.Get("http://127.0.0.1/").x == 1', { external }),
      'error: request failed: request failed: Get "http://127.0.0.1/": connection to 127.0.0.1:80 blocked: IP 127.0.0.1 falls in blocked range 127.0.0.0/8',
    );
    assert.match(
      await failureOf(network(DEFAULT_BLOCKLIST), question("https://[::1]/")),
      /connection to \[::1\]:443 blocked: IP ::1 falls in blocked range ::1\/128$/,
    );
  });

  test("a name is refused for any of the addresses that it leads to", async () => {
    assert.equal(
      await failureOf(network(DEFAULT_BLOCKLIST), question("/list")),
      'request failed: Get "http://server.example:PORT/list": connection to server.example:PORT blocked: resolved IP 127.0.0.1 falls in blocked range 127.0.0.0/8',
    );
    assert.match(
      await failureOf(network(["10.0.0.0/8"]), question(`http://both.example:${port}/list`)),
      /blocked: resolved IP 10\.0\.0\.1 falls in blocked range 10\.0\.0\.0\/8$/,
    );
    assert.match(await failureOf(network(), question("http://none.example/")), /the server cannot be reached$/);
    assert.deepEqual(heard, []);
  });

  test("what is not on the list of what is allowed is not asked", async () => {
    const http = network([], [`http://server.example:${port}/list`]);
    assert.deepEqual(await http.send(question("/list")), { body: [Object(1)], statusCode: 200 });
    assert.equal(
      await failureOf(http, question("/object")),
      'URL "http://server.example:PORT/object" is not permitted: no matching allowlist entry',
    );
  });
});

describe("redirects", () => {
  test("are followed, with the method where the server says so", async () => {
    const http = network();
    const post = { method: "POST", body: "1\n" } as const;
    await http.send(question("/see-other", post));
    await http.send(question("/keep", post));
    assert.deepEqual(
      heard.map(({ method, url, body }) => `${method} ${url} ${body.trim()}`),
      ["POST /see-other 1", "GET /object ", "POST /keep 1", "POST /list 1"],
    );
  });

  test("end at some time", async () => {
    assert.match(
      await failureOf(network(), question("/loop")),
      /^request failed: Get "http:\/\/server\.example:PORT\/loop": stopped after 10 redirects$/,
    );
    assert.equal(heard.length, 10);
  });

  test("lead nowhere where the first request could not have led", async () => {
    const http = network(["169.254.0.0/16", "metadata.google.internal", "inside.example"]);
    const blocked = async (asked: NetworkHttp, path: string): Promise<string> => {
      const answer = await asked.send(question(path));
      assert.ok(answer instanceof LookupFailure);
      // Where it leads is not the policy's: that is for the log.
      const url = `http://server.example:${port}${path}`;
      assert.equal(answer.message, `request failed: Get "${url}": it is redirected to where nothing may be sent`);
      return answer.detail ?? "";
    };
    assert.match(
      await blocked(http, "/to-address"),
      /redirected to "http:\/\/169\.254\.169\.254\/\?token=x".*connection to 169\.254\.169\.254:80 blocked: IP 169\.254\.169\.254 falls in blocked range 169\.254\.0\.0\/16/,
    );
    assert.match(await blocked(http, "/to-host"), /hostname "metadata\.google\.internal" is on the blocklist/);
    assert.match(await blocked(http, "/to-name"), /hostname "inside\.example" is on the blocklist/);
    assert.match(await blocked(network(["10.0.0.0/8"]), "/to-both"), /resolved IP 10\.0\.0\.1 falls in blocked range/);
    assert.match(await failureOf(http, question("/to-file")), /\/to-file": unsupported protocol scheme "file"$/);
    const narrow = network([], [`http://server.example:${port}`]);
    assert.match(await blocked(narrow, "/elsewhere"), /is not permitted: no matching allowlist entry/);
  });

  test("that fail are told by the address that the policy has named", async () => {
    const http = network();
    for (const [path, reason] of [
      ["/to-nobody", "connection refused"],
      ["/to-long", `response length must be less than max allowed response length of ${MAX_BODY_BYTES}`],
      ["/to-odd", "failed to parse Location header"],
    ] as const) {
      const answer = await http.send(question(path));
      assert.ok(answer instanceof LookupFailure, path);
      assert.equal(answer.message, `request failed: Get "http://server.example:${port}${path}": ${reason}`);
      assert.match(answer.detail ?? "", /redirected to ".*token=x"/);
    }
  });

  test("leave behind what is for one server only", async () => {
    const headers = { Authorization: "Bearer x", Cookie: "c", "X-A": "b" };
    await network().send(question("/elsewhere", { headers }));
    assert.deepEqual(
      heard.map(({ url, headers: own }) => [url, own.authorization, own.cookie, own["x-a"]]),
      [
        ["/elsewhere", "Bearer x", "c", "b"],
        ["/list", undefined, undefined, "b"],
      ],
    );
  });
});
