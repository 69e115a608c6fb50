import assert from "node:assert/strict";
import { createServer as createPlainServer } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, type TestContext, test } from "node:test";
import { endWithin } from "../../../src/kubernetes/client/abort.js";
import { Clients } from "../../../src/world/http/clients.js";
import { EgressRules } from "../../../src/world/http/egress-rules.js";
import { GuardedClient } from "../../../src/world/http/guarded-client.js";
import { MAX_CLIENTS, MAX_ORIGINS } from "../../../src/world/http/limits.js";
import { NetworkHttp } from "../../../src/world/http/network-http.js";
import { MAX_PEM_CHARACTERS } from "../../../src/world/http/pem.js";
import { newCertificate } from "../../fetch/certificates.js";
import { evaluated } from "../../kinds/kyverno/external/support.js";

const rules = new EgressRules({ blocklist: [], allowlist: [] });
const literal = (text: string): string => JSON.stringify(text);

describe("http.Client", () => {
  const authority = newCertificate({ name: "ca", authority: true });
  const other = newCertificate({ name: "other", authority: true });
  const certificate = newCertificate({ name: "server", issuer: authority, hosts: ["localhost"] });

  test("trusts the certificates of its text, and no others", async (context) => {
    const server = createServer({ cert: certificate.pem, key: certificate.keyPem }, (_request, response) => {
      response.end('{"ok": true}');
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const client = new GuardedClient(rules);
    context.after(async () => {
      await client.close();
      server.closeAllConnections();
      server.close();
    });
    const external = { http: new NetworkHttp(client, false) };
    const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
    const get = `Get(${literal(url)})`;
    const key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    assert.equal(await evaluated(`http.Client(${literal(key + authority.pem)}).${get}.ok`, { external }), true);
    const untrusted = `error: request failed: request failed: Get ${literal(url)}: tls: failed to verify certificate`;
    assert.equal(await evaluated(`http.Client(${literal(other.pem)}).${get}.ok`, { external }), untrusted);
    assert.equal(await evaluated(`http.Client("").${get}.ok`, { external }), untrusted);
  });

  test("takes so long a text of so many certificates at most", async () => {
    const unreadable = "error: request failed: failed to parse PEM CA bundle for APICall";
    const made = (pem: string) => evaluated("[http.Client(object.pem)].size() == 1", { object: { pem } });
    assert.equal(await made(authority.pem), true);
    const filler = "x".repeat(MAX_PEM_CHARACTERS - authority.pem.length);
    assert.equal(await made(`${filler}${authority.pem}`), true);
    assert.equal(await made(`${filler}x${authority.pem}`), unreadable);
    const empty = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n";
    assert.equal(await made(empty.repeat(100) + authority.pem), true);
    assert.equal(await made(empty.repeat(1_000) + authority.pem), unreadable);
  });

  test("speaks no version of TLS below 1.2", async (context) => {
    const old = { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    const server = createServer({ cert: certificate.pem, key: certificate.keyPem, ...old }, (_request, response) => {
      response.end('{"ok": true}');
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const client = new GuardedClient(rules);
    context.after(async () => {
      await client.close();
      server.closeAllConnections();
      server.close();
    });
    const external = { http: new NetworkHttp(client, false) };
    const get = `Get("https://localhost:${(server.address() as AddressInfo).port}/")`;
    const text = String(await evaluated(`http.Client(${literal(authority.pem)}).${get}.ok`, { external }));
    assert.match(text, /: tls: the handshake failed$/);
  });
});

describe("connections that are kept", () => {
  /** A server that counts connections. */
  async function serve(context: TestContext) {
    // It keeps them for long, and so does the client that is told so: on a busy machine they would be gone before they are asked for again.
    const server = createPlainServer({ keepAliveTimeout: 600_000 }, (_request, response) => response.end("{}"));
    let connections = 0;
    server.on("connection", () => connections++);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const clients = new Clients(rules, async () => [{ address: "127.0.0.1", family: 4 }]);
    context.after(async () => {
      await clients.close();
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    return {
      connections: () => connections,
      ask: async (host: string, ca = "") => {
        const { body } = await clients.request({ origin: `http://${host}:${port}`, path: "/", method: "GET" }, ca);
        await body.text();
        await new Promise(setImmediate);
      },
    };
  }

  test("are those of so many certificates", async (context) => {
    const { ask, connections } = await serve(context);
    const certificates = Array.from(
      { length: MAX_CLIENTS },
      (_, i) => newCertificate({ name: `ca ${i}`, authority: true }).pem,
    );
    await ask("x");
    await ask("x");
    assert.equal(connections(), 1);
    for (const ca of certificates) await ask("x", ca);
    assert.equal(connections(), MAX_CLIENTS + 1);
    await ask("x");
    assert.equal(connections(), MAX_CLIENTS + 2);
  });

  test("are those of so many servers", async (context) => {
    const { ask, connections } = await serve(context);
    for (let i = 0; i < MAX_ORIGINS; i++) await ask(`x${i}`);
    await ask("x0");
    assert.equal(connections(), MAX_ORIGINS);
    await ask("one-more");
    await ask("x0");
    assert.equal(connections(), MAX_ORIGINS + 2);
  });

  test("are not closed before a request that found them is sent", async (context) => {
    const { ask } = await serve(context);
    const asked = Array.from({ length: MAX_ORIGINS + 10 }, (_, i) => ask(`x${i}`));
    await Promise.all(asked);
  });

  test("may be waited for by many at a time", async (context) => {
    const warnings: Error[] = [];
    const heard = (warning: Error): void => void warnings.push(warning);
    process.on("warning", heard);
    context.after(() => process.off("warning", heard));
    const { signal } = new AbortController();
    const limits = Array.from({ length: 50 }, () => endWithin(signal, 1_000));
    await new Promise(setImmediate);
    for (const { done } of limits) done();
    assert.deepEqual(warnings, []);
  });
});
