import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import type { TlsOptions } from "node:tls";
import { openTls } from "../../src/serving/process-tls.js";
import { Metrics } from "../../src/telemetry/metrics.js";
import { issueAuthority, issueServerCertificate } from "../../src/x509/issue.js";
import { keptLog } from "../cluster/approver/support.js";
import { tlsFolder } from "../server/tls-files.js";

const DAY = 86_400_000;
const SECOND = 1000;
const from = Math.floor(Date.now() / SECOND) * SECOND - DAY;
const authority = issueAuthority({ name: "authority", from, to: from + 10 * DAY, random: randomBytes });
const pair = (days: number) =>
  issueServerCertificate(
    { name: "server", hosts: ["localhost"], from, to: from + days * DAY, random: randomBytes },
    authority,
  );
const handed = { clientCaFiles: [], minVersion: "TLSv1.2" } as const;
const { logger } = keptLog();

const expiry = async (metrics: Metrics): Promise<number | undefined> => {
  const text = (await metrics.text()).join("");
  const [, seconds] = /^policy_server_certificate_expiry_timestamp_seconds (\d+)$/m.exec(text) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
};

describe("the certificate of a serving process", () => {
  test("that is handed over is none at first, and then the newest", async () => {
    const metrics = new Metrics();
    const tls = await openTls({ settings: { tls: handed }, logger, metrics });
    assert.ok(tls);
    assert.deepEqual(tls.initial, { minVersion: "TLSv1.2" });
    assert.equal(await expiry(metrics), undefined);
    const used: TlsOptions[] = [];
    await tls.follow({ secure: (options) => void used.push(options) });
    for (const days of [3, 4]) {
      const { certificate, key } = pair(days);
      tls.take({ certificate, key });
      assert.deepEqual(used.at(-1), { cert: certificate, key, minVersion: "TLSv1.2" });
      assert.equal(await expiry(metrics), (from + days * DAY) / SECOND);
    }
    assert.throws(
      () => tls.take({ certificate: pair(5).certificate, key: authority.key }),
      /its key does not belong to the certificate in the certificate that was handed over/,
    );
    assert.equal(used.length, 2);
    assert.equal(await expiry(metrics), (from + 4 * DAY) / SECOND);
    tls.close();
  });

  test("that is there already is what the process begins with", async () => {
    const { certificate, key } = pair(3);
    const options = { settings: { tls: handed }, logger, metrics: new Metrics(), certificate: { certificate, key } };
    const tls = await openTls(options);
    assert.equal(tls?.initial.cert, certificate);
    assert.equal(await expiry(options.metrics), (from + 3 * DAY) / SECOND);
    tls?.close();
  });

  test("comes from files where the settings name them, and nothing is handed over", async () => {
    const folder = tlsFolder();
    const { certFile, keyFile } = folder;
    const settings = { tls: { ...handed, certFile, keyFile } };
    const tls = await openTls({ settings, logger, metrics: new Metrics() });
    const before = tls?.initial.cert;
    assert.match(String(before), /BEGIN CERTIFICATE/);
    tls?.take(pair(3));
    assert.equal(tls?.initial.cert, before);
    tls?.close();
  });

  test("is none without TLS", async () => {
    assert.equal(await openTls({ settings: {}, logger, metrics: new Metrics() }), undefined);
  });
});
