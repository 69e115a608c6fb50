import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { describe, test } from "node:test";
import { MAX_NAMES } from "../../../src/fetch/signatures/signer-identity.js";
import { der, SEQUENCE } from "../../x509/pkcs10/requests.js";
import { type CertificateOptions, newCertificate, utf8 } from "../certificates.js";
import { sha256 } from "../test-registry.js";
import { Shelf, verdictOf } from "./golden-images.js";
import { TestSigstore } from "./test-sigstore.js";

const BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json";
const sigstore = new TestSigstore();
const digest = sha256("the image");
const about = { image: { host: "localhost:1", repository: "team/p" }, digest };
const ISSUER = "1.3.6.1.4.1.57264.1.8";

const NAME_CONSTRAINTS = "2.5.29.30";
const [MAIL, URI, DIRECTORY] = [0x81, 0x86, 0xa4];
const limits = (tag: number, name: string | Buffer, list = 0xa0): Buffer =>
  der(SEQUENCE, der(list, der(SEQUENCE, der(tag, Buffer.from(name)))));
const permits = (tag: number, name: string | Buffer) => ({ extensions: { [NAME_CONSTRAINTS]: limits(tag, name) } });
const excludes = (tag: number, name: string) => ({ extensions: { [NAME_CONSTRAINTS]: limits(tag, name, 0xa1) } });
const mails = (...names: readonly string[]) => ({
  more: [["2.5.29.17", der(SEQUENCE, ...names.map((name) => der(MAIL, Buffer.from(name))))]] as const,
});

interface Case {
  /** What the intermediate certificate says, the signer's, and the root. */
  readonly middle?: Partial<CertificateOptions>;
  readonly leaf?: Partial<CertificateOptions>;
  readonly root?: Partial<CertificateOptions>;
  /** Default a mail address. */
  readonly identity?: { readonly uri?: string; readonly email?: string };
  /** Why it does not count; absent: it does. */
  readonly reason?: string;
}

const UNTRUSTED = "its certificate was not issued by a trusted authority";
const identity = { uri: "https://github.com/a/b" };

const CASES: Readonly<Record<string, Case>> = {
  "an intermediate": {},
  "an authority for the host of the mail address": { middle: permits(MAIL, "example.org") },
  "an authority for all hosts below one": { middle: permits(MAIL, ".org") },
  "an authority for one mailbox": { middle: permits(MAIL, "ci@example.org") },
  "an authority for another mailbox": { middle: permits(MAIL, "cd@example.org"), reason: UNTRUSTED },
  "an authority for other hosts": { middle: permits(MAIL, "example.com"), reason: UNTRUSTED },
  "a root for other hosts": { root: permits(MAIL, "example.com"), reason: UNTRUSTED },
  "an authority for all hosts but this": { middle: excludes(MAIL, "example.org"), reason: UNTRUSTED },
  "an authority for all hosts but another": { middle: excludes(MAIL, "example.com") },
  "an authority for the host of the URI": { identity, middle: permits(URI, "github.com") },
  "an authority for URIs of other hosts": { identity, middle: permits(URI, "example.org"), reason: UNTRUSTED },
  "an authority for all URIs but these": { identity, middle: excludes(URI, "github.com"), reason: UNTRUSTED },
  "an authority for the first name only": {
    identity: {},
    leaf: mails("ci@example.org", "ci@example.com"),
    middle: permits(MAIL, "example.org"),
    reason: UNTRUSTED,
  },
  "an authority for directories": { middle: permits(DIRECTORY, der(SEQUENCE)), reason: UNTRUSTED },
  "an authority that may not sign certificates": { middle: { usage: [7, 0x80] }, reason: UNTRUSTED },
  "a root that may not sign certificates": { root: { usage: [7, 0x80] }, reason: UNTRUSTED },
  "an authority with something critical that is not known": {
    middle: { more: [["1.2.3.4", utf8("x"), true]] },
    reason: UNTRUSTED,
  },
  "a signer with something critical that is not known": {
    leaf: { more: [["1.2.3.4", utf8("x"), true]] },
    reason: "its certificate can't be read",
  },
  "a repeated issuer": {
    leaf: { more: [[ISSUER, utf8("https://other")]] },
    reason: "its certificate has an extension twice",
  },
  "an issuer with something behind it": {
    leaf: { extensions: { [ISSUER]: Buffer.concat([utf8("https://issuer"), utf8("x")]) } },
    reason: "it can't be read",
  },
  "a short key of RSA": {
    leaf: { keys: generateKeyPairSync("rsa", { modulusLength: 1024 }) },
    reason: "its certificate has a key of an unknown kind or size",
  },
  "names that patterns must not be tried on": {
    identity: { email: `${"x".repeat(MAX_NAMES)}@example.org` },
    reason: "its certificate has too long names",
  },
};

describe("a certificate", () => {
  for (const [name, { middle, leaf, root, identity = { email: "ci@example.org" }, reason }] of Object.entries(CASES)) {
    test(`of ${name} ${reason === undefined ? "counts" : "does not count"}`, async () => {
      const top = newCertificate({ name: "root", authority: true, ...root });
      const issuer = newCertificate({ name: "middle", authority: true, issuer: top, ...middle });
      const shelf = new Shelf();
      const signer = { identity: { issuer: "https://issuer", ...identity }, certificate: { issuer, ...leaf } };
      const bytes = sigstore.bundle(digest, signer);
      shelf.put({ subject: digest }, [{ mediaType: BUNDLE, bytes }]);
      const { trustedRoot } = JSON.parse(sigstore.trustConfig([issuer, top])) as { trustedRoot: object };
      const attestor = { keyless: {}, ctlog: { insecureIgnoreSCT: true }, trustedRoot: JSON.stringify(trustedRoot) };
      const expected = reason === undefined ? { verified: true, reasons: [] } : { verified: false, reasons: [reason] };
      assert.deepEqual(await verdictOf(attestor, about, shelf), expected);
    });
  }
});
