/** Envelopes of Notary Project signatures: right ones, and spoiled ones with the reason why they do not count. */
import { generateKeyPairSync } from "node:crypto";
import { der, oid, SEQUENCE } from "../../x509/pkcs10/requests.js";
import {
  CODE_SIGNING,
  certificate,
  type EnvelopeOf,
  ecKeys,
  envelope,
  type MadeOf,
  pemOf,
  rsaKeys,
  TARGET,
  TIME_STAMPING,
  type TokenOf,
  token,
} from "./test-notary.js";

/** An envelope and its attestor. */
export interface NotationCase {
  readonly name: string;
  readonly make: () => string | Buffer;
  readonly mediaType?: string;
  readonly certs?: string;
  readonly tsaCerts?: string;
  /** Absent: it counts. */
  readonly reason?: RegExp;
  /** Whether notation-go 1.3.2 says the contrary. */
  readonly differs?: true;
}

const root = certificate({ name: "root", authority: true });
const middle = certificate({ name: "middle", authority: true, issuer: root, pathLength: 0 });
const leaf = certificate({ name: "leaf", issuer: middle, purposes: [CODE_SIGNING] });
const chain = [leaf, middle, root];
const other = certificate({ name: "other", authority: true });
/** The chain with another leaf. */
const withLeaf = (options: Partial<MadeOf>) => [
  certificate({ name: "leaf", issuer: middle, ...options }),
  middle,
  root,
];
/** The chain with another intermediate certificate. */
const withMiddle = (options: Partial<MadeOf>) => {
  const own = certificate({ name: "middle", authority: true, issuer: root, ...options });
  return [certificate({ name: "leaf", issuer: own }), own, root];
};
const alone = (options: Partial<MadeOf> = {}) => [certificate({ name: "alone", ...options })];
const withKeys = (keys: NonNullable<MadeOf["keys"]>) => [
  certificate({ name: "leaf", issuer: middle, keys }),
  middle,
  root,
];

const stampRoot = certificate({ name: "stamp root", authority: true });
const stampMiddle = certificate({ name: "stamp middle", authority: true, issuer: stampRoot });
const stamper = (options: Partial<MadeOf> = {}) =>
  certificate({
    name: "stamper",
    issuer: stampMiddle,
    purposes: [TIME_STAMPING],
    purposesAreCritical: true,
    ...options,
  });
const stamp =
  (options: Partial<TokenOf> = {}) =>
  (signature: Buffer) =>
    token(signature, { signer: stamper(), others: [stampMiddle], ...options });

const address = (tag: number) => der(tag, Buffer.from("http://localhost/revoked"));
const CRL = ["2.5.29.31", der(SEQUENCE, der(SEQUENCE, der(0xa0, der(0xa0, address(0x86)))))] as const;
const access = (id: string) => ["1.3.6.1.5.5.7.1.1", der(SEQUENCE, der(SEQUENCE, oid(id), address(0x86)))] as const;
const UNKNOWN = ["1.2.3.4.5", der(5), true] as const;

const EXPIRY = "io.cncf.notary.expiry";
const SCHEME = "io.cncf.notary.signingScheme";
const TIME = "io.cncf.notary.signingTime";
const AUTHENTIC = "io.cncf.notary.authenticSigningTime";
const PLUGIN = "io.cncf.notary.verificationPlugin";

const made = (name: string, options: Partial<EnvelopeOf>, reason?: RegExp, more: Partial<NotationCase> = {}) => ({
  name,
  make: () => envelope({ chain, ...options }),
  ...(reason && { reason }),
  ...more,
});
/** A chain that is trusted by its last certificate. */
const chained = (name: string, own: EnvelopeOf["chain"], reason?: RegExp, more: Partial<NotationCase> = {}) =>
  made(name, { chain: own }, reason, { certs: pemOf(own.at(-1)!), ...more });
const stamped = (name: string, options: Partial<TokenOf>, reason?: RegExp, more: Partial<NotationCase> = {}) =>
  made(name, { timestamp: stamp(options) }, reason, { tsaCerts: pemOf(stampRoot), ...more });
const authority = { [SCHEME]: "notary.x509.signingAuthority", [TIME]: undefined, [AUTHENTIC]: "2024-05-01T10:00:00Z" };
const flip = (bytes: Buffer): Buffer => {
  const copy = Buffer.from(bytes);
  copy[10]! ^= 1;
  return copy;
};

/** Whole envelopes, their headers and payloads. */
export const ENVELOPES: readonly NotationCase[] = [
  made("P-256", {}),
  chained("P-384", withKeys(ecKeys("P-384"))),
  chained("P-521", withKeys(ecKeys("P-521"))),
  chained("RSA 2048", withKeys(rsaKeys(2048))),
  chained("RSA 3072", withKeys(rsaKeys(3072))),
  chained("RSA 4096", withKeys(rsaKeys(4096))),
  made("metadata", { payload: { targetArtifact: { ...TARGET, annotations: { env: "prod" } }, more: 1 } }),
  made("time with fraction", { head: { [TIME]: "2024-05-01T12:00:00.5+02:00" } }),
  made("further header", { head: { "example.com/build": 7 } }),
  made("agent", { header: { "io.cncf.notary.signingAgent": "notation/1.3.2" } }),
  made("expiry to come", { head: { [EXPIRY]: "2098-01-01T00:00:00Z", crit: [SCHEME, EXPIRY] } }),
  made("escaped letters in a value", {
    writtenPayload: (text) => text.replace("application/", "applic\\u0061tion\\/"),
  }),
  made("leaf trusted", {}, undefined, { certs: pemOf(leaf) }),
  made("middle trusted", {}, undefined, { certs: pemOf(other, middle) }),
  made("timestamp not asked for", { timestamp: () => Buffer.from("no token") }),

  made("nothing trusted", {}, /not among the attestor's/, { certs: pemOf(other) }),
  made("no certificates", {}, /certs is empty/, { certs: "" }),
  made("certificates without armour", {}, /a block is not PEM/, { certs: "leaf" }),
  made("cut certificate", {}, /certificates can't be used: a certificate/, {
    certs: pemOf({ ...root, der: root.der.subarray(0, 200) }),
  }),
  { name: "no JSON", make: () => "signature", reason: /envelope can't be read: expected value/ },
  { name: "list", make: () => "[]", reason: /envelope is not an object/ },
  made("another format", {}, /is in "application\/json"/, { mediaType: "application/json" }),
  { name: "COSE", make: () => Buffer.from([0xd2]), mediaType: "application/cose", reason: /COSE, which is not served/ },
  made(
    "repeated key",
    { end: (one) => `{"payload":"",${JSON.stringify(one).slice(1)}` },
    /envelope can't be read.*payload/,
    {
      differs: true,
    },
  ),
  made(
    "escaped key",
    { end: (one) => JSON.stringify(one).replace('"payload"', '"p\\u0061yload"') },
    /keys with escapes/,
    {
      differs: true,
    },
  ),
  made(
    "key in capitals",
    { end: (one) => JSON.stringify(one).replace('"payload"', '"Payload"') },
    /"Payload" in letters/,
    {
      differs: true,
    },
  ),
  made(
    "long s in a key",
    { end: (one) => JSON.stringify(one).replace('"signature"', '"\u017fignature"') },
    /another case/,
    {
      differs: true,
    },
  ),
  made("agent as number", { header: { "io.cncf.notary.signingAgent": 7 } }, /signingAgent is not a text/),
  made(
    "timestamp not in base64",
    { header: { "io.cncf.notary.timestampSignature": "no token" } },
    /its timestamp is missing or not in base64/,
  ),
  made("no chain", { header: { x5c: [] } }, /has no certificates/),
  made(
    "chain with padding gone",
    { header: { x5c: [leaf.der.subarray(0, 10).toString("base64").replace(/=+$/, "")] } },
    /a certificate is missing or not in base64/,
  ),
  made(
    "chain with a cut certificate",
    { header: { x5c: [leaf.der.subarray(0, 99).toString("base64")] } },
    /can't be read \(/,
  ),
  made("signature flipped", { spoil: flip }, /not made with its certificate's key/),
  made(
    "signature in DER",
    { spoil: (bytes) => Buffer.concat([Buffer.from([0x30]), bytes]) },
    /not made with its certificate's key/,
  ),
  made("no signature", { spoil: () => Buffer.alloc(0) }, /signature is missing/),
  made(
    "protected header exchanged",
    {
      end: (one) => ({
        ...one,
        protected: (JSON.parse(envelope({ chain, head: { a: 1 } })) as { protected: string }).protected,
      }),
    },
    /not made with its certificate's key/,
  ),
  made("algorithm of a larger key", { algorithm: "ES384" }, /algorithm is not ES256/),
  made("algorithm none", { head: { alg: "none" } }, /algorithm is not ES256/),
  made("algorithm in HMAC", { head: { alg: "HS256" } }, /algorithm is not ES256/),
  made(
    "repeated header",
    { written: (text) => `${text.slice(0, -1)},"cty":"x"}` },
    /protected header can't be read.*cty/,
  ),
  made(
    "repeated header with the same value",
    { written: (text) => text.replace('"alg":', '"alg":"ES256","alg":') },
    /protected header can't be read.*alg/,
    { differs: true },
  ),
  made(
    "escaped header",
    { written: (text) => text.replace('"alg"', '"\\u0061lg"') },
    /protected header has keys with escapes/,
    { differs: true },
  ),
  made(
    "expiry in capitals",
    { head: { "io.cncf.notary.EXPIRY": "2021-01-01T00:00:00Z" } },
    /EXPIRY" in letters of another case/,
  ),
  made("no scheme", { head: { [SCHEME]: undefined } }, /signing scheme is not notary.x509/),
  made("unknown scheme", { head: { [SCHEME]: "notary.x509.other" } }, /signing scheme is not notary.x509/),
  made("no critical headers", { head: { crit: [] } }, /has no critical headers/),
  made("scheme not critical", { head: { crit: ["example"], example: 1 } }, /critical header "example" is not served/),
  made(
    "expiry not critical",
    { head: { [EXPIRY]: "2098-01-01T00:00:00Z" } },
    /header io.cncf.notary.expiry is not critical/,
  ),
  made("critical header missing", { head: { crit: [SCHEME, "example"] } }, /"example" is repeated or missing/),
  made("critical header repeated", { head: { crit: [SCHEME, SCHEME] } }, /signingScheme" is repeated or missing/),
  made("unknown critical header", { head: { crit: [SCHEME, "example"], example: 1 } }, /"example" is not served/, {
    differs: true,
  }),
  made("plugin", { head: { crit: [SCHEME, PLUGIN], [PLUGIN]: "com.example" } }, /plugin must verify it/),
  made("plugin that is not critical", { head: { [PLUGIN]: "com.example" } }, /plugin must verify it/),
  made("no time", { head: { [TIME]: undefined } }, /has no io.cncf.notary.signingTime/),
  made("zero time", { head: { [TIME]: "0001-01-01T00:00:00Z" } }, /has no io.cncf.notary.signingTime/),
  made("time in words", { head: { [TIME]: "yesterday" } }, /signingTime is not a time/),
  made(
    "both times",
    { head: { [AUTHENTIC]: "2024-05-01T10:00:00Z" } },
    /scheme does not permit io.cncf.notary.authenticSigningTime/,
  ),
  made(
    "expiry before signing",
    { head: { [EXPIRY]: "2023-01-01T00:00:00Z", crit: [SCHEME, EXPIRY] } },
    /expires before it is signed/,
  ),
  made("expired", { head: { [EXPIRY]: "2024-06-01T00:00:00Z", crit: [SCHEME, EXPIRY] } }, /it has expired/),
  made("signing authority", { head: { ...authority, crit: [SCHEME, AUTHENTIC] } }, /signing scheme is not notary.x509/),
  made(
    "signing authority without critical time",
    { head: { ...authority, crit: [SCHEME] } },
    /signing scheme is not notary.x509/,
  ),
  made("another payload type", { head: { cty: "application/json" } }, /payload has another type/),
  made(
    "another digest",
    { payload: { targetArtifact: { ...TARGET, digest: `sha256:${"cd".repeat(32)}` } } },
    /of another manifest/,
  ),
  made("another size", { payload: { targetArtifact: { ...TARGET, size: 529 } } }, /of another manifest/),
  made(
    "another media type",
    { payload: { targetArtifact: { ...TARGET, mediaType: "text/plain" } } },
    /of another manifest/,
  ),
  made("no target", { payload: {} }, /targetArtifact is not an object/),
  made("target in capitals", { payload: { TargetArtifact: TARGET } }, /"TargetArtifact" in letters/, { differs: true }),
  made("payload as list", { payload: [] }, /payload is not an object/),
  made(
    "digest twice",
    { writtenPayload: (text) => text.replace('"digest":', '"digest":"sha256:00","digest":') },
    /payload can't be read.*digest/,
    { differs: true },
  ),
];

/** Chains of certificates. */
export const CHAINS: readonly NotationCase[] = [
  chained("alone", alone()),
  chained("any purpose", withLeaf({ purposes: ["2.5.29.37.0"] })),
  chained("commitment, too", withLeaf({ usage: [6, 0xc0] })),
  chained("unknown critical extension", withLeaf({ extensions: [UNKNOWN] })),
  chained("issuer's address only", withLeaf({ extensions: [access("1.3.6.1.5.5.7.48.2")] })),
  chained(
    "revocation list of a name only",
    withLeaf({ extensions: [["2.5.29.31", der(SEQUENCE, der(SEQUENCE, der(0xa0, der(0xa0, address(0x82)))))]] }),
    /names revocation lists/,
    { differs: true },
  ),
  chained("alone with a revocation list", alone({ extensions: [CRL] })),

  chained("revocation list", withLeaf({ extensions: [CRL] }), /names revocation lists/),
  chained(
    "OCSP responder",
    withMiddle({ extensions: [access("1.3.6.1.5.5.7.48.1")] }),
    /certificate "middle" names revocation lists/,
  ),
  chained("expired", withLeaf({ until: "2021-01-01T00:00:00" }), /certificate "leaf" is not valid now/),
  chained("valid later", withMiddle({ from: "2098-01-01T00:00:00" }), /certificate "middle" is not valid now/),
  chained("in another order", [leaf, root, middle], /"leaf" is not signed by the next one/),
  chained("without its root", [leaf, middle], /"middle" is not signed by itself/),
  chained("root twice", [leaf, middle, root, root], /"root" is self-signed, and not the chain's last/),
  chained(
    "of another issuer",
    [certificate({ name: "leaf", issuer: { ...middle, key: ecKeys().privateKey } }), middle, root],
    /"leaf" is not signed by the next one/,
  ),
  chained("SHA-1", withLeaf({ hash: "sha1" }), /"leaf" is not signed by the next one.*SHA-256/),
  chained("alone with SHA-1", alone({ hash: "sha1" }), /"alone" is not signed by itself.*SHA-256/, { differs: true }),
  chained(
    "issuer that is none",
    withMiddle({ authority: false, usage: [1, 0x06] }),
    /"middle" is not one of an authority/,
  ),
  chained("issuer that may not sign", withMiddle({ usage: [1, 0x02] }), /"middle" is not for signing certificates/),
  chained("issuer without usage", withMiddle({ usage: "none" }), /"middle" has no key usage/),
  chained(
    "too long",
    (() => {
      const low = certificate({ name: "low", authority: true, issuer: middle });
      return [certificate({ name: "leaf", issuer: low }), low, middle, root];
    })(),
    /"middle" permits no chain of this length/,
  ),
  chained(
    "signer that is an authority",
    withLeaf({ authority: true, usage: [7, 0x80] }),
    /"leaf" is one of an authority/,
  ),
  chained("signer without usage", withLeaf({ usage: "none" }), /"leaf" has no key usage that is critical/),
  chained(
    "usage that is not critical",
    withLeaf({ usageIsCritical: false }),
    /"leaf" has no key usage that is critical/,
  ),
  chained("signer that does not sign", withLeaf({ usage: [6, 0x40] }), /"leaf" is not for digital signatures only/),
  chained("signer that enciphers, too", withLeaf({ usage: [5, 0xa0] }), /"leaf" is not for digital signatures only/),
  chained(
    "signer that deciphers only",
    withLeaf({ usage: [7, 0x80, 0x80] }),
    /"leaf" is not for digital signatures only/,
  ),
  chained("server", withLeaf({ purposes: [CODE_SIGNING, "1.3.6.1.5.5.7.3.1"] }), /"leaf" has extended key usages/),
  chained("stamper as signer", withLeaf({ purposes: [TIME_STAMPING] }), /"leaf" has extended key usages/),
  chained("Ed25519", withKeys(generateKeyPairSync("ed25519")), /key of an unknown kind or size/),
  chained("RSA 2304", withKeys(rsaKeys(2304)), /key of an unknown kind or size/),
];

/** Timestamps. */
export const TIMESTAMPS: readonly NotationCase[] = [
  stamped("right", {}),
  stamped("names its certificate's issuer", { issuerSerial: stamper() }, /certificate is missing, or another one/),
  (() => {
    const signer = stamper();
    return stamped("names its certificate's issuer rightly", { signer, issuerSerial: signer });
  })(),
  stamped("RSA, plain algorithm", { signer: stamper({ keys: rsaKeys(2048) }), plain: true }),
  stamped("SHA-384", { hash: "sha384", imprintHash: "sha384" }),
  stamped("time with fraction and accuracy", {
    time: "20240501100001.25Z",
    accuracy: der(SEQUENCE, der(2, Buffer.from([1])), der(0x80, Buffer.from([100]))),
  }),
  stamped("signing time", { attributes: { "1.2.840.113549.1.9.5": der(0x17, Buffer.from("240501100001Z")) } }),
  stamped("without its issuer", { others: [] }, /authority is not in tsaCerts/),
  (() => {
    const signer = certificate({ name: "stamper", purposes: [TIME_STAMPING], purposesAreCritical: true });
    return stamped("self-signed", { signer, others: [] }, undefined, { tsaCerts: pemOf(signer) });
  })(),
  (() => {
    const own = certificate({ name: "leaf", issuer: middle, until: "2024-12-01T00:00:00" });
    return made("certificate that has expired since", { chain: [own, middle, root], timestamp: stamp() }, undefined, {
      tsaCerts: pemOf(stampRoot),
    });
  })(),

  made("none", {}, /has no timestamp/, { tsaCerts: pemOf(stampRoot) }),
  stamped("another authority", {}, /authority is not in tsaCerts/, { tsaCerts: pemOf(other) }),
  stamped("authority's intermediate trusted", {}, /"stamp middle" is not signed by itself/, {
    tsaCerts: pemOf(stampMiddle, stampRoot),
  }),
  stamped("signature flipped", { spoil: flip }, /timestamp is not made with its certificate's key/),
  made(
    "about another message",
    { timestamp: () => stamp()(Buffer.from("other")) },
    /timestamp is about another signature/,
    { tsaCerts: pemOf(stampRoot) },
  ),
  made("no token", { timestamp: () => Buffer.from("no token") }, /can't be read \(BadDer\)/, {
    tsaCerts: pemOf(stampRoot),
  }),
  stamped("SHA-1", { imprintHash: "sha1" }, /hash other than SHA-256/),
  stamped("another version", { version: 2 }, /content has an unknown version/),
  stamped("another signer's version", { signerVersion: 3 }, /signer has an unknown version/),
  stamped("no signer", { signers: 0 }, /does not have one signer/),
  stamped("two signers", { signers: 2 }, /does not have one signer/, { differs: true }),
  stamped("no digest", { attributes: { "1.2.840.113549.1.9.4": undefined } }, /a part is missing/),
  stamped(
    "another content type",
    { attributes: { "1.2.840.113549.1.9.3": oid("1.2.840.113549.1.7.1") } },
    /content is not the signed one/,
  ),
  stamped(
    "no certificate named",
    { attributes: { "1.2.840.113549.1.9.16.2.47": undefined } },
    /does not sign which certificate/,
  ),
  stamped(
    "signing time before the certificate",
    { attributes: { "1.2.840.113549.1.9.5": der(0x17, Buffer.from("190501100001Z")) } },
    /certificates were not valid at its time/,
  ),
  stamped(
    "stamper expired",
    { signer: stamper({ until: "2021-01-01T00:00:00" }) },
    /certificates were not valid at its time/,
  ),
  stamped(
    "stamper for all",
    { signer: stamper({ purposes: [TIME_STAMPING, CODE_SIGNING] }) },
    /extended key usages not for timestamps/,
  ),
  stamped(
    "purpose that is not critical",
    { signer: stamper({ purposesAreCritical: false }) },
    /extended key usages not for timestamps/,
  ),
  stamped("code signer", { signer: stamper({ purposes: [CODE_SIGNING] }) }, /authority is not for timestamps/),
  stamped(
    "stamper with a revocation list",
    { signer: stamper({ extensions: [CRL] }) },
    /"stamper" names revocation lists/,
  ),
  stamped("unknown critical extension", { signer: stamper({ extensions: [UNKNOWN] }) }, /UnsupportedCriticalExtension/),
  made(
    "certificate expired before",
    { chain: withLeaf({ until: "2024-04-01T00:00:00" }), timestamp: stamp() },
    /"leaf" is not valid at the time of its timestamp/,
    { tsaCerts: pemOf(stampRoot) },
  ),
  made(
    "accuracy beyond the certificate",
    {
      chain: withLeaf({ until: "2024-05-01T10:00:05" }),
      timestamp: stamp({ accuracy: der(SEQUENCE, der(2, Buffer.from([10]))) }),
    },
    /"leaf" is not valid at the time of its timestamp/,
    { tsaCerts: pemOf(stampRoot) },
  ),
  made(
    "baseline policy's second",
    { chain: withLeaf({ until: "2024-05-01T10:00:01" }), timestamp: stamp({ policy: "0.4.0.2023.1.1" }) },
    /"leaf" is not valid at the time of its timestamp/,
    { tsaCerts: pemOf(stampRoot) },
  ),
];

/** The certificate that is trusted unless a case says otherwise. */
export const TRUSTED = pemOf(root);
