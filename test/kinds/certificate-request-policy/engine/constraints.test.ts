import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bits, der, oid, pem, request as requestOf, SEQUENCE } from "../../../x509/pkcs10/requests.js";
import { type Asked, objectionsTo, policy, request, saidOf } from "./asked.js";

const HOUR = 3_600_000_000_000n;
const SPAN = { minDuration: "1h", maxDuration: "24h" };
const KEY = "spec.constraints.privateKey";
const RSA: Asked = { publicKey: { algorithm: "RSA", bits: 2048 } };
const P256: Asked = { publicKey: { algorithm: "ECDSA", bits: 256 } };
const ED25519: Asked = { publicKey: { algorithm: "Ed25519" } };

describe("constraints on durations (spec certificate-request-policy.md 8.4)", () => {
  const rows: readonly (readonly [string, bigint | undefined, string])[] = [
    [
      "67: none",
      undefined,
      '[spec.constraints.maxDuration: Invalid value: "nil": 24h0m0s, spec.constraints.minDuration: Invalid value: "nil": 1h0m0s]',
    ],
    ["68: too short", HOUR / 60n, 'spec.constraints.minDuration: Invalid value: "1m0s": 1h0m0s'],
    ["68: too long", 48n * HOUR, 'spec.constraints.maxDuration: Invalid value: "48h0m0s": 24h0m0s'],
    ["68: as long as may be", 24n * HOUR, ""],
    ["68: as short as may be", HOUR, ""],
    [
      "a nanosecond too long",
      24n * HOUR + 1n,
      'spec.constraints.maxDuration: Invalid value: "24h0m0.000000001s": 24h0m0s',
    ],
  ];
  for (const [title, duration, objections] of rows) {
    test(title, () => assert.equal(objectionsTo({ constraints: SPAN }, {}, { duration }), objections));
  }

  test("74: behind what is objected to attributes", () => {
    const objections = objectionsTo(
      { constraints: { maxDuration: "24h" } },
      { subject: [["CN", "x"]] },
      { duration: 48n * HOUR },
    );
    assert.equal(
      objections,
      'spec.allowed.commonName: Invalid value: "x": no allowed value, spec.constraints.maxDuration: Invalid value: "48h0m0s": 24h0m0s',
    );
  });
});

describe("constraints on keys (spec certificate-request-policy.md 8.4)", () => {
  const rows: readonly (readonly [string, object, Asked, string])[] = [
    [
      "69: an algorithm and a size",
      { algorithm: "ECDSA", minSize: 4000 },
      RSA,
      `[${KEY}.algorithm: Invalid value: "RSA": ECDSA, ${KEY}.minSize: Invalid value: "2048": 4000]`,
    ],
    [
      "70: sizes are compared whatever the algorithm",
      { algorithm: "RSA", maxSize: 200 },
      P256,
      `[${KEY}.algorithm: Invalid value: "ECDSA": RSA, ${KEY}.maxSize: Invalid value: "256": 200]`,
    ],
    ["71: Ed25519", { algorithm: "Ed25519" }, ED25519, ""],
    ["72: Ed25519 has less than no size", { minSize: 0 }, ED25519, `${KEY}.minSize: Invalid value: "-1": 0`],
    ["72: and never too much of it", { maxSize: 0 }, ED25519, ""],
    ["the size that is wanted", { minSize: 2048, maxSize: 2048 }, RSA, ""],
    ["73: an unknown key", {}, { publicKey: { algorithm: "unknown" } }, "Error: unrecognised public key type <nil>"],
    ["DSA", {}, { publicKey: { algorithm: "DSA" } }, "Error: unrecognised public key type *dsa.PublicKey"],
  ];
  for (const [title, privateKey, asked, objections] of rows) {
    test(title, () => assert.equal(objectionsTo({ constraints: { privateKey } }, asked), objections));
  }

  const pss = der(SEQUENCE, der(SEQUENCE, oid("1.2.840.113549.1.1.10")), bits(Buffer.from([0])));
  const withPss = request({ request: pem(requestOf({ key: pss })) });

  test("73: a key of RSA-PSS ends the review, also where another policy would approve", async () => {
    const policies = [policy({ constraints: { privateKey: {} } }, { name: "a" }), policy({}, { name: "b" })];
    assert.equal(await saidOf(policies, withPss), "Error: unrecognised public key type <nil>");
  });

  test("a key that nobody constrains may be unknown", async () => {
    assert.equal(await saidOf([policy()], withPss), 'Approved: Approved by CertificateRequestPolicy: "p"');
  });
});
