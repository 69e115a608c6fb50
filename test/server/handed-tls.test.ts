import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { HandedTls } from "../../src/server/handed-tls.js";
import { type Listener, listen } from "../../src/server/listener.js";
import type { TlsPair } from "../../src/server/tls-material.js";
import { issueAuthority, issueServerCertificate } from "../../src/x509/issue.js";
import { keptLog } from "../cluster/approver/support.js";
import { newCertificate } from "../fetch/certificates.js";
import { until } from "../support/until.js";

const DAY = 86_400_000;
const life = { from: Date.now() - DAY, to: Date.now() + DAY, random: randomBytes };
const authority = issueAuthority({ name: "authority", ...life });

function pair(name: string): TlsPair {
  const made = issueServerCertificate({ name, hosts: ["127.0.0.1"], ...life }, authority);
  return { ...made, certificateName: "tls.crt", keyName: "tls.key" };
}

async function serve(context: TestContext, clientCaFiles: readonly string[] = []) {
  const { logger, lines } = keptLog();
  let listener: Listener | undefined;
  const use = ({ options }: { readonly options: object }): void => listener?.secure(options);
  const tls = await HandedTls.open({ clients: { clientCaFiles }, logger, use, interval: 20 });
  listener = await listen({
    address: "127.0.0.1",
    port: 0,
    tls: tls.initial,
    handler: (_, response) => response.end("answer"),
  });
  const { port } = listener;
  context.after(async () => {
    tls.close();
    await listener?.close(0);
  });
  return { tls, port, lines };
}

/** The common name of the certificate that a new connection is shown. */
async function ask(port: number, client: { readonly cert?: string; readonly key?: string } = {}): Promise<string> {
  const request = https.get({ host: "127.0.0.1", port, ca: authority.certificate, agent: false, ...client });
  const [response] = (await once(request, "response")) as [import("node:http").IncomingMessage];
  const { subject } = (response.socket as import("node:tls").TLSSocket).getPeerCertificate();
  response.resume();
  await once(response, "end");
  return String(subject.CN);
}

describe("certificates that are handed over", () => {
  test("are what handshakes wait for: without one none succeeds", async (context) => {
    const { tls, port } = await serve(context);
    await assert.rejects(ask(port), /alert handshake failure/);
    tls.take(pair("first"));
    assert.equal(await ask(port), "first");
  });

  test("replace each other, and no request fails meanwhile", async (context) => {
    const { tls, port } = await serve(context);
    tls.take(pair("number 0"));
    const seen = new Set<string>();
    let next = 0;
    for (let i = 0; i < 40; i++) {
      if (i % 10 === 5) tls.take(pair(`number ${++next}`));
      for (const name of await Promise.all([ask(port), ask(port)])) seen.add(name);
    }
    assert.equal(seen.size, 5);
  });

  test("that can't be used are refused, and what was served stays", async (context) => {
    const { tls, port } = await serve(context);
    tls.take(pair("first"));
    const other = pair("second");
    assert.throws(
      () => tls.take({ ...other, key: pair("third").key }),
      /the key in tls.key does not belong to the certificate in tls.crt/,
    );
    assert.throws(() => tls.take({ ...other, certificate: "" }), /at least one certificate in tls.crt, found 0/);
    assert.equal(await ask(port), "first");
  });

  test("are served to clients whose authorities may change, too", async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "handed-"));
    context.after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "ca.pem");
    const [one, two] = ["one", "two"].map((name) => newCertificate({ name, authority: true }));
    assert.ok(one !== undefined && two !== undefined);
    const [client, other] = [one, two].map((issuer) => newCertificate({ name: "client", issuer }));
    writeFileSync(file, one.pem);
    const { tls, port, lines } = await serve(context, [file]);
    tls.take(pair("first"));
    const shown = { cert: client?.pem ?? "", key: client?.keyPem ?? "" };
    assert.equal(await ask(port, shown), "first");
    await assert.rejects(ask(port));
    writeFileSync(file, "broken");
    await until("the failure", () => lines.length >= 1);
    assert.match(
      lines[0]?.message ?? "",
      /Failed to reload the authorities of clients: Expected at least one certificate/,
    );
    assert.equal(await ask(port, shown), "first");
    writeFileSync(file, two.pem);
    await until("the other authority", () => lines.length >= 2);
    await assert.rejects(ask(port, shown));
    tls.take(pair("second"));
    assert.equal(await ask(port, { cert: other?.pem ?? "", key: other?.keyPem ?? "" }), "second");
  });

  test("are not possible without the files of client authorities", async () => {
    const { logger } = keptLog();
    const opened = HandedTls.open({ clients: { clientCaFiles: ["/nowhere"] }, logger, use: () => {} });
    await assert.rejects(opened, /cannot read \/nowhere/);
  });
});
