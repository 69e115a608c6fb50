/** Entries of transparency logs, verified offline: those of Rekor 1 and 2 (spec kubewarden.md 1.8). */
import { createHash } from "node:crypto";
import type { Bundle, TransparencyLogEntry } from "@sigstore/bundle";
import type { TrustMaterial, VerificationError } from "@sigstore/verify";
import { parsePlainJson } from "../../data/json.js";
import { loadedOnce } from "../../data/loaded-once.js";
import { at, type Signature } from "./signature-layer.js";
import { SignatureProblem } from "./statement.js";

/** Sigstore's check of entries alone: what the library exports checks certificates, too, at twenty times the cost of ours. */
const library = loadedOnce(() => import("@sigstore/verify/dist/tlog/index.js"));

/** Reasons, by messages and codes of Sigstore's library. */
const REASONS: Readonly<Record<string, string>> = {
  TLOG_INCLUSION_PROMISE_ERROR: "the promise of its log entry (SET) is not right",
  TLOG_INCLUSION_PROOF_ERROR: "the proof of its log entry is not right",
  TLOG_MISSING_INCLUSION_ERROR: "its log entry is neither promised nor proven",
  "invalid checkpoint signature": "the checkpoint of its log entry is not signed by the log",
};

/** By kind and version: the bytes whose digest is in an entry, and the places of its signature, digest and signer below `spec`. */
const ENTRIES: Readonly<Record<string, string>> = {
  "hashedrekord 0.0.1": "payload signature.content data.hash.value signature.publicKey.content",
  "hashedrekord 0.0.2":
    "payload hashedRekordV002.signature.content hashedRekordV002.data.digest hashedRekordV002.signature.verifier",
  "dsse 0.0.1": "statement signatures.0.signature payloadHash.value signatures.0.verifier",
  "dsse 0.0.2": "statement dsseV002.signatures.0.content dsseV002.payloadHash.digest dsseV002.signatures.0.verifier",
  // It does not have the signature, which is in the envelope.
  "intoto 0.0.1": "envelope - content.hash.value publicKey",
  "intoto 0.0.2":
    "statement content.envelope.signatures.0.sig content.payloadHash.value content.envelope.signatures.0.publicKey",
};
/** Most entries of a signature: each is verified. */
export const MAX_ENTRIES = 8;
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
  const { verifyTLogInclusion } = await library();
  const entries: TransparencyLogEntry[] = bundle.verificationMaterial.tlogEntries;
  if (entries.length > MAX_ENTRIES) throw new SignatureProblem(`it has more than ${MAX_ENTRIES} log entries`);
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
  const signers = inclusionProof?.checkpoint?.envelope.matchAll(/\u2014 (\S+) /g) ?? [];
  const baseURL = [...signers].map(([, name]) => name).join(" ");
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
  const [of, ...places] = (ENTRIES[`${kind} ${version}`] ?? "").split(" ");
  if (of === "" || at(body, "kind") !== kind || at(body, "apiVersion") !== version)
    throw new SignatureProblem("its log entry is of another kind");
  const read = (place: string) => at(body, "spec", ...place.split("."));
  const [signed, digest, signer] = places.map(read);
  const second = places[0]!.replace("signatures.0", "signatures.1");
  const hasMore = second !== places[0] && read(second) !== undefined;
  const written = kind === "intoto" ? Buffer.from(String(signed), "base64").toString("latin1") : String(signed);
  if (hasMore || (of !== "envelope" && !Buffer.from(written, "base64").equals(signature)))
    throw new SignatureProblem("its log entry is of another signature");
  const statement = content.$case === "dsseEnvelope" ? content.dsseEnvelope.payload : undefined;
  const bytes = of === "payload" ? payload : of === "statement" ? statement : envelope;
  // Rekor 2 has its digests in Base64.
  const hash = Buffer.from(String(digest), places[1]!.includes("V002") ? "base64" : "hex");
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

/** The content of a text in PEM: of its first part. */
export const derOf = (pem: string): Buffer => Buffer.from(pem.split(/-----[^-]*-----/, 2)[1] ?? "", "base64");
