import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { TrustedRoot } from "@sigstore/protobuf-specs";
import { toTrustMaterial } from "@sigstore/verify";
import { SignatureChecks } from "../../../src/fetch/signatures/signature-checks.js";
import { newCertificate } from "../certificates.js";
import { sha256 } from "../test-registry.js";
import { Shelf } from "./golden-images.js";
import { type MadeBundle, TestSigstore } from "./test-sigstore.js";

const BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json";
const day = 86_400_000;
const sigstore = new TestSigstore();
const digest = sha256("the image");
const { trustedRoot } = JSON.parse(sigstore.trustConfig()) as { trustedRoot: object };
const trust = toTrustMaterial(TrustedRoot.fromJSON(trustedRoot));

const expired = newCertificate({
  ...{ name: "expired", email: "ci@example.org", codeSigning: true },
  from: new Date(Date.now() - 9 * day),
  until: new Date(Date.now() - 5 * day),
});
const before = Math.floor((Date.now() - 7 * day) / 1000);

/** Puts an entry before the others: of a log that is not trusted, and with a time at which the certificate was valid. */
const withForgedTime = ({ verificationMaterial: { tlogEntries } }: MadeBundle) =>
  tlogEntries.unshift({
    ...tlogEntries[0],
    logId: { keyId: Buffer.alloc(32).toString("base64") },
    integratedTime: `${before}`,
  });

for (const [name, signer, isMet] of [
  ["the time of a trusted log", { time: before }, true],
  ["no time of a log that is not trusted", { spoilBundle: withForgedTime }, false],
  ["the time of a trusted log, behind another one", { time: before, spoilBundle: withForgedTime }, true],
] as const) {
  test(`a required certificate that has expired counts at ${name}`, async () => {
    const shelf = new Shelf();
    const bytes = sigstore.bundle(digest, { keys: expired, log: true, ...signer });
    shelf.put({ subject: digest }, [{ mediaType: BUNDLE, bytes }]);
    const certificate = new X509Certificate(expired.der);
    const wanted = { allOf: [{ kind: "certificate", certificate, requireLogEntry: true }] } as const;
    const image = { host: "localhost:1", repository: "team/p" };
    const checks = new SignatureChecks(
      async () => trust,
      () => performance.now(),
    );
    const verdict = checks.check(wanted, { registry: shelf, image, digest, signal: AbortSignal.timeout(10_000) });
    await (isMet ? verdict : assert.rejects(verdict, /missing signatures/));
  });
}
