import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { readTlsMaterial, TlsMaterialError } from "../../src/server/tls-material.js";
import { rotateTls } from "../../src/server/tls-rotation.js";
import { createLogger } from "../../src/telemetry/logger.js";
import { newCertificate } from "../fetch/certificates.js";
import { TestClock } from "../support/test-clock.js";
import { until } from "../support/until.js";
import { admissionReview, immediate, serve, type TestServer } from "./fake-policy.js";
import { connect } from "./raw-client.js";
import { passTime } from "./stop-time.js";
import { ask, type TlsFolder, tlsFolder } from "./tls-files.js";

const GOOD = JSON.stringify(admissionReview());
const POLICY = immediate("now", () => ({ verdict: "allow" }));

interface Secured {
  readonly server: TestServer;
  readonly lines: string[];
  close(): Promise<void>;
}

/** A server whose certificates are watched at short intervals. */
async function secured(
  folder: TlsFolder,
  {
    clientCaFiles = [],
    clientNames = [],
    clock,
  }: {
    readonly clientCaFiles?: readonly string[];
    readonly clientNames?: readonly string[];
    readonly clock?: TestClock;
  } = {},
): Promise<Secured> {
  const files = { certFile: folder.certFile, keyFile: folder.keyFile, clientCaFiles };
  const material = await readTlsMaterial(files);
  const server = await serve([POLICY], { tls: material.options, clientNames, ...(clock && { clock }) });
  const lines: string[] = [];
  const logger = createLogger({ sink: { write: (line) => void lines.push(line), flushSync: () => {}, dropped: 0 } });
  const watch = await rotateTls(material, {
    files,
    logger,
    interval: 20,
    use: ({ options }) => server.secure(options),
  });
  return {
    server,
    lines,
    close: async () => {
      watch.close();
      await server.stop({ delay: 0, grace: 0 });
    },
  };
}

describe("TLS (spec kubewarden.md 9)", () => {
  test("a swap of links is taken over, and no request under load fails meanwhile", async () => {
    const folder = tlsFolder();
    const { server, close } = await secured(folder);
    const seen = new Set<string>();
    let rotating = true;
    const load = async (): Promise<void> => {
      while (rotating) {
        const answer = await ask(server.port, folder, "/validate/now", GOOD);
        assert.equal(answer.status, 200);
        seen.add(answer.server);
      }
    };
    const clients = [load(), load(), load()];
    for (const name of ["server two", "server three"]) {
      folder.install(folder.issue(name));
      await until(name, () => seen.has(name));
    }
    rotating = false;
    await Promise.all(clients);
    assert.deepEqual([...seen].sort(), ["server one", "server three", "server two"]);
    await close();
  });

  test("a pair that does not belong together keeps the last good one, and says so", async () => {
    const folder = tlsFolder();
    const { server, lines, close } = await secured(folder);
    const next = folder.issue("server two");
    folder.install(next, folder.issue("other"));
    await until("the failure", () => lines.length > 0);
    assert.match(lines[0] ?? "", /Failed to reload TLS certificates: the key in .* does not belong to the certificate/);
    assert.equal((await ask(server.port, folder, "/validate/now", GOOD)).server, "server one");
    folder.install(next);
    await until("the good pair", () => lines.length > 1);
    assert.equal((await ask(server.port, folder, "/validate/now", GOOD)).server, "server two");
    await close();
  });

  test("with client authorities a certificate is mandatory; probes stay plain", async () => {
    const folder = tlsFolder();
    const { server, close } = await secured(folder, { clientCaFiles: [folder.caFile] });
    await assert.rejects(ask(server.port, folder, "/validate/now", GOOD));
    const stranger = newCertificate({ name: "stranger" });
    await assert.rejects(ask(server.port, folder, "/validate/now", GOOD, stranger));
    assert.equal((await ask(server.port, folder, "/validate/now", GOOD, folder.issue("anybody"))).status, 200);
    assert.equal((await fetch(`${server.probes}/readiness`)).status, 200);
    await close();
  });

  test("with allowed names a certificate must have one of them", async () => {
    const folder = tlsFolder();
    const { server, close } = await secured(folder, {
      clientCaFiles: [folder.caFile],
      clientNames: ["kube-apiserver"],
    });
    assert.equal((await ask(server.port, folder, "/validate/now", GOOD, folder.issue("kube-apiserver"))).status, 200);
    const refused = await ask(server.port, folder, "/validate/now", GOOD, folder.issue("somebody else"));
    assert.equal(refused.status, 403);
    assert.match(refused.body, /the client certificate is for \\"somebody else\\"/);
    // What would be admitted is nobody's business.
    assert.doesNotMatch(refused.body, /kube-apiserver/);
    const line = server.lines.find((text) => text.includes("a client certificate was refused"));
    assert.match(line ?? "", /"names":\["somebody else"/);
    await close();
  });

  test("unusable files are named", async () => {
    const folder = tlsFolder();
    const files = { certFile: folder.certFile, keyFile: folder.keyFile, clientCaFiles: [] };
    const cases: [Partial<typeof files>, RegExp][] = [
      [{ certFile: "/nowhere/tls.crt" }, /cannot read \/nowhere\/tls\.crt/],
      [{ certFile: folder.keyFile }, /Expected at least one certificate in certificate file .*, found 0/],
      [{ keyFile: folder.certFile }, /Expected exactly one key in key file .*, found 0/],
    ];
    for (const [change, message] of cases) {
      await assert.rejects(readTlsMaterial({ ...files, ...change }), (error: unknown) => {
        assert.ok(error instanceof TlsMaterialError);
        assert.match(error.message, message);
        return true;
      });
    }
    const broken = `${folder.folder}/broken.pem`;
    writeFileSync(broken, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    await assert.rejects(readTlsMaterial({ ...files, certFile: broken }), /broken certificate/);
  });

  for (const grace of [0, 500]) {
    test(`a connection whose handshake never comes does not outlast a stop with ${grace} ms of grace`, async () => {
      const folder = tlsFolder();
      const clock = new TestClock();
      const { server, close } = await secured(folder, { clock });
      const silent = await connect(server.port);
      // Connections are accepted in turn: by now the silent one is.
      assert.equal((await ask(server.port, folder, "/validate/now", GOOD)).status, 200);
      const stopped = server.stop({ delay: 0, grace });
      // No more of the stop's time passes.
      await passTime(clock, grace);
      await stopped;
      await silent.closed();
      await close();
    });
  }

  test("a connection whose handshake does not come within 10 seconds is cut", async () => {
    const folder = tlsFolder();
    const { server, close } = await secured(folder);
    const silent = await connect(server.port);
    await silent.closed();
    assert.equal((await ask(server.port, folder, "/validate/now", GOOD)).status, 200);
    await close();
  });

  test("plain HTTP on the TLS port and broken handshakes end that connection only", async () => {
    const folder = tlsFolder();
    const { server, close } = await secured(folder);
    await assert.rejects(fetch(`http://127.0.0.1:${server.port}/validate/now`, { method: "POST" }));
    assert.equal((await ask(server.port, folder, "/validate/now", GOOD)).status, 200);
    await close();
  });
});
