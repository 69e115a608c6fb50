/** Entries of transparency logs, verified offline: those of Rekor 1 and 2 (spec kubewarden.md 1.8). */
import { createHash, type KeyObject } from "node:crypto";
import type { Bundle } from "@sigstore/bundle";
import type { TrustMaterial, VerificationError } from "@sigstore/verify";
import { parsePlainJson } from "../../data/json.js";
import { withoutKey } from "./layer-verification.js";
import { at, type Signature } from "./signature-layer.js";
import { SignatureProblem } from "./statement.js";

type Entry = Bundle["verificationMaterial"]["tlogEntries"][number];

/** Reasons, by codes of Sigstore's library. */
const REASONS: Readonly<Record<string, string>> = {
  TLOG_INCLUSION_PROMISE_ERROR: "the promise of its log entry (SET) is not right",
  TLOG_INCLUSION_PROOF_ERROR: "the proof of its log entry is not right",
  TLOG_MISSING_INCLUSION_ERROR: "its log entry is neither promised nor proven",
  "invalid checkpoint signature": "the checkpoint of its log entry is not signed by the log",
  "tlog entry signature mismatch": "its log entry is of another signature",
  "signature mismatch": "its log entry is of another signature",
  "DSSE payload hash mismatch": "its log entry is of another payload",
  "digest mismatch": "its log entry is of another payload",
  TLOG_BODY_ERROR: "its log entry is of another kind",
};

/**
 * Checks that a trusted log has an entry of a signature.
 * @param signer its key, and that in DER
 * @param areGiven whether the logs are keys without names: the names in an entry count, since its signature is verified all the same
 * @returns the times that logs have promised, in milliseconds since 1970
 * @throws SignatureProblem when none has
 */
export async function checkLogged(
  layer: Signature,
  bundle: Bundle,
  { key, publicKey: spki }: { readonly key: KeyObject; readonly publicKey: Buffer },
  logs: TrustMaterial["tlogs"],
  areGiven: boolean,
): Promise<readonly number[]> {
  const { toSignedEntity, Verifier } = await import("@sigstore/verify");
  const entries: Entry[] = bundle.verificationMaterial.tlogEntries;
  const known = entries
    .map((entry) => ({
      entry,
      tlogs: areGiven ? named(entry, logs) : logs.filter(({ logID }) => logID.equals(entry.logId.keyId)),
    }))
    .filter(({ tlogs }) => tlogs.length > 0);
  if (known.length === 0) throw new SignatureProblem("its log entry is of a log that is not trusted");
  const { timestampVerificationData: _, ...material } = bundle.verificationMaterial;
  const unstamped = { ...bundle, verificationMaterial: { ...material, timestampVerificationData: undefined } };
  const entity = toSignedEntity(withoutKey(unstamped as Bundle), layer.payload);
  const own = entity.signature;
  let signed: Buffer | undefined;
  const isOfPayload = (digest: Buffer) => {
    if (own.compareDigest(digest)) return true;
    // Rekor 2 knows the digest of the signed bytes, and not of the statement in them.
    signed ??= createHash("sha256").update(layer.payload).digest();
    return signed.equals(digest);
  };
  const signature = Object.create(own, {
    verifySignature: { value: () => true },
    compareDigest: { value: isOfPayload },
  }) as typeof own;
  const publicKey = () => ({ publicKey: key, validFor: () => true });
  for (const { entry, tlogs } of known) {
    checkKey(entry, layer, spki);
    const trust = { certificateAuthorities: [], timestampAuthorities: [], ctlogs: [], tlogs: [...tlogs], publicKey };
    try {
      new Verifier(trust, { timestampThreshold: 0, ctlogThreshold: 0 }).verify({
        ...entity,
        signature,
        timestamps: [],
        tlogEntries: [entry as (typeof entity.tlogEntries)[number]],
      });
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
  { logId: { keyId: logID }, inclusionProof }: Entry,
  logs: TrustMaterial["tlogs"],
): TrustMaterial["tlogs"] {
  const [, baseURL = ""] = /\u2014 (\S+) /.exec(inclusionProof?.checkpoint?.envelope ?? "") ?? [];
  return logs.map((log) => ({ ...log, logID, baseURL }));
}

/** Checks that the entry names the certificate of the signature, or the key where it has none. */
function checkKey({ canonicalizedBody }: Entry, { certificate }: Signature, spki: Buffer): void {
  let signer: Buffer | undefined;
  try {
    signer = keyIn(parsePlainJson(canonicalizedBody.toString("utf8")));
  } catch {
    throw new SignatureProblem("its log entry can't be read");
  }
  const own = certificate === undefined ? spki : derOf(certificate);
  if (signer?.equals(own) !== true) throw new SignatureProblem("its log entry is of another signer");
}

/** The signer's key or certificate in DER, in entries of Rekor 1 (hashedrekord, dsse, intoto) and Rekor 2. */
function keyIn(body: unknown): Buffer | undefined {
  const spec = at(body, "spec");
  const text =
    at(spec, "signature", "publicKey", "content") ??
    at(spec, "signatures", "0", "verifier") ??
    at(spec, "content", "envelope", "signatures", "0", "publicKey");
  if (typeof text === "string") return derOf(Buffer.from(text, "base64").toString("latin1"));
  const verifier =
    at(spec, "hashedRekordV002", "signature", "verifier") ?? at(spec, "dsseV002", "signatures", "0", "verifier");
  const raw = at(verifier, "x509Certificate", "rawBytes") ?? at(verifier, "publicKey", "rawBytes");
  return typeof raw === "string" ? Buffer.from(raw, "base64") : undefined;
}

/** The content of a text in PEM. */
export const derOf = (pem: string): Buffer => Buffer.from(pem.replace(/-----[^-]*-----/g, ""), "base64");
