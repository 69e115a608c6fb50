import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { FileCertificates } from "../../../src/cluster/certificates/file-certificates.js";
import { issueAuthority, issueServerCertificate } from "../../../src/x509/issue.js";
import { TestClock, WALL } from "../../support/test-clock.js";
import { keptLog } from "../approver/support.js";

const options = { name: "x", from: WALL, to: WALL + 1e9, random: randomBytes };
const [first, second] = [issueAuthority(options).certificate, issueAuthority(options).certificate];
const leaf = issueServerCertificate({ ...options, hosts: ["x"] }, issueAuthority(options)).certificate;

function follow(files: Map<string, string>, names: { readonly certFile?: string; readonly caFile?: string }) {
  const clock = new TestClock();
  const { logger, lines } = keptLog();
  const read = async (file: string): Promise<string> => {
    const text = files.get(file);
    if (text === undefined) throw new Error(`no such file: ${file}`);
    return text;
  };
  const certificates = new FileCertificates({ ...names, clock, log: logger, read });
  const pass = async (milliseconds: number): Promise<void> => {
    clock.move(milliseconds);
    for (let i = 0; i < 3; i++) await setImmediate();
  };
  return { clock, lines, certificates, pass };
}

describe("authorities from files", () => {
  test("are those of the file for webhooks", async () => {
    const files = new Map([
      ["cert", leaf],
      ["ca", `text\n${first}more text\n${second}`],
    ]);
    const { certificates } = follow(files, { certFile: "cert", caFile: "ca" });
    assert.equal(certificates.caBundle(), undefined);
    await certificates.ready;
    assert.equal(certificates.caBundle(), first + second);
  });

  test("are the last of the certificate's chain", async () => {
    const { certificates } = follow(new Map([["cert", leaf + first]]), { certFile: "cert" });
    await certificates.ready;
    assert.equal(certificates.caBundle(), first);
  });

  test("are none without files: the API server's system knows whom to trust", async () => {
    const { certificates } = follow(new Map(), {});
    await certificates.ready;
    assert.equal(certificates.caBundle(), "");
  });

  test("are read again, and stay while they can't be", async () => {
    const files = new Map([["ca", first]]);
    const { certificates, lines, pass } = follow(files, { caFile: "ca" });
    let changes = 0;
    certificates.changed(() => {
      changes += 1;
    });
    await certificates.ready;
    await pass(10_000);
    assert.equal(changes, 1);
    files.delete("ca");
    await pass(10_000);
    await pass(10_000);
    assert.equal(certificates.caBundle(), first);
    assert.equal(lines.length, 1);
    files.set("ca", "");
    await pass(10_000);
    assert.equal(certificates.caBundle(), first);
    assert.match(String(lines[1]?.fields.reason), /ca holds no certificate/);
    files.set("ca", first + second);
    await pass(10_000);
    assert.equal(certificates.caBundle(), first + second);
    assert.equal(changes, 2);
  });

  test("that can't be read are no beginning", async () => {
    const { certificates } = follow(new Map(), { caFile: "ca" });
    assert.match(certificates.unready() ?? "", /have not been read yet/);
    await assert.rejects(certificates.ready, /no authority for webhooks: no such file: ca/);
    assert.equal(certificates.unready(), "no authority for webhooks: no such file: ca");
  });

  test("are not read any more when it has stopped", async () => {
    const { certificates, clock } = follow(new Map([["ca", first]]), { caFile: "ca" });
    await certificates.ready;
    await certificates.stop();
    assert.equal(clock.timers, 0);
  });
});
