import assert from "node:assert/strict";
import { createServer as createProxy } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { HttpClient } from "../../src/fetch/http-client.js";
import { proxyFor } from "../../src/fetch/proxies.js";
import { newCertificate } from "./certificates.js";
import { failureOf, fetcher, folder, insecure, WASM } from "./helpers.js";
import { sha256, TestRegistry } from "./test-registry.js";

const CA = newCertificate({ name: "test CA", authority: true });
const SERVER = newCertificate({ name: "localhost", issuer: CA, hosts: ["localhost"] });

describe("modules from files", () => {
  test("are read in place, and said to be missing", async (context) => {
    const root = folder(context, { "a b.wasm": WASM });
    const modules = fetcher(context);
    const module = await modules.fetch(pathToFileURL(join(root, "a b.wasm")).href);
    assert.equal(module.digest, sha256(WASM));
    const missing = await failureOf(modules.fetch(pathToFileURL(join(root, "none.wasm")).href));
    assert.equal(
      missing,
      `Error while downloading policy 'p' from M: No such file or directory: ${join(root, "none.wasm")}`,
    );
    assert.match(await failureOf(modules.fetch(pathToFileURL(root).href)), /is not a file/);
  });
});

describe("modules by HTTP", () => {
  test("are downloaded and reused; only 2xx is an answer", async (context) => {
    const server = await TestRegistry.start(context);
    server.special.set("/p.wasm", (_, response) => response.end(WASM));
    server.special.set("/moved", (_, response) => response.writeHead(302, { location: "/p.wasm" }).end());
    server.special.set("/loop", (_, response) => response.writeHead(302, { location: "/loop" }).end());
    server.special.set("/odd", (_, response) => response.writeHead(302, { location: "file:///etc/passwd" }).end());
    const downloadDirectory = folder(context);
    const get = (path: string) => fetcher(context, { downloadDirectory }).fetch(`http://${server.host}${path}`);
    assert.equal((await get("/p.wasm")).digest, sha256(WASM));
    assert.equal((await get("/p.wasm")).digest, sha256(WASM));
    assert.deepEqual(server.requests, ["GET /p.wasm"]);
    assert.equal((await get("/moved")).digest, sha256(WASM));
    assert.match(await failureOf(get("/none")), /localhost:\d+ answers 404$/);
    assert.match(await failureOf(get("/loop")), /redirects more than 5 times/);
    assert.match(await failureOf(get("/odd")), /redirects to "file:\/\/\/etc\/passwd", which is not an HTTP address/);
  });

  test("an answer that is no module is not kept", async (context) => {
    const server = await TestRegistry.start(context);
    server.special.set("/p.wasm", (_, response) => response.end("<html>come back later</html>"));
    const downloadDirectory = folder(context);
    const get = () => fetcher(context, { downloadDirectory }).fetch(`http://${server.host}/p.wasm`);
    assert.match(Buffer.from((await get()).bytes).toString(), /^<html>/);
    server.special.set("/p.wasm", (_, response) => response.end(WASM));
    assert.equal((await get()).digest, sha256(WASM));
  });

  test("a query makes a module of its own", async (context) => {
    const server = await TestRegistry.start(context);
    server.special.set("/p", (request, response) => response.end(`${request.url}`));
    const modules = fetcher(context);
    const one = await modules.fetch(`http://${server.host}/p?v=1`);
    const two = await modules.fetch(`http://${server.host}/p?v=2`);
    assert.notEqual(one.digest, two.digest);
  });

  test("name and password of an address are sent as such, and with the query kept from messages", async (context) => {
    const server = await TestRegistry.start(context);
    server.special.set("/p.wasm", (request, response) =>
      response.writeHead(request.headers.authorization === "Basic YW5uOnAvdw==" ? 200 : 401).end(WASM),
    );
    const modules = fetcher(context);
    assert.equal((await modules.fetch(`http://ann:p%2Fw@${server.host}/p.wasm`)).digest, sha256(WASM));
    const wrong = `http://ann:%zz@${server.host}/p.wasm?token=secret`;
    assert.equal(
      await failureOf(modules.fetch(wrong), "p", wrong),
      `Error while downloading policy 'p' from http://…@${server.host}/p.wasm?…: ${server.host} answers 401`,
    );
  });

  test("HTTPS is verified, and not led to plain HTTP", async (context) => {
    const plain = await TestRegistry.start(context);
    const server = await TestRegistry.start(context, { certificate: SERVER });
    server.special.set("/p.wasm", (_, response) => response.end(WASM));
    server.special.set("/down", (_, response) => response.writeHead(302, { location: `http://${plain.host}/p` }).end());
    const location = `https://${server.host}/p.wasm`;
    assert.match(await failureOf(fetcher(context).fetch(location)), /cannot reach .*certificate/);
    const sources = { insecure: new Set<string>(), authorities: new Map([[server.host, [CA.pem]]]) };
    assert.equal((await fetcher(context, { sources }).fetch(location)).digest, sha256(WASM));
    const down = fetcher(context, { sources }).fetch(`https://${server.host}/down`);
    assert.match(
      await failureOf(down),
      /redirects to plain HTTP at localhost:\d+, which insecure_sources doesn't list/,
    );
  });

  test("a server that never answers is given up", async (context) => {
    const server = await TestRegistry.start(context);
    server.special.set("/silent", () => {});
    server.special.set("/slow", (_, response) => response.write("x"));
    for (const path of ["/silent", "/slow"]) {
      const modules = fetcher(context, { timeoutMilliseconds: 300 });
      const failure = await failureOf(modules.fetch(`http://${server.host}${path}`));
      assert.match(failure, /in time|broke off/);
    }
  });

  test("a proxy of the environment is used for HTTP and, by tunnel, for HTTPS", async (context) => {
    const asked: string[] = [];
    const proxy = createProxy((request, response) => {
      asked.push(`GET ${request.url}`);
      response.end(WASM);
    });
    proxy.on("connect", (request, socket) => {
      asked.push(`CONNECT ${request.url}`);
      const upstream = connect(Number(request.url?.split(":")[1]), "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        socket.pipe(upstream).pipe(socket);
      });
      upstream.on("error", () => socket.destroy());
      socket.on("error", () => upstream.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    context.after(() => {
      proxy.closeAllConnections();
      proxy.close();
    });
    const server = await TestRegistry.start(context, { certificate: SERVER });
    server.special.set("/p.wasm", (_, response) => response.end(WASM));
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const environment = { HOME: "/nonexistent", http_proxy: address, HTTPS_PROXY: address };
    const modules = fetcher(context, { environment, sources: insecure(server.host) });
    await modules.fetch("http://unknown.example/x/p.wasm");
    await modules.fetch(`https://${server.host}/p.wasm`);
    assert.equal(asked[0], "GET http://unknown.example/x/p.wasm");
    assert.ok(asked.includes(`CONNECT ${server.host}`));
  });
});

test("sources.yml may list Docker Hub by any of its names, and a host with its default port", () => {
  const listed = (name: string, url: string) =>
    new HttpClient({ insecure: new Set([name]), authorities: new Map() }, {}).isInsecure(new URL(url));
  for (const name of ["docker.io", "index.docker.io", "registry-1.docker.io", "docker.io:443"])
    assert.ok(listed(name, "https://registry-1.docker.io/v2/"), name);
  assert.ok(listed("a.example:443", "https://a.example/"));
  assert.ok(!listed("a.example", "https://a.example:5000/"));
  assert.ok(!listed("docker.io", "https://auth.docker.io/token"));
});

test("a proxy that can't be used is named as the one to look at", async (context) => {
  const fetch = (proxy: string) =>
    failureOf(fetcher(context, { environment: { HTTPS_PROXY: proxy } }).fetch("https://a.example/p.wasm"));
  assert.match(
    await fetch("http://127.0.0.1:1"),
    /cannot reach a\.example through the proxy of the environment: .*127/,
  );
  assert.match(await fetch("user:secret@::::"), /: the environment's proxy for https is not a URL$/);
});

describe("the proxy for a URL", () => {
  const environment = { HTTP_PROXY: "proxy.example:3128", http_proxy: "http://lower", https_proxy: "http://secure:1" };
  const cases: [url: string, noProxy: string, expected: string | undefined][] = [
    ["http://a.example/", "", "http://proxy.example:3128"],
    ["https://a.example/", "", "http://secure:1"],
    ["https://a.example/", "*", undefined],
    ["https://a.example/", "example", undefined],
    ["https://a.example/", ".example", undefined],
    ["https://a.example/", "b.example, xa.example", "http://secure:1"],
    ["https://aexample/", "example", "http://secure:1"],
    ["https://a.example:8443/", "a.example:443", "http://secure:1"],
    ["https://a.example/", "a.example:443", undefined],
    ["https://10.1.2.3/", "10.0.0.0/8", undefined],
    ["https://11.1.2.3/", "10.0.0.0/8", "http://secure:1"],
    ["https://[fd00::1]/", "fd00::/8", undefined],
    ["https://[fd00::1]/", "fd00::1", undefined],
  ];
  for (const [url, noProxy, expected] of cases) {
    test(`${url} with NO_PROXY=${noProxy} is ${expected ?? "direct"}`, () => {
      assert.equal(proxyFor(new URL(url), { ...environment, NO_PROXY: noProxy }), expected);
    });
  }
});

test("a host that may speak plain HTTP, and does, is tried by TLS once", async (context) => {
  const server = createProxy((_, response) => response.writeHead(200, { connection: "close" }).end("{}"));
  let failedTls = 0;
  server.on("clientError", (_, socket) => {
    failedTls += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  context.after(() => server.close());
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  const client = new HttpClient({ insecure: new Set([host]), authorities: new Map() }, {});
  context.after(() => client.close());
  const ask = () => client.request(new URL(`https://${host}/`), { maxBytes: 10, signal: AbortSignal.timeout(5_000) });
  for (let i = 0; i < 3; i++) assert.equal((await ask()).status, 200);
  // Verified and unverified, before the first plain answer.
  assert.equal(failedTls, 2);
});
