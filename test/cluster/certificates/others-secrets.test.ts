import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { readContent } from "../../../src/cluster/certificates/content.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import { type Issued, issueAuthority, issueServerCertificate } from "../../../src/x509/issue.js";
import { WALL } from "../../support/test-clock.js";
import { DAY, HOST, MINUTE, SimulatedCluster } from "./simulated-cluster.js";

const authority = (name: string): Issued =>
  issueAuthority({ name, from: WALL - DAY, to: WALL + 1000 * DAY, random: randomBytes });
const pair = (by: Issued, { to = WALL + 90 * DAY } = {}): Issued =>
  issueServerCertificate({ name: "x", hosts: [HOST], from: WALL - DAY, to, random: randomBytes }, by);

const secretOf = (data: Readonly<Record<string, string>>, annotations: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "Secret",
  type: "kubernetes.io/tls",
  metadata: { annotations },
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")])),
});
const CERT_MANAGER = { "cert-manager.io/certificate-name": "policy-server" };
const OURS = { "policy-server.admission/managed": "true" };
const filled = (leaf: Issued, ca: string | undefined, annotations: JsonObject = CERT_MANAGER): JsonObject =>
  secretOf(
    { "tls.crt": leaf.certificate, "tls.key": leaf.key, ...(ca !== undefined && { "ca.crt": ca }) },
    annotations,
  );

/** Two replicas at a Secret of somebody, the first of them as leader. */
async function started(secret: JsonObject) {
  const cluster = new SimulatedCluster();
  cluster.write(secret);
  const [one, two] = [cluster.start("one"), cluster.start("two")];
  cluster.lead(one);
  await cluster.pass(2 * MINUTE);
  return { cluster, one, two };
}

describe("a Secret of somebody else", () => {
  const ca = authority("first");
  const leaf = pair(ca);

  test("is served, and never written", async () => {
    const { cluster, one, two } = await started(filled(leaf, ca.certificate));
    const before = cluster.secret;
    cluster.checking = false;
    await cluster.jump(2000 * DAY);
    await cluster.pass(10 * MINUTE, 10_000);
    assert.equal(cluster.secret, before);
    assert.deepEqual([...one.steps, ...two.steps], []);
    assert.equal(one.serving, leaf.certificate);
    assert.equal(two.serving, leaf.certificate);
    assert.equal(one.certificates.caBundle(), ca.certificate);
  });

  test("is cert-manager's also when it was ours before", async () => {
    const { cluster, one } = await started(filled(leaf, ca.certificate, { ...OURS, ...CERT_MANAGER }));
    await cluster.jump(80 * DAY);
    await cluster.pass(10 * MINUTE, 10_000);
    assert.deepEqual(one.steps, []);
  });

  test("is served at once when it is renewed by the same authority", async () => {
    const { cluster, one, two } = await started(filled(leaf, ca.certificate));
    const renewed = pair(ca);
    cluster.write(filled(renewed, ca.certificate));
    await cluster.pass(1000);
    assert.equal(one.serving, renewed.certificate);
    assert.equal(two.serving, renewed.certificate);
  });

  test("with another authority is served when webhooks have had time to learn of that, and the old one stays for those who come late", async () => {
    const { cluster, one, two } = await started(filled(leaf, ca.certificate));
    const other = authority("second");
    const next = pair(other);
    cluster.write(filled(next, other.certificate));
    await cluster.pass(80_000);
    assert.equal(one.serving, leaf.certificate);
    assert.equal(one.certificates.caBundle(), other.certificate + ca.certificate);
    await cluster.pass(20_000);
    assert.equal(one.serving, next.certificate);
    assert.equal(two.serving, next.certificate);
    await cluster.pass(9 * MINUTE);
    assert.equal(one.certificates.caBundle(), other.certificate + ca.certificate);
    await cluster.pass(2 * MINUTE);
    assert.equal(one.certificates.caBundle(), other.certificate);
  });

  test("with another authority is served at once when what was served has expired", async () => {
    const { cluster, one } = await started(filled(leaf, ca.certificate));
    const other = authority("second");
    const next = pair(other, { to: WALL + 500 * DAY });
    cluster.checking = false;
    await cluster.jump(91 * DAY);
    cluster.write(filled(next, other.certificate));
    await cluster.settle();
    assert.equal(one.serving, next.certificate);
  });

  test("that changes its authority all the time keeps a bundle of few", async () => {
    const { cluster, one } = await started(filled(leaf, ca.certificate));
    for (let i = 0; i < 20; i++) {
      const other = authority(`number ${i}`);
      cluster.write(filled(pair(other), other.certificate));
      await cluster.pass(10_000);
    }
    assert.equal(one.certificates.caBundle()?.match(/BEGIN CERTIFICATE/g)?.length, 9);
    assert.equal(one.serving, leaf.certificate);
  });

  test("without authorities is vouched for by the last certificate of its chain", async () => {
    const { one } = await started(filled({ ...leaf, certificate: leaf.certificate + ca.certificate }, undefined));
    assert.equal(one.certificates.caBundle(), ca.certificate);
    const alone = await started(filled(leaf, undefined));
    assert.equal(alone.one.certificates.caBundle(), leaf.certificate);
  });

  test("that can't be read is said to be so, each time anew", async () => {
    const { cluster, one } = await started(filled(leaf, ca.certificate));
    for (let i = 0; i < 2; i++) {
      cluster.fail(one, new Error("forbidden"));
      cluster.fail(one, new Error("forbidden"));
      cluster.reconnect(one);
    }
    const errors = one.lines.filter(({ level }) => level === "error");
    assert.deepEqual(
      errors.map(({ fields }) => fields.reason),
      ["it can't be read: forbidden", "it can't be read: forbidden"],
    );
  });

  test("that has gone is left to those who made it", async () => {
    const { cluster, one } = await started(filled(leaf, ca.certificate));
    cluster.write(undefined);
    await cluster.pass(5 * MINUTE, 10_000);
    assert.equal(cluster.secret, undefined);
    assert.equal(one.serving, leaf.certificate);
    assert.deepEqual(
      one.lines.filter(({ level }) => level === "error").map(({ fields }) => fields.reason),
      ["it is not there"],
    );
  });

  for (const [name, secret, reason] of [
    [
      "a key of another certificate",
      filled({ ...leaf, key: pair(ca).key }, ca.certificate),
      /the key in tls.key of Secret policies\/policy-server-tls does not belong to the certificate in tls.crt/,
    ],
    [
      "a broken certificate",
      filled({ ...leaf, certificate: leaf.certificate.replace("M", "N") }, ca.certificate),
      /broken certificate in tls.crt of Secret/,
    ],
    [
      "no certificate",
      filled({ ...leaf, certificate: "" }, ca.certificate),
      /tls.crt of Secret .* holds no certificate/,
    ],
    [
      "a broken key",
      filled({ ...leaf, key: "secret" }, ca.certificate),
      /tls.key of Secret .* holds no private key that can be read/,
    ],
    ["authorities that are none", filled(leaf, "text"), /ca.crt of Secret .* holds no certificate/],
    ["nothing", { metadata: {} }, /tls.crt of Secret .* holds no certificate/],
  ] as const) {
    test(`with ${name} is said to be so, and what was served stays`, async () => {
      const { cluster, one } = await started(filled(leaf, ca.certificate));
      cluster.write(secret);
      await cluster.pass(10 * MINUTE, 10_000);
      assert.equal(one.serving, leaf.certificate);
      assert.equal(one.certificates.caBundle(), ca.certificate);
      const errors = one.lines.filter(({ level }) => level === "error");
      assert.equal(errors.length, 1);
      assert.match(String(errors[0]?.fields.reason), reason);
      const mended = pair(ca);
      cluster.write(filled(mended, ca.certificate));
      await cluster.pass(1000);
      assert.equal(one.serving, mended.certificate);
      assert.ok(!JSON.stringify(one.lines).includes("PRIVATE KEY"));
    });

    test(`with ${name} is no beginning`, async () => {
      const cluster = new SimulatedCluster();
      cluster.write(secret);
      const one = cluster.start("one");
      cluster.lead(one);
      const refused = assert.rejects(one.certificates.ready, reason);
      await cluster.pass(2 * MINUTE, 10_000);
      await refused;
      assert.deepEqual(one.steps, []);
    });
  }
});

describe("a Secret of ours", () => {
  const working = async () => {
    const cluster = new SimulatedCluster();
    const [one, two] = [cluster.start("one"), cluster.start("two")];
    cluster.lead(one);
    await cluster.pass(2 * MINUTE);
    return { cluster, one, two };
  };

  for (const [name, damage] of [
    ["deleted", () => undefined],
    ["emptied", () => secretOf({ "tls.crt": "", "tls.key": "" }, OURS)],
    ["broken", () => secretOf({ "tls.crt": "x", "tls.key": "y" }, OURS)],
  ] as const) {
    test(`that is ${name} is written again as it was, also in the middle of a rotation and by another leader`, async () => {
      const { cluster, one, two } = await working();
      cluster.write({
        ...cluster.secret,
        metadata: { annotations: { ...OURS, "policy-server.admission/rotate-certificates": "1" } },
      });
      await cluster.pass(30_000);
      assert.deepEqual(one.steps, ["made", "authority_added"]);
      const { data } = cluster.secret ?? {};
      cluster.lead(two);
      cluster.write(damage());
      await cluster.pass(10_000);
      assert.deepEqual(two.steps, ["made"]);
      assert.deepEqual(cluster.secret?.data, data);
      await cluster.pass(30 * MINUTE, 10_000);
      assert.deepEqual(two.steps.slice(1), ["authority_switched", "authority_removed"]);
    });
  }

  test("that was made empty is filled: the right to create is not needed", async () => {
    const { cluster, one } = await started(secretOf({ "tls.crt": "", "tls.key": "" }, OURS));
    assert.deepEqual(one.steps, ["made"]);
    assert.equal(one.serving, cluster.data("tls.crt"));
  });

  test("keeps what others have added to it", async () => {
    const { cluster, one } = await working();
    const data = { ...(cluster.secret?.data as JsonObject), "other.txt": "eA==" };
    const annotations = { ...OURS, "policy-server.admission/rotate-certificates": "1", "example.com/x": "y" };
    cluster.write({ ...cluster.secret, metadata: { annotations }, data });
    await cluster.pass(30_000);
    assert.equal(one.steps.length, 2);
    assert.equal(cluster.data("other.txt"), "x");
    assert.match(JSON.stringify(cluster.secret?.metadata), /"example.com\/x":"y"/);
  });

  test("is not told by its version alone: the same is not taken twice", async () => {
    const { cluster, one } = await working();
    const before = one.lines.length;
    cluster.reconnect(one);
    await cluster.pass(MINUTE);
    assert.equal(one.lines.length, before);
  });
});

test("content is named by the first 16 digits of its certificate's SHA-256", () => {
  const ca = authority("x");
  const { certificate, key } = pair(ca);
  const { fingerprint, leaf } = readContent({ certificate, key, names: { certificate: "c", key: "k", bundle: "b" } });
  assert.equal(leaf.certificate.fingerprint256.toLowerCase().replaceAll(":", "").indexOf(fingerprint), 0);
  assert.equal(fingerprint.length, 16);
});
