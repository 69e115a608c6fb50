/** What a cosign attestor may say, and what its verdicts cost. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FetchError } from "../../../src/fetch/fetch-error.js";
import { type CosignAttestor, MAX_REASONS, type Sought } from "../../../src/fetch/signatures/attestor.js";
import { attestorVerdict } from "../../../src/fetch/signatures/attestor-verdict.js";
import { MAX_CERTIFICATES, MAX_TRUSTED_PARTS, MAX_TRUSTED_ROOT } from "../../../src/fetch/signatures/cosign-signer.js";
import { SignatureChecks } from "../../../src/fetch/signatures/signature-checks.js";
import { MAX_ATTESTATION_BYTES, MAX_ATTESTATIONS_BYTES } from "../../../src/fetch/signatures/signature-layer.js";
import { hasMainThreadTime, longestHold } from "../../support/main-thread-time.js";
import { newKeys } from "../certificates.js";
import { sha256 } from "../test-registry.js";
import { golden, goldenChecks, goldenFile, goldenImage, Shelf, verdictOf } from "./golden-images.js";
import { type BundleSigner, TestSigstore } from "./test-sigstore.js";

const BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json";
const data = goldenFile("keys/cosign.pub");
const issuer = "http://localhost:5056";
const subject = "ci@example.org";
const keyless = { identities: [{ issuer, subject }] };
const workflow = "https://github.com/example/app/.github/workflows/release.yml@refs/heads/main";
const github = (additionalExtensions: Record<string, string>): CosignAttestor => ({
  keyless: { identities: [{ issuer: `${issuer}/github`, subject: workflow }], additionalExtensions },
});
const file = (name: string) => goldenFile(`${name}.pem`);
const fulcio = file("certificates/fulcio");
const fulcioRoot = file("certificates/fulcio-root");
const otherRoot = file("certificates/own-root");
const noLog = { insecureIgnoreTlog: true };
/** The chain of the timestamp authority, the root first. */
const stampers: string = JSON.parse(goldenFile("trusted-root.json"))
  .timestampAuthorities[0].certChain.certificates.map(
    ({ rawBytes }: { rawBytes: string }) => `-----BEGIN CERTIFICATE-----\n${rawBytes}\n-----END CERTIFICATE-----\n`,
  )
  .reverse()
  .join("");

interface Said {
  readonly of: string;
  readonly right: CosignAttestor;
  readonly wrong: CosignAttestor;
  readonly reason: string;
}
const UNWANTED = `its signer "${subject}" of issuer "${issuer}" is none of the wanted identities`;
const patterns = (
  ...identities: { issuer?: string; subject?: string; issuerRegExp?: string; subjectRegExp?: string }[]
) => ({
  keyless: { identities },
});
const of = "team/app:bundle-keyless";

const SAID: Readonly<Record<string, Said>> = {
  "an issuer alone": { of, right: patterns({ issuer }), wrong: patterns({ issuer: "localhost" }), reason: UNWANTED },
  "a subject alone": { of, right: patterns({ subject }), wrong: patterns({ subject: "ci@example" }), reason: UNWANTED },
  "expressions that fit anywhere": {
    of,
    right: patterns({ issuerRegExp: "host:[0-9]+", subjectRegExp: "@example\\.org$" }),
    wrong: patterns({ issuerRegExp: "host:[0-9]+", subjectRegExp: "^@example" }),
    reason: UNWANTED,
  },
  "a text and an expression, both of which must fit": {
    of,
    right: patterns({ subject, subjectRegExp: "^ci" }),
    wrong: patterns({ subject, subjectRegExp: "^cd" }),
    reason: UNWANTED,
  },
  "several identities, of which one must fit as a whole": {
    of,
    right: patterns({ issuer: "https://other", subject }, { issuer, subject }),
    wrong: patterns({ issuer: "https://other", subject }, { issuer, subject: "other" }),
    reason: UNWANTED,
  },
  "no identity": { of, right: patterns(), wrong: patterns({ subject: "x" }), reason: UNWANTED },
  "an extension by cosign's name": {
    of: "team/app:bundle-keyless-github",
    right: github({
      githubWorkflowTrigger: "push",
      githubWorkflowRepository: "example/app",
      githubWorkflowRef: "refs/heads/main",
    }),
    wrong: github({ githubWorkflowTrigger: "push", githubWorkflowRef: "refs/heads/ma*" }),
    reason: 'its certificate has another value in the extension "githubWorkflowRef"',
  },
  "an extension by Fulcio's name and by its number": {
    of: "team/app:bundle-keyless-github",
    right: github({ sourceRepositoryURI: "https://github.com/example/app", "1.3.6.1.4.1.57264.1.5": "example/app" }),
    wrong: github({ sourceRepositoryURI: "https://github.com/stranger/app" }),
    reason: 'its certificate has another value in the extension "sourceRepositoryURI"',
  },
  "an extension that is not known": {
    of: "team/app:bundle-keyless-github",
    right: github({}),
    wrong: github({ workflow: "push" }),
    reason: '"workflow" is not a known extension of certificates',
  },
  "roots in place of the trust root's": {
    of,
    right: { keyless: { ...keyless, roots: fulcioRoot + fulcio } },
    wrong: { keyless: { ...keyless, roots: otherRoot } },
    reason: "its certificate was not issued by a trusted authority",
  },
  "a key of a log, of Rekor 2": {
    of: "team/app:bundle-key",
    right: { key: { data }, ctlog: { rekorPubKey: goldenFile("keys/rekor2.pub") } },
    wrong: { key: { data }, ctlog: { rekorPubKey: goldenFile("keys/rekor1.pub") } },
    reason: "the checkpoint of its log entry is not signed by the log",
  },
  "a key of a log, of Rekor 1": {
    of: "team/app:legacy-key",
    right: { key: { data }, ctlog: { rekorPubKey: goldenFile("keys/rekor1.pub") } },
    wrong: { key: { data }, ctlog: { rekorPubKey: goldenFile("keys/ct.pub") } },
    reason: "the promise of its log entry (SET) is not right",
  },
  "a key of a certificate log": {
    of,
    right: { keyless, ctlog: { ctLogPubKey: goldenFile("keys/ct.pub") } },
    wrong: { keyless, ctlog: { ctLogPubKey: goldenFile("keys/rekor1.pub") } },
    reason: "its certificate has no valid proof of a trusted certificate log (SCT)",
  },
  "a proof of a certificate log that is not asked": {
    of: "team/app:bundle-keyless-nosct",
    right: { keyless, ctlog: { insecureIgnoreSCT: true } },
    wrong: { keyless },
    reason: "its certificate has no valid proof of a trusted certificate log (SCT)",
  },
  "an authority of timestamps, which bundles must have then": {
    of: "team/app:bundle-key-tsa",
    right: { key: { data }, ctlog: { ...noLog, tsaCertChain: stampers } },
    wrong: { key: { data }, ctlog: { ...noLog, tsaCertChain: fulcioRoot + fulcio } },
    reason: "its timestamp is not right, or of no trusted authority",
  },
  "an authority of timestamps, for a bundle that has none": {
    of: "team/app:bundle-key-rekor1",
    right: { key: { data } },
    wrong: { key: { data }, ctlog: { tsaCertChain: stampers } },
    reason: "it has no timestamp of the attestor's authority",
  },
  "a trust root in place of the server's": {
    of,
    right: { keyless, trustedRoot: goldenFile("trusted-root.json") },
    wrong: { keyless, trustedRoot: goldenFile("trusted-root-other.json") },
    reason: "its log entry is of a log that is not trusted",
  },
  "a certificate and its chain": {
    of: "team/app:legacy-certificate",
    right: {
      certificate: { cert: file("certificates/own-leaf"), certChain: file("certificates/own-chain") },
      ctlog: { insecureIgnoreSCT: true },
    },
    wrong: {
      certificate: { cert: file("certificates/own-leaf"), certChain: fulcio + fulcioRoot },
      ctlog: { insecureIgnoreSCT: true },
    },
    reason: "its certificate was not issued by a trusted authority",
  },
  "a certificate alone, also in Base64": {
    of: "team/app:legacy-certificate",
    right: { certificate: { cert: Buffer.from(file("certificates/own-leaf")).toString("base64") } },
    wrong: { certificate: { cert: file("certificates/own-two-leaf") } },
    reason: "it is signed with another certificate",
  },
  "a chain alone": {
    of: "team/app:legacy-certificate",
    right: { certificate: { certChain: file("certificates/own-chain") }, ctlog: { insecureIgnoreSCT: true } },
    wrong: { certificate: { certChain: otherRoot }, ctlog: { insecureIgnoreSCT: true } },
    reason: "its certificate was not issued by a trusted authority",
  },
};

/** Attestors that no signature can meet: the reason says what to change. */
const UNUSABLE: Readonly<Record<string, CosignAttestor>> = {
  "cosign of the attestor has neither key, keyless nor certificate": {},
  "key.data of the attestor is not a public key in PEM for ECDSA (P-256, P-384, P-521), RSA (2048 bits or more) or Ed25519":
    {
      key: { data: "x" },
    },
  "source.tagPrefix of the attestor can't begin a tag": {
    key: { data },
    source: { tagPrefix: "../../other/manifests/" },
  },
  "key.hashAlgorithm of the attestor is none of sha224, sha256, sha384, sha512": {
    key: { data, hashAlgorithm: "md5" },
  },
  "certificate.cert of the attestor is not a text in PEM": { certificate: { cert: data.slice(40) } },
  "certificate.certChain of the attestor can't be read": { certificate: { certChain: fulcio } },
  "keyless.roots of the attestor is not a text in PEM": { keyless: { roots: "x" } },
  [`keyless.roots of the attestor has more than ${MAX_CERTIFICATES} parts`]: {
    keyless: { roots: fulcioRoot.repeat(MAX_CERTIFICATES + 1) },
  },
  "ctlog.rekorPubKey of the attestor is not a public key in PEM for ECDSA (P-256, P-384, P-521), RSA (2048 bits or more) or Ed25519":
    {
      key: { data },
      ctlog: { rekorPubKey: fulcio },
    },
  "ctlog.tsaCertChain of the attestor can't be read": { key: { data }, ctlog: { tsaCertChain: fulcio } },
  "issuerRegExp of the attestor is not a regular expression (RE2)": patterns({ issuerRegExp: "(?=x)" }),
  "subjectRegExp of the attestor is too large": patterns({ subjectRegExp: "(a{100}){101}" }),
  "source.repository of the attestor can't be read": { key: { data }, source: { repository: "A B" } },
  "trustedRoot of the attestor can't be read": { key: { data }, trustedRoot: "{" },
  [`trustedRoot of the attestor has more than ${MAX_TRUSTED_ROOT} bytes`]: {
    key: { data },
    trustedRoot: " ".repeat(MAX_TRUSTED_ROOT + 1),
  },
  [`trustedRoot of the attestor has more than ${MAX_TRUSTED_PARTS} certificates and keys`]: {
    key: { data },
    trustedRoot: '"rawBytes"'.repeat(MAX_TRUSTED_PARTS + 1),
  },
};

describe("a cosign attestor", () => {
  for (const [name, { of: image, right, wrong, reason }] of Object.entries(SAID)) {
    test(`may say ${name}`, async () => {
      const about = goldenImage(image);
      assert.deepEqual(await verdictOf(right, about), { verified: true, reasons: [] });
      assert.deepEqual(await verdictOf(wrong, about), { verified: false, reasons: [reason] });
    });
  }

  for (const [reason, attestor] of Object.entries(UNUSABLE)) {
    test(`is not met: ${reason}`, async () => {
      assert.deepEqual(await verdictOf(attestor, goldenImage("team/app:bundle-key")), {
        verified: false,
        reasons: [reason],
      });
    });
  }
});

const sigstore = new TestSigstore();
const digest = sha256("the image");
const about = { image: { host: "localhost:1", repository: "team/p" }, digest };
const keys = newKeys();
const byKey: CosignAttestor = {
  key: { data: keys.publicKey.export({ type: "spki", format: "pem" }).toString() },
  ctlog: noLog,
};
const shelfWith = (...signers: readonly BundleSigner[]): Shelf => {
  const shelf = new Shelf();
  for (const signer of signers)
    shelf.put({ subject: digest }, [{ mediaType: BUNDLE, bytes: sigstore.bundle(digest, signer) }]);
  return shelf;
};
const unavailable = (error: FetchError) => async () => {
  throw error;
};

describe("a verdict", () => {
  for (const hashAlgorithm of ["sha224", "sha256", "sha384", "sha512"]) {
    test(`is about signatures with ${hashAlgorithm} alone, where the attestor says so`, async () => {
      const attestor = { ...byKey, key: { ...byKey.key, hashAlgorithm } };
      assert.equal((await verdictOf(attestor, about, shelfWith({ keys, hash: hashAlgorithm }))).verified, true);
      const hash = hashAlgorithm === "sha256" ? "sha384" : "sha256";
      assert.equal((await verdictOf(attestor, about, shelfWith({ keys, hash }))).verified, false);
    });
  }

  test("has the statement that is verified last, by the short name or the URI of its type", async () => {
    const statement = (n: number) => ({
      predicateType: "https://cosign.sigstore.dev/attestation/vuln/v1",
      predicate: { n },
    });
    const shelf = shelfWith(
      { keys, statement: statement(1) },
      { keys, statement: statement(2) },
      { keys: newKeys(), statement: statement(3) },
    );
    for (const predicateType of ["vuln", "https://cosign.sigstore.dev/attestation/vuln/v1"]) {
      const { payload, ...rest } = await verdictOf(byKey, about, shelf, { kind: "intoto", predicateType });
      assert.deepEqual(rest, { verified: true, reasons: [] });
      assert.deepEqual((payload as { predicate: unknown }).predicate, { n: 2 });
    }
  });

  test("has one reason a signature, and not more than are read", async () => {
    const signers = Array.from({ length: MAX_REASONS + 2 }, () => ({ keys: newKeys() }));
    const { reasons } = await verdictOf(byKey, about, shelfWith(...signers));
    assert.equal(reasons.length, MAX_REASONS);
  });

  test("reads statements up to a number of bytes", async () => {
    const shelf = new Shelf();
    const bytes = Buffer.alloc(MAX_ATTESTATION_BYTES);
    const count = MAX_ATTESTATIONS_BYTES / MAX_ATTESTATION_BYTES + 1;
    for (let i = 0; i < count; i++)
      shelf.put({ subject: digest }, [{ mediaType: BUNDLE, bytes, annotations: { i: `${i}` } }]);
    let fetched = 0;
    const counting = Object.assign(Object.create(shelf) as Shelf, {
      blob: async () => {
        fetched++;
        return Buffer.from("[]");
      },
      manifest: shelf.manifest.bind(shelf),
      referrers: shelf.referrers.bind(shelf),
    });
    const { reasons } = await verdictOf(byKey, about, counting, { kind: "intoto", predicateType: "spdx" });
    assert.equal(fetched, count - 1);
    assert.deepEqual(
      reasons.at(-1),
      `the bundles before it have ${MAX_ATTESTATIONS_BYTES} bytes, and more are not read`,
    );
  });

  test("finds layers below tags with a prefix, and in another repository", async () => {
    const shelf = new Shelf();
    shelf.put({ tag: `signed-${digest.replace(":", "-")}.sig` }, [
      sigstore.layer("localhost:1", "team/p", digest, { keys }),
    ]);
    assert.equal((await verdictOf({ ...byKey, source: { tagPrefix: "signed-" } }, about, shelf)).verified, true);
    assert.deepEqual((await verdictOf(byKey, about, shelf)).reasons, ["no signatures found"]);
  });

  test("about artifacts is a refusal", async () => {
    const sought: Sought = { kind: "referrer", artifactType: "x/y" };
    const { verified, reasons } = await verdictOf(byKey, about, shelfWith({ keys }), sought);
    assert.deepEqual(
      [verified, reasons],
      [false, ["cosign signs images and in-toto statements, and no other artifacts"]],
    );
  });

  test("of an attestor without signer is a refusal", async () => {
    const image = { registry: golden, ...about, signal: AbortSignal.timeout(1000) };
    const { reasons } = await attestorVerdict({ name: "a" }, { kind: "signature" }, image, goldenChecks);
    assert.deepEqual(reasons, ["the attestor a has neither cosign nor notary"]);
  });

  for (const status of [401, 403, 429, 500]) {
    test(`does not come from a registry that answers ${status}`, async () => {
      const refusal = new FetchError("no", { status });
      for (const name of ["manifest", "blob"] as const) {
        const shelf = Object.assign(shelfWith({ keys }), { [name]: unavailable(refusal) });
        await assert.rejects(verdictOf(byKey, about, shelf), refusal);
      }
    });
  }

  test("is not known where a listed signature is not there, or has other bytes", async () => {
    for (const error of [new FetchError("gone", { status: 404 }), new FetchError("other", { stage: "integrity" })]) {
      const shelf = Object.assign(shelfWith({ keys }), { blob: unavailable(error) });
      await assert.rejects(verdictOf(byKey, about, shelf), /^FetchError: a listed signature can't be had: /);
    }
  });

  test("needs the trust root only where the attestor says nothing in its place", async () => {
    const gone = new FetchError("the trust root can't be had", { stage: "verify" });
    const checks = new SignatureChecks(unavailable(gone), () => performance.now());
    const shelf = shelfWith({ keys, log: true });
    assert.equal((await verdictOf(byKey, about, shelf, { kind: "signature" }, checks)).verified, true);
    await assert.rejects(verdictOf({ ...byKey, ctlog: {} }, about, shelf, { kind: "signature" }, checks), gone);
    const trustedRoot = JSON.stringify(JSON.parse(sigstore.trustConfig()).trustedRoot);
    const { verified } = await verdictOf(
      { ...byKey, ctlog: {}, trustedRoot },
      about,
      shelf,
      { kind: "signature" },
      checks,
    );
    assert.equal(verified, true);
  });

  test("ends when its time is over", async () => {
    const verdict = verdictOf(
      byKey,
      about,
      shelfWith({ keys }),
      { kind: "signature" },
      goldenChecks,
      AbortSignal.abort(),
    );
    await assert.rejects(verdict, { message: "its signatures could not be checked in time", transient: true });
  });

  test("about large statements, and many signatures, lets others have the thread", {
    skip: !hasMainThreadTime(),
  }, async () => {
    const packages = Array.from({ length: 40_000 }, (_, i) => ({
      name: `package-${i}`,
      version: "1.2.3",
      purl: `pkg:npm/${"x".repeat(60)}`,
    }));
    const statement = { predicateType: "https://spdx.dev/Document", predicate: { packages } };
    const shelf = shelfWith({ keys, statement });
    const many = shelfWith(...Array.from({ length: 150 }, () => ({ identity: { issuer, email: subject } })));
    const asked = async () => {
      const spdx = await verdictOf(byKey, about, shelf, { kind: "intoto", predicateType: "spdx" });
      assert.equal(spdx.verified, true);
      assert.equal((await verdictOf({ keyless }, about, many)).verified, false);
    };
    await asked();
    const hold = await longestHold(asked);
    assert.ok(hold < 100, `${hold} ms`);
  });
});
