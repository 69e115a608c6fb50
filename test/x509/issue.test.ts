import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createPrivateKey, randomBytes, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { connect, createServer } from "node:tls";
import { readCertificate } from "../../src/x509/certificate.js";
import {
  bitString,
  element,
  type Issued,
  identifier,
  issueAuthority,
  issueServerCertificate,
  time,
} from "../../src/x509/issue.js";

const DAY = 86_400_000;
const FROM = Date.UTC(2026, 0, 2, 3, 4, 5);
const SERVICE = "policy-server.policies.svc";
const HOSTS = [SERVICE, `${SERVICE}.cluster.local`, "policy-server", "127.0.0.1", "2001:db8::1"];

const authority = (name = "policy-server CA", from = FROM): Issued =>
  issueAuthority({ name, from, to: from + 365 * DAY, random: randomBytes });
const server = (by: Issued, from = FROM): Issued =>
  issueServerCertificate({ name: "policy-server", hosts: HOSTS, from, to: from + 90 * DAY, random: randomBytes }, by);

describe("certificates that are made", () => {
  const ca = authority();
  const leaf = server(ca);
  const [caCertificate, certificate] = [new X509Certificate(ca.certificate), new X509Certificate(leaf.certificate)];

  test("are signed by the authority, and by no other of the same name", () => {
    assert.ok(certificate.checkIssued(caCertificate));
    assert.ok(certificate.verify(caCertificate.publicKey));
    const other = new X509Certificate(authority().certificate);
    assert.ok(!certificate.checkIssued(other));
    assert.ok(!certificate.verify(other.publicKey));
    assert.ok(caCertificate.ca);
    assert.ok(!certificate.ca);
  });

  test("have the names and addresses, and no others", () => {
    for (const name of HOSTS.slice(0, 3)) assert.equal(certificate.checkHost(name), name);
    assert.equal(certificate.checkIP("127.0.0.1"), "127.0.0.1");
    assert.equal(certificate.checkIP("2001:db8::1"), "2001:db8::1");
    assert.equal(certificate.checkHost("policy-server.other.svc"), undefined);
    assert.equal(certificate.checkIP("127.0.0.2"), undefined);
  });

  test("are valid for as long as was said", () => {
    assert.equal(Date.parse(certificate.validFrom), FROM);
    assert.equal(Date.parse(certificate.validTo), FROM + 90 * DAY);
    const late = new X509Certificate(authority("late", Date.UTC(2049, 11, 31)).certificate);
    assert.equal(Date.parse(late.validFrom), Date.UTC(2049, 11, 31));
    assert.equal(Date.parse(late.validTo), Date.UTC(2050, 11, 31));
  });

  test("belong to their keys", () => {
    assert.ok(caCertificate.checkPrivateKey(createPrivateKey(ca.key)));
    assert.ok(certificate.checkPrivateKey(createPrivateKey(leaf.key)));
    assert.ok(!certificate.checkPrivateKey(createPrivateKey(ca.key)));
  });

  test("have serial numbers of 128 bits that are positive, whatever chance brings", () => {
    for (const octet of [0x00, 0xff]) {
      const made = issueAuthority({ name: "x", from: FROM, to: FROM, random: (octets) => Buffer.alloc(octets, octet) });
      const { serialNumber } = new X509Certificate(made.certificate);
      assert.equal(serialNumber.length, 32);
      assert.ok(Number.parseInt(serialNumber.slice(0, 2), 16) < 0x80);
    }
    assert.notEqual(certificate.serialNumber, new X509Certificate(server(ca).certificate).serialNumber);
  });

  test("are read by the reader that requests for certificates are checked with", () => {
    for (const { certificate } of [ca, leaf]) {
      const read = readCertificate(new X509Certificate(certificate).raw);
      assert.equal(read.validity().from, FROM);
    }
  });

  test("carry a TLS connection", async (context) => {
    const now = Date.now();
    const ca = authority("live", now - DAY);
    const { certificate: cert, key } = server(ca, now - DAY);
    const listening = createServer({ cert, key }, (socket) => socket.end("hello")).listen(0, "127.0.0.1");
    await once(listening, "listening");
    context.after(() => listening.close());
    const { port } = listening.address() as AddressInfo;
    const socket = connect({ port, host: "127.0.0.1", servername: SERVICE, ca: ca.certificate });
    await once(socket, "secureConnect");
    assert.ok(socket.authorized);
    socket.destroy();
  });

  const openssl = spawnSync("openssl", ["version"]).status === 0;
  test("pass the strict check of openssl", { skip: openssl ? false : "openssl is not there" }, (context) => {
    const folder = mkdtempSync(join(tmpdir(), "issue-"));
    context.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "ca.pem"), ca.certificate);
    writeFileSync(join(folder, "leaf.pem"), leaf.certificate);
    const args = ["-x509_strict", "-purpose", "sslserver", "-verify_hostname", SERVICE, "-CAfile", "ca.pem"];
    const checked = spawnSync("openssl", ["verify", ...args, "-attime", String(FROM / 1000 + 60), "leaf.pem"], {
      cwd: folder,
      encoding: "utf8",
    });
    assert.equal(checked.stderr + checked.stdout, "leaf.pem: OK\n");
  });
});

describe("DER", () => {
  const hex = (bytes: Buffer): string => bytes.toString("hex");

  test("has lengths in their shortest form", () => {
    assert.equal(hex(element(4, Buffer.alloc(0))), "0400");
    assert.equal(hex(element(4, Buffer.alloc(127)).subarray(0, 3)), "047f00");
    assert.equal(hex(element(4, Buffer.alloc(128)).subarray(0, 4)), "04818000");
    assert.equal(hex(element(4, Buffer.alloc(256)).subarray(0, 5)), "0482010000");
  });

  test("has object identifiers as X.690 has them", () => {
    assert.equal(hex(identifier("1.2.840.10045.4.3.2")), "06082a8648ce3d040302");
    assert.equal(hex(identifier("2.5.29.35")), "0603551d23");
  });

  test("has times of two digits for the year until 2049, of four from then on", () => {
    assert.equal(time(Date.UTC(2049, 11, 31, 23, 59, 59)).toString("latin1"), "\x17\x0d491231235959Z");
    assert.equal(time(Date.UTC(2050, 0, 1)).toString("latin1"), "\x18\x0f20500101000000Z");
  });

  test("says how many bits of the last octet do not count", () => {
    assert.equal(hex(bitString(Buffer.from([0x80]), 7)), "03020780");
  });
});
