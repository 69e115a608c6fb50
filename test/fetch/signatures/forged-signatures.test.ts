/** Damaged and forged signatures: each is refused with the reason, and what it was made of passes by the same call. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CosignAttestor } from "../../../src/fetch/signatures/attestor.js";
import { MAX_BUNDLE_BYTES } from "../../../src/fetch/signatures/bundle.js";
import { goldenBundles, goldenFile, goldenImage, type Layer, Shelf, verdictOf } from "./golden-images.js";

const BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json";
const key: CosignAttestor = { key: { data: goldenFile("keys/cosign.pub") } };
const keyless: CosignAttestor = {
  keyless: { identities: [{ issuer: "http://localhost:5056", subject: "ci@example.org" }] },
};

/** A bundle in JSON, any part of which is damaged. */
// biome-ignore lint/suspicious/noExplicitAny: tests damage any part of it
type Json = any;

/** Base64 with a bit of the byte at an index flipped, from the end where it is negative. */
function flipped(base64: string, at = -1): string {
  const bytes = Buffer.from(base64, "base64");
  const index = at < 0 ? bytes.length + at : at;
  bytes[index]! ^= 1;
  return bytes.toString("base64");
}
const replaced = (base64: string, from: string, to: string): string =>
  Buffer.from(Buffer.from(base64, "base64").toString("latin1").replace(from, to), "latin1").toString("base64");

interface Forged {
  readonly damage: (bundle: Json, other: Json) => unknown;
  readonly reason: string;
  /** The golden image with the bundle, and the one of which parts are taken. */
  readonly of?: string;
  readonly other?: string;
  readonly layers?: (bytes: Buffer) => readonly Layer[];
  readonly signer?: CosignAttestor;
}

const asLayer = (bytes: Buffer): readonly Layer[] => [{ mediaType: BUNDLE, bytes }];
const entry = (bundle: Json): Json => bundle.verificationMaterial.tlogEntries[0];
const envelope = (bundle: Json): Json => bundle.dsseEnvelope;
const NOT_FITTING = "its signature does not fit its content and signer";
const NOT_PROVEN = "the proof of its log entry is not right";
const LACKING = "its bundle lacks a part, or has one that can't be read";
const NO_STATEMENT = "its envelope holds no in-toto statement";
const NOT_BUNDLE = "its artifact is not one Sigstore bundle";
const NOT_STAMPED = "its timestamp is not right, or of no trusted authority";
const WITHOUT_TIME = "no trusted log or timestamp tells the time of its signature";

const KEYED: Readonly<Record<string, Forged>> = {
  "a bit of the payload flipped": {
    damage: (bundle) =>
      Object.assign(envelope(bundle), {
        payload: replaced(envelope(bundle).payload, '"predicate":{', '"predicate": {'),
      }),
    reason: NOT_FITTING,
  },
  "a bit of the signature flipped": {
    damage: (bundle) =>
      Object.assign(envelope(bundle).signatures[0], { sig: flipped(envelope(bundle).signatures[0].sig) }),
    reason: NOT_FITTING,
  },
  "the signature of another bundle": {
    damage: (bundle, other) => Object.assign(envelope(bundle), { signatures: envelope(other).signatures }),
    reason: NOT_FITTING,
  },
  "the payload of another bundle": {
    damage: (bundle, other) => Object.assign(envelope(bundle), { payload: envelope(other).payload }),
    reason: "it is about another image",
  },
  "the bundle of another image": {
    damage: (bundle, other) => Object.assign(bundle, other),
    reason: "it is about another image",
  },
  "the bundle of an attestation": {
    damage: (bundle, other) => Object.assign(bundle, other),
    other: "team/app:attested-only",
    reason: "its statement is of another predicate type",
  },
  "an empty signature": {
    damage: (bundle) => Object.assign(envelope(bundle).signatures[0], { sig: "" }),
    reason: LACKING,
  },
  "two signatures": {
    damage: (bundle) => envelope(bundle).signatures.push(envelope(bundle).signatures[0]),
    reason: LACKING,
  },
  "no content": { damage: (bundle) => delete bundle.dsseEnvelope, reason: LACKING },
  "a payload of another type": {
    damage: (bundle) => Object.assign(envelope(bundle), { payloadType: "application/json" }),
    reason: NO_STATEMENT,
  },
  "a statement of another type": {
    damage: (bundle) =>
      Object.assign(envelope(bundle), {
        payload: replaced(envelope(bundle).payload, "/Statement/v1", "/Statement/v9"),
      }),
    reason: NO_STATEMENT,
  },
  "a payload that is not JSON": {
    damage: (bundle) => Object.assign(envelope(bundle), { payload: Buffer.from("{").toString("base64") }),
    reason: "its statement is not JSON",
  },
  "a payload that repeats its subject": {
    damage: (bundle) =>
      Object.assign(envelope(bundle), { payload: replaced(envelope(bundle).payload, "{", '{"subject":[],') }),
    reason: "its statement has a repeated key",
  },
  "a payload whose key has an escape": {
    damage: (bundle) =>
      Object.assign(envelope(bundle), { payload: replaced(envelope(bundle).payload, '"subject"', '"\\u0073ubject"') }),
    reason: "its statement has keys with escapes",
  },
  "no log entry": {
    damage: (bundle) => Object.assign(bundle.verificationMaterial, { tlogEntries: [] }),
    reason: "it has no entry of a transparency log",
  },
  "the log entry of another signature": {
    damage: (bundle, other) =>
      Object.assign(bundle.verificationMaterial, { tlogEntries: other.verificationMaterial.tlogEntries }),
    reason: "its log entry is of another signature",
  },
  "more log entries than are verified": {
    damage: (bundle) => Object.assign(bundle.verificationMaterial, { tlogEntries: Array(9).fill(entry(bundle)) }),
    reason: "it has more than 8 log entries",
  },
  "a log that is not known": {
    damage: (bundle) => Object.assign(entry(bundle).logId, { keyId: flipped(entry(bundle).logId.keyId) }),
    reason: "its log entry is of a log that is not trusted",
  },
  "a bit of the checkpoint's signature flipped": {
    damage: (bundle) => {
      const { checkpoint } = entry(bundle).inclusionProof;
      checkpoint.envelope = checkpoint.envelope.replace(/(\S+)\n$/, (_: string, text: string) => `${flipped(text)}\n`);
    },
    reason: "the checkpoint of its log entry is not signed by the log",
  },
  "a checkpoint of another tree": {
    damage: (bundle) => {
      const { checkpoint } = entry(bundle).inclusionProof;
      checkpoint.envelope = checkpoint.envelope.replace(/\n(\d+)\n/, "\n9$1\n");
    },
    reason: "the checkpoint of its log entry is not signed by the log",
  },
  "the checkpoint of another bundle": {
    damage: (bundle, other) =>
      Object.assign(entry(bundle).inclusionProof, { checkpoint: entry(other).inclusionProof.checkpoint }),
    reason: NOT_PROVEN,
  },
  "a checkpoint signed by a pattern": {
    damage: (bundle) => {
      const { checkpoint } = entry(bundle).inclusionProof;
      checkpoint.envelope = checkpoint.envelope.replace(/\u2014 \S+ /, "\u2014 (.*)* ");
    },
    reason: "its checkpoint is signed by no host",
  },
  "a place in the log beyond its end": {
    damage: (bundle) => Object.assign(entry(bundle).inclusionProof, { logIndex: "99999" }),
    reason: NOT_PROVEN,
  },
  "a hash of the proof too many": {
    damage: (bundle) => entry(bundle).inclusionProof.hashes.push(Buffer.alloc(32).toString("base64")),
    reason: NOT_PROVEN,
  },
  "a log entry that says something more": {
    damage: (bundle) =>
      Object.assign(entry(bundle), { canonicalizedBody: replaced(entry(bundle).canonicalizedBody, "{", '{"more":1,') }),
    reason: NOT_PROVEN,
  },
  "a log entry whose key has an escape": {
    damage: (bundle) =>
      Object.assign(entry(bundle), {
        canonicalizedBody: replaced(entry(bundle).canonicalizedBody, '"kind"', '"\\u006bind"'),
      }),
    reason: "its log entry has keys with escapes",
  },
  "a log entry that is not JSON": {
    damage: (bundle) => Object.assign(entry(bundle), { canonicalizedBody: "ew==" }),
    reason: "its log entry can't be read",
  },
  "a log entry without proof": { damage: (bundle) => delete entry(bundle).inclusionProof, reason: LACKING },
  "a log entry of another kind than it says": {
    damage: (bundle) => Object.assign(entry(bundle).kindVersion, { kind: "dsse" }),
    reason: "its log entry is of another kind",
  },
  "a certificate that somebody has added": {
    damage: (bundle, other) => {
      delete bundle.verificationMaterial.publicKey;
      bundle.verificationMaterial.certificate = other.verificationMaterial.certificate;
    },
    other: "team/app:bundle-keyless",
    reason: "it is signed with a certificate, and not with the key of the attestor",
  },
  "a media type of a later version": {
    damage: (bundle) => Object.assign(bundle, { mediaType: "application/vnd.dev.sigstore.bundle.v0.4+json" }),
    reason: "its bundle is of an unknown media type",
  },
  "an artifact of another media type": {
    damage: () => {},
    layers: (bytes) => [{ mediaType: "application/json", bytes }],
    reason: NOT_BUNDLE,
  },
  "two bundles in one artifact": {
    damage: () => {},
    layers: (bytes) => [...asLayer(bytes), ...asLayer(bytes)],
    reason: NOT_BUNDLE,
  },
  "a bundle that is not JSON": {
    damage: () => {},
    layers: (bytes) => asLayer(bytes.subarray(1)),
    reason: "its bundle is not JSON",
  },
  "a list in place of a bundle": {
    damage: () => {},
    layers: () => asLayer(Buffer.from("[]")),
    reason: "its bundle is not a JSON object",
  },
  "a bundle with a repeated key": {
    damage: () => {},
    layers: (bytes) => asLayer(Buffer.from(bytes.toString().replace("{", '{"dsseEnvelope":{},'))),
    reason: "its bundle has a repeated key",
  },
  "a bundle whose key has an escape": {
    damage: () => {},
    layers: (bytes) => asLayer(Buffer.from(bytes.toString().replace('"payload"', '"p\\u0061yload"'))),
    reason: "its bundle has keys with escapes",
  },
  "a bundle of more values than any has": {
    damage: (bundle) => Object.assign(bundle, { more: Array(10_001).fill(1) }),
    reason: "its bundle has more than 10000 values",
  },
  "a bundle that is too large": {
    damage: (bundle) => Object.assign(bundle, { more: "x".repeat(MAX_BUNDLE_BYTES) }),
    reason: `its bundle has more than ${MAX_BUNDLE_BYTES} bytes`,
  },
  "the promise of an entry of Rekor 1, flipped": {
    of: "team/app:bundle-key-rekor1",
    damage: (bundle) => {
      const { inclusionPromise } = entry(bundle);
      inclusionPromise.signedEntryTimestamp = flipped(inclusionPromise.signedEntryTimestamp);
    },
    reason: "the promise of its log entry (SET) is not right",
  },
};

const CERTIFIED: Readonly<Record<string, Forged>> = {
  "a bit of the certificate flipped": {
    damage: ({ verificationMaterial: { certificate } }) =>
      Object.assign(certificate, { rawBytes: flipped(certificate.rawBytes) }),
    reason: "its log entry is of another signer",
  },
  "the certificate of another bundle": {
    damage: (bundle, other) =>
      Object.assign(bundle.verificationMaterial, { certificate: other.verificationMaterial.certificate }),
    other: "team/app:bundle-attested-keyless",
    reason: NOT_FITTING,
  },
  "the certificate of another identity": {
    damage: (bundle, other) =>
      Object.assign(bundle.verificationMaterial, { certificate: other.verificationMaterial.certificate }),
    other: "team/app:bundle-keyless-other",
    reason: 'its signer "dev@example.com" of issuer "http://localhost:5056" is none of the wanted identities',
  },
  "a certificate that can't be read": {
    damage: ({ verificationMaterial: { certificate } }) =>
      Object.assign(certificate, { rawBytes: certificate.rawBytes.slice(40) }),
    reason: "its certificate can't be read",
  },
  "a key in place of the certificate": {
    damage: ({ verificationMaterial }) => {
      delete verificationMaterial.certificate;
      verificationMaterial.publicKey = { hint: "" };
    },
    reason: "it is signed with a key, and has no certificate",
  },
  "a bit of the timestamp flipped": {
    damage: ({
      verificationMaterial: {
        timestampVerificationData: {
          rfc3161Timestamps: [stamp],
        },
      },
    }) => Object.assign(stamp, { signedTimestamp: flipped(stamp.signedTimestamp) }),
    reason: NOT_STAMPED,
  },
  "the timestamp of another bundle": {
    damage: (bundle, other) =>
      Object.assign(bundle.verificationMaterial, {
        timestampVerificationData: other.verificationMaterial.timestampVerificationData,
      }),
    other: "team/app:bundle-keyless-other",
    reason: NOT_STAMPED,
  },
  "a timestamp that can't be read": {
    damage: ({
      verificationMaterial: {
        timestampVerificationData: {
          rfc3161Timestamps: [stamp],
        },
      },
    }) => Object.assign(stamp, { signedTimestamp: "AAAA" }),
    reason: NOT_STAMPED,
  },
  "no timestamp": {
    damage: ({ verificationMaterial }) => delete verificationMaterial.timestampVerificationData,
    reason: WITHOUT_TIME,
  },
  "more timestamps than are verified": {
    damage: ({ verificationMaterial: { timestampVerificationData } }) =>
      Object.assign(timestampVerificationData, {
        rfc3161Timestamps: Array(9).fill(timestampVerificationData.rfc3161Timestamps[0]),
      }),
    reason: "it has more than 8 timestamps",
  },
  "another time in the promise of Rekor 1": {
    of: "team/app:bundle-keyless-rekor1",
    damage: (bundle) =>
      Object.assign(entry(bundle), { integratedTime: String(Number(entry(bundle).integratedTime) + 1) }),
    reason: "the promise of its log entry (SET) is not right",
  },
  "no promise of Rekor 1": {
    of: "team/app:bundle-keyless-rekor1",
    damage: (bundle) => delete entry(bundle).inclusionPromise,
    reason: WITHOUT_TIME,
  },
};

async function checkForged({
  of: name = "",
  other,
  damage,
  layers = asLayer,
  reason,
  signer = key,
}: Forged): Promise<void> {
  const [text = ""] = await goldenBundles(name);
  const about = goldenImage(name);
  const verdictAbout = (artifact: readonly Layer[]) => {
    const shelf = new Shelf();
    shelf.put({ subject: about.digest }, artifact);
    return verdictOf(signer, about, shelf);
  };
  assert.deepEqual(await verdictAbout(asLayer(Buffer.from(text))), { verified: true, reasons: [] });
  const bundle = JSON.parse(text);
  const [from = ""] = await goldenBundles(other ?? "team/app:bundle-annotated");
  damage(bundle, JSON.parse(from));
  const forged = layers(Buffer.from(JSON.stringify(bundle)));
  assert.deepEqual(await verdictAbout(forged), { verified: false, reasons: [reason] });
}

describe("damaged bundles", () => {
  for (const [name, forged] of Object.entries(KEYED))
    test(`by a key: ${name}`, () => checkForged({ of: "team/app:bundle-key", ...forged }));
  for (const [name, forged] of Object.entries(CERTIFIED))
    test(`by an identity: ${name}`, () => checkForged({ of: "team/app:bundle-keyless", signer: keyless, ...forged }));
});
