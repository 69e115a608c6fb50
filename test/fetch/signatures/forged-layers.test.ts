/** Damaged and forged signatures in layers, and those whose signers themselves sign what must not count. Each has a twin that passes by the same call. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CosignAttestor, Sought } from "../../../src/fetch/signatures/attestor.js";
import { newKeys } from "../certificates.js";
import { sha256 } from "../test-registry.js";
import { goldenFile, goldenImage, goldenLayers, type Layer, Shelf, verdictOf } from "./golden-images.js";
import { type BundleSigner, TestSigstore } from "./test-sigstore.js";

const SIGNATURE = "dev.cosignproject.cosign/signature";
const CERTIFICATE = "dev.sigstore.cosign/certificate";
const ENTRY = "dev.sigstore.cosign/bundle";
const STAMP = "dev.sigstore.cosign/rfc3161timestamp";
const key: CosignAttestor = { key: { data: goldenFile("keys/cosign.pub") } };
const identities = [{ issuer: "http://localhost:5056", subject: "ci@example.org" }];
const keyless: CosignAttestor = { keyless: { identities } };
const SCAN: Sought = { kind: "intoto", predicateType: "https://example.com/scan/v1" };
const NOT_FITTING = "its signature does not fit its content and signer";

interface Spoiled {
  readonly damage: (layer: Layer, other: Layer) => Partial<Layer>;
  readonly reason: string;
  readonly of?: string;
  readonly other?: string;
  readonly suffix?: "sig" | "att";
  readonly signer?: CosignAttestor;
  readonly sought?: Sought;
}

const annotated = (layer: Layer, added: Readonly<Record<string, string>>): Partial<Layer> => ({
  annotations: { ...layer.annotations, ...added },
});
const without = (layer: Layer, name: string): Partial<Layer> => {
  const { [name]: _, ...annotations } = layer.annotations ?? {};
  return { annotations };
};
const written = ({ bytes }: Layer, from: string, to: string): Partial<Layer> => ({
  bytes: Buffer.from(bytes.toString().replace(from, to)),
});
const flipped = (base64: string): string => {
  const bytes = Buffer.from(base64, "base64");
  bytes[bytes.length - 1]! ^= 1;
  return bytes.toString("base64");
};
const of = (layer: Layer, name: string): string => layer.annotations?.[name] ?? "";
const entryWith = (layer: Layer, change: (entry: Record<string, unknown>) => object): Partial<Layer> =>
  annotated(layer, { [ENTRY]: JSON.stringify(change(JSON.parse(of(layer, ENTRY)))) });

const SPOILED: Readonly<Record<string, Spoiled>> = {
  "another payload": { damage: (layer) => written(layer, '"type":', '"type" :'), reason: NOT_FITTING },
  "a payload with a repeated key": {
    damage: (layer) => written(layer, "{", '{"optional":null,'),
    reason: "its payload has a repeated key",
  },
  "a payload whose key has an escape": {
    damage: (layer) => written(layer, '"critical"', '"\\u0063ritical"'),
    reason: "its payload has keys with escapes",
  },
  "a payload that is not JSON": { damage: (layer) => written(layer, "{", ""), reason: "its payload is not JSON" },
  "a payload without digest": {
    damage: (layer) => written(layer, "docker-manifest-digest", "digest"),
    reason: "its payload names no digest",
  },
  "the payload of another image": { damage: (_, { bytes }) => ({ bytes }), reason: "it is about another image" },
  "the signature of another layer": {
    damage: (layer, other) => annotated(layer, { [SIGNATURE]: of(other, SIGNATURE) }),
    reason: NOT_FITTING,
  },
  "an empty signature": { damage: (layer) => annotated(layer, { [SIGNATURE]: "" }), reason: NOT_FITTING },
  "no signature": { damage: (layer) => without(layer, SIGNATURE), reason: "it has no signature" },
  "no log entry": {
    damage: (layer) => without(layer, ENTRY),
    reason: "it has no entry of a transparency log",
  },
  "the log entry of another layer": {
    damage: (layer, other) => annotated(layer, { [ENTRY]: of(other, ENTRY) }),
    reason: "its log entry is of another signature",
  },
  "another promise of the log": {
    damage: (layer) =>
      entryWith(layer, ({ SignedEntryTimestamp, ...rest }) => ({
        ...rest,
        SignedEntryTimestamp: flipped(String(SignedEntryTimestamp)),
      })),
    reason: "the promise of its log entry (SET) is not right",
  },
  "an unknown log": {
    damage: (layer) =>
      entryWith(layer, ({ Payload, ...rest }) => ({ ...rest, Payload: { ...(Payload as object), logID: "00" } })),
    reason: "its log entry is of a log that is not trusted",
  },
  "a log entry that is not JSON": {
    damage: (layer) => annotated(layer, { [ENTRY]: "{" }),
    reason: "its log entry is not JSON",
  },
  "a log entry without promise": {
    damage: (layer) => entryWith(layer, ({ Payload }) => ({ Payload })),
    reason: "its log entry can't be read",
  },
  "a log entry with a repeated key": {
    damage: (layer) => annotated(layer, { [ENTRY]: of(layer, ENTRY).replace("{", '{"Payload":{},') }),
    reason: "its log entry has a repeated key",
  },
  "an annotation that is too long": {
    damage: (layer) => annotated(layer, { [ENTRY]: "x".repeat(32 * 1024 + 1) }),
    reason: "it has an annotation of more than 32768 characters",
  },
  "the certificate of another signer": {
    damage: (layer, other) => annotated(layer, { [CERTIFICATE]: of(other, CERTIFICATE) }),
    other: "team/app:legacy-keyless",
    reason: "it is signed with a certificate, and not with the key of the attestor",
  },
  "no certificate": {
    of: "team/app:legacy-keyless",
    signer: keyless,
    damage: (layer) => without(layer, CERTIFICATE),
    reason: "it is signed with a key, and has no certificate",
  },
  "another certificate": {
    of: "team/app:legacy-keyless",
    signer: keyless,
    other: "team/app:legacy-key-and-keyless",
    damage: (layer, other) => annotated(layer, { [CERTIFICATE]: of(other, CERTIFICATE) }),
    reason: NOT_FITTING,
  },
  "a certificate that can't be read": {
    of: "team/app:legacy-keyless",
    signer: keyless,
    damage: (layer) => annotated(layer, { [CERTIFICATE]: "-----BEGIN CERTIFICATE-----" }),
    reason: "its certificate can't be read",
  },
  "no timestamp": {
    of: "team/app:legacy-keyless-tsa",
    signer: { ...keyless, ctlog: { insecureIgnoreTlog: true } },
    damage: (layer) => without(layer, STAMP),
    reason: "its certificate was not valid at the time of its signature",
  },
  "a timestamp of another signature": {
    of: "team/app:legacy-keyless-tsa",
    signer: { ...keyless, ctlog: { insecureIgnoreTlog: true } },
    other: "team/app:legacy-key-tsa",
    damage: (layer, other) => annotated(layer, { [STAMP]: of(other, STAMP) }),
    reason: "its timestamp is not right, or of no trusted authority",
  },
  "an attestation with another payload": {
    suffix: "att",
    damage: (layer) => {
      const envelope = JSON.parse(layer.bytes.toString());
      const payload = Buffer.from(envelope.payload, "base64").toString().replace('"predicate":', '"predicate" :');
      return { bytes: Buffer.from(JSON.stringify({ ...envelope, payload: Buffer.from(payload).toString("base64") })) };
    },
    reason: NOT_FITTING,
  },
  "an attestation whose envelope has two payloads": {
    suffix: "att",
    damage: (layer) => written(layer, "{", '{"payload":"e30=",'),
    reason: "its envelope has a repeated key",
  },
  "an attestation of another payload type": {
    suffix: "att",
    damage: (layer) => written(layer, "vnd.in-toto+json", "vnd.other+json"),
    reason: "its envelope holds no in-toto statement",
  },
  "an attestation about another image": {
    suffix: "att",
    damage: (_, other) => other,
    other: "team/app:legacy-attested-notlog",
    signer: { ...key, ctlog: { insecureIgnoreTlog: true } },
    reason: "it is about another image",
  },
  "an attestation with the log entry of another one": {
    suffix: "att",
    damage: (layer, other) => annotated(layer, { [ENTRY]: of(other, ENTRY) }),
    reason: "its log entry is of another signature",
  },
};

describe("damaged layers", () => {
  for (const [name, { damage, reason, of: own, other, suffix = "sig", signer = key, sought }] of Object.entries(
    SPOILED,
  )) {
    test(name, async () => {
      const from = own ?? (suffix === "sig" ? "team/app:legacy-key" : "team/app:legacy-attested-intoto");
      const about = goldenImage(from);
      const [layer] = await goldenLayers(from, suffix);
      const otherName = other ?? (suffix === "sig" ? "team/app:legacy-annotated" : "team/app:legacy-attested-key");
      const [taken] = (await goldenLayers(otherName, suffix)).filter(
        ({ annotations }) => annotations?.[CERTIFICATE] || !otherName.endsWith("keyless"),
      );
      const kind: Sought = sought ?? (suffix === "sig" ? { kind: "signature" } : SCAN);
      const verdictAbout = (one: Layer) => {
        const shelf = new Shelf();
        shelf.put({ tag: `${about.digest.replace(":", "-")}.${suffix}` }, [one]);
        return verdictOf(signer, about, shelf, kind);
      };
      assert.equal((await verdictAbout(layer!)).verified, true);
      assert.deepEqual(await verdictAbout({ ...layer!, ...damage(layer!, taken!) }), {
        verified: false,
        reasons: [reason],
      });
    });
  }
});

const sigstore = new TestSigstore();
const keys = newKeys();
const pem = keys.publicKey.export({ type: "spki", format: "pem" }).toString();
const digest = sha256("the image");
const about = { image: { host: "localhost:1", repository: "team/p" }, digest };
const identity = { issuer: "https://issuer.example", email: "ci@example.org" };
const trustedRoot = JSON.stringify(JSON.parse(sigstore.trustConfig()).trustedRoot);
const byKey: CosignAttestor = { key: { data: pem }, ctlog: { insecureIgnoreTlog: true } };
const byIdentity: CosignAttestor = {
  keyless: { identities: [{ issuer: identity.issuer, subject: identity.email }] },
  trustedRoot,
};
const day = 86_400_000;

interface Signed {
  readonly signer: BundleSigner;
  readonly reason: string;
  readonly attestor?: CosignAttestor;
}

const rewritten =
  (from: string, to: string) =>
  (statement: object): string =>
    JSON.stringify(statement).replace(from, to);

const SIGNED: Readonly<Record<string, Signed>> = {
  "a subject with another digest": {
    signer: { keys, aboutDigest: sha256("other") },
    reason: "it is about another image",
  },
  "a subject with another algorithm": {
    signer: { keys, aboutDigest: `sha512:${"0".repeat(128)}` },
    reason: "it is about another image",
  },
  "no subject": { signer: { keys, statement: { subject: [] } }, reason: "it is about another image" },
  "a repeated subject": {
    signer: { keys, written: rewritten("{", '{"subject":[],') },
    reason: "its statement has a repeated key",
  },
  "a key with an escape": {
    signer: { keys, written: rewritten('"sha256"', '"\\u0073ha256"') },
    reason: "its statement has keys with escapes",
  },
  "another predicate": {
    signer: { keys, statement: { predicateType: "https://slsa.dev/provenance/v1" } },
    reason: "its statement is of another predicate type",
  },
  "a wanted annotation that is missing": {
    signer: { keys, annotations: { env: "prod" } },
    attestor: { ...byKey, annotations: { env: "prod", team: "a" } },
    reason: 'its signed annotations do not say "team" as wanted',
  },
  "an annotation that every object has": {
    signer: { keys },
    attestor: { ...byKey, annotations: { constructor: "x" } },
    reason: 'its signed annotations do not say "constructor" as wanted',
  },
  "another key": { signer: { keys: newKeys() }, reason: NOT_FITTING },
  "a hash that is not asked": { signer: { keys, hash: "sha384" }, reason: NOT_FITTING },
  "a certificate that had expired": {
    attestor: byIdentity,
    signer: { identity, certificate: { from: new Date(Date.now() - 2 * day), until: new Date(Date.now() - day) } },
    reason: "its certificate was not valid at the time of its signature",
  },
  "a certificate that was not yet valid": {
    attestor: byIdentity,
    signer: { identity, time: Math.floor((Date.now() - 2 * day) / 1000) },
    reason: "its certificate was not valid at the time of its signature",
  },
  "a certificate for servers": {
    attestor: byIdentity,
    signer: { identity, certificate: { codeSigning: false, hosts: ["example.org"] } },
    reason: "its certificate is not for signatures",
  },
  "a certificate without proof of a log": {
    attestor: byIdentity,
    signer: { identity, withoutProof: true },
    reason: "its certificate has no valid proof of a trusted certificate log (SCT)",
  },
  "a log entry about another payload": {
    attestor: byIdentity,
    signer: { identity, logged: (entry) => entry.replace(/"value":"../, '"value":"00') },
    reason: "its log entry is of another payload",
  },
  "a log entry of another signer": {
    attestor: byIdentity,
    signer: {
      identity,
      logged: (entry) => entry.replace(/"verifier":"[^"]*"/, `"verifier":"${Buffer.from(pem).toString("base64")}"`),
    },
    reason: "its log entry is of another signer",
  },
  "a log entry with two signatures": {
    attestor: byIdentity,
    signer: { identity, logged: (entry) => entry.replace(/"signatures":\[(.*?)\]/, '"signatures":[$1,$1]') },
    reason: "its log entry is of another signature",
  },
};

function signedVerdict({ signer, attestor = byKey }: Omit<Signed, "reason">) {
  const shelf = new Shelf();
  const mediaType = "application/vnd.dev.sigstore.bundle.v0.3+json";
  shelf.put({ subject: digest }, [{ mediaType, bytes: sigstore.bundle(digest, signer) }]);
  return verdictOf(attestor, about, shelf);
}

describe("signatures of what must not count", () => {
  for (const [name, { reason, ...signed }] of Object.entries(SIGNED)) {
    test(name, async () => {
      const { attestor = byKey } = signed;
      const annotations = Object.fromEntries(Object.entries(attestor.annotations ?? {}));
      const right = signed.signer.identity === undefined ? { keys, annotations } : { identity };
      assert.deepEqual(await signedVerdict({ ...signed, signer: right }), { verified: true, reasons: [] });
      assert.deepEqual(await signedVerdict(signed), { verified: false, reasons: [reason] });
    });
  }
});
