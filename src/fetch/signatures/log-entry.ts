/** Entries of transparency logs, verified offline: those of Rekor 1 and 2 (spec kubewarden.md 1.8). */
import { createHash } from "node:crypto";
import type { Bundle, TransparencyLogEntry } from "@sigstore/bundle";
import type { TrustMaterial, VerificationError } from "@sigstore/verify";
import { parsePlainJson } from "../../data/json.js";
import { at, type Signature } from "./signature-layer.js";
import { SignatureProblem } from "./statement.js";

/** Reasons, by messages and codes of Sigstore's library. */
const REASONS: Readonly<Record<string, string>> = {
  TLOG_INCLUSION_PROMISE_ERROR: "the promise of its log entry (SET) is not right",
  TLOG_INCLUSION_PROOF_ERROR: "the proof of its log entry is not right",
  TLOG_MISSING_INCLUSION_ERROR: "its log entry is neither promised nor proven",
  "invalid checkpoint signature": "the checkpoint of its log entry is not signed by the log",
};

/** The places of an entry's signature, digest and signer in its `spec`, and the bytes of the digest. */
type Places = readonly [
  of: "signed bytes" | "statement" | "envelope",
  signature: string,
  digest: string,
  signer: string,
];
const PLACES: Readonly<Record<string, Places>> = {
  "hashedrekord 0.0.1": ["signed bytes", "signature.content", "data.hash.value", "signature.publicKey.content"],
  "hashedrekord 0.0.2": [
    "signed bytes",
    "hashedRekordV002.signature.content",
    "hashedRekordV002.data.digest",
    "hashedRekordV002.signature.verifier",
  ],
  "dsse 0.0.1": ["statement", "signatures.0.signature", "payloadHash.value", "signatures.0.verifier"],
  "dsse 0.0.2": [
    "statement",
    "dsseV002.signatures.0.content",
    "dsseV002.payloadHash.digest",
    "dsseV002.signatures.0.verifier",
  ],
  "intoto 0.0.1": ["envelope", "", "content.hash.value", "publicKey"],
  "intoto 0.0.2": [
    "statement",
    "content.envelope.signatures.0.sig",
    "content.payloadHash.value",
    "content.envelope.signatures.0.publicKey",
  ],
};
/** Hashes by the number of their bytes. */
const HASHES: Readonly<Record<number, string>> = { 32: "sha256", 48: "sha384", 64: "sha512" };

/**
 * Checks that a trusted log has an entry of a signature. Entries of other logs don't count.
 * @param publicKey the signer's, SubjectPublicKeyInfo in DER
 * @param areGiven whether the logs are keys without names: the names in an entry count, since its signature is verified all the same
 * @returns the times that logs have promised, in milliseconds since 1970
 * @throws SignatureProblem when none has
 */
export async function checkLogged(
  layer: Signature,
  bundle: Bundle,
  publicKey: Buffer,
  logs: TrustMaterial["tlogs"],
  areGiven: boolean,
): Promise<readonly number[]> {
  // The library's own order of checks reads certificates, at twenty times the cost of this.
  const { verifyTLogInclusion } = await import("@sigstore/verify/dist/tlog/index.js");
  const entries: TransparencyLogEntry[] = bundle.verificationMaterial.tlogEntries;
  const known = entries.flatMap((entry) => {
    const tlogs = areGiven ? named(entry, logs) : logs.filter(({ logID }) => logID.equals(entry.logId.keyId));
    return tlogs.length === 0 ? [] : [{ entry, tlogs }];
  });
  if (known.length === 0) throw new SignatureProblem("its log entry is of a log that is not trusted");
  for (const { entry, tlogs } of known) {
    checkBody(entry, layer, bundle, publicKey);
    try {
      verifyTLogInclusion(entry, tlogs);
    } catch (error) {
      const { code = "", message = "" } = error as Partial<VerificationError>;
      throw new SignatureProblem(REASONS[message] ?? REASONS[code] ?? "its log entry can't be read");
    }
  }
  const promised = known.filter(({ entry }) => entry.inclusionPromise !== undefined && entry.integratedTime !== "0");
  return promised.map(({ entry }) => Number(entry.integratedTime) * 1000);
}

/** Logs with the names that an entry has for its own. */
function named(
  { logId: { keyId: logID }, inclusionProof }: TransparencyLogEntry,
  logs: TrustMaterial["tlogs"],
): TrustMaterial["tlogs"] {
  const [, baseURL = ""] = /\u2014 (\S+) /.exec(inclusionProof?.checkpoint?.envelope ?? "") ?? [];
  return logs.map((log) => ({ ...log, logID, baseURL }));
}

/** Checks that an entry is of this signature, payload, and certificate, or key where there is no certificate. */
function checkBody(
  { canonicalizedBody, kindVersion: { kind, version } }: TransparencyLogEntry,
  { signature, payload, envelope, certificate }: Signature,
  { content }: Bundle,
  publicKey: Buffer,
): void {
  let body: unknown;
  try {
    body = parsePlainJson(canonicalizedBody.toString("utf8"));
  } catch {
    throw new SignatureProblem("its log entry can't be read");
  }
  const places = PLACES[`${kind} ${version}`];
  if (places === undefined || at(body, "kind") !== kind || at(body, "apiVersion") !== version)
    throw new SignatureProblem("its log entry is of another kind");
  const [of, ...paths] = places;
  const read = (path: string) => at(body, "spec", ...path.split("."));
  const [signed, digest, signer] = paths.map(read);
  const written = kind === "intoto" ? Buffer.from(String(signed), "base64").toString("latin1") : String(signed);
  const hasMore =
    places[1].includes("signatures.0") && read(places[1].replace("signatures.0", "signatures.1")) !== undefined;
  if (of !== "envelope" && (hasMore || !Buffer.from(written, "base64").equals(signature)))
    throw new SignatureProblem("its log entry is of another signature");
  const statement = content.$case === "dsseEnvelope" ? content.dsseEnvelope.payload : undefined;
  const bytes = { "signed bytes": payload, statement, envelope }[of];
  const hash = Buffer.from(String(digest), version === "0.0.2" && kind !== "intoto" ? "base64" : "hex");
  if (
    !bytes ||
    !createHash(HASHES[hash.length] ?? "sha256")
      .update(bytes)
      .digest()
      .equals(hash)
  )
    throw new SignatureProblem("its log entry is of another payload");
  const own = certificate === undefined ? publicKey : derOf(certificate);
  if (!signerIn(signer).equals(own)) throw new SignatureProblem("its log entry is of another signer");
}

/** The signer in an entry: a certificate or key, in DER. */
function signerIn(written: unknown): Buffer {
  if (typeof written === "string") return derOf(Buffer.from(written, "base64").toString("latin1"));
  const raw = at(written, "x509Certificate", "rawBytes") ?? at(written, "publicKey", "rawBytes");
  return Buffer.from(String(raw), "base64");
}

/** The content of a text in PEM. */
export const derOf = (pem: string): Buffer => Buffer.from(pem.replace(/-----[^-]*-----/g, ""), "base64");
