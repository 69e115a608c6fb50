/** Signatures of certificates, with the algorithms that the reference implementation's library accepts: none older than SHA-256. */
import { constants, createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Certificate } from "./certificate.js";
import { DerReader, TAG } from "./der.js";
import { CertificateProblem } from "./problem.js";

interface Algorithm {
  /** The kind of the key, by Node's name. */
  readonly key: "rsa" | "ec" | "ed25519";
  readonly hash: string | null;
  readonly pss?: true;
}

const PSS = "06092a864886f70d01010a";
/** RSASSA-PSS' parameters: the same hash for all purposes, salt as long as the hash. */
function pssParameters(hash: string, salt: string): string {
  const algorithm = `300d060960864801650304${hash}0500`;
  return `${PSS}3034a00f${algorithm}a11c301a06092a864886f70d010108${algorithm}a2030201${salt}`;
}

/** The algorithms by the content of the AlgorithmIdentifier, in hexadecimal. */
const ALGORITHMS: Readonly<Record<string, Algorithm>> = {
  "06092a864886f70d01010b0500": { key: "rsa", hash: "sha256" },
  "06092a864886f70d01010c0500": { key: "rsa", hash: "sha384" },
  "06092a864886f70d01010d0500": { key: "rsa", hash: "sha512" },
  "06092a864886f70d01010b": { key: "rsa", hash: "sha256" },
  "06092a864886f70d01010c": { key: "rsa", hash: "sha384" },
  "06092a864886f70d01010d": { key: "rsa", hash: "sha512" },
  [pssParameters("0201", "20")]: { key: "rsa", hash: "sha256", pss: true },
  [pssParameters("0202", "30")]: { key: "rsa", hash: "sha384", pss: true },
  [pssParameters("0203", "40")]: { key: "rsa", hash: "sha512", pss: true },
  "06082a8648ce3d040302": { key: "ec", hash: "sha256" },
  "06082a8648ce3d040303": { key: "ec", hash: "sha384" },
  "06082a8648ce3d040304": { key: "ec", hash: "sha512" },
  "06032b6570": { key: "ed25519", hash: null },
};

/** The kinds of keys by the content of a key's AlgorithmIdentifier. */
const KEYS: Readonly<Record<string, Algorithm["key"]>> = {
  "06092a864886f70d0101010500": "rsa",
  "06072a8648ce3d020106082a8648ce3d030107": "ec",
  "06072a8648ce3d020106052b81040022": "ec",
  "06072a8648ce3d020106052b81040023": "ec",
  "06032b6570": "ed25519",
};

/** Most keys that are kept, and signatures that have been found right: a chain's authorities are the same for most of its certificates. */
const MAX_KEPT = 500;
const keys = new LRUCache<string, KeyObject>({ max: MAX_KEPT });
const right = new LRUCache<string, true>({ max: MAX_KEPT });

/** Bits of an RSA key: fewer are too weak, more too slow. */
const SHORTEST_RSA = 2048;
const LONGEST_RSA = 8192;

/**
 * Checks that a certificate, or a request for one, was signed with this key.
 * @param publicKey SubjectPublicKeyInfo, DER
 * @throws CertificateProblem
 */
export function checkSignature(
  { signed, signature, signatureAlgorithm }: Pick<Certificate, "signed" | "signature" | "signatureAlgorithm">,
  publicKey: Buffer,
): void {
  const algorithm = ALGORITHMS[signatureAlgorithm.toString("hex")];
  if (algorithm === undefined) throw new CertificateProblem("UnsupportedSignatureAlgorithm");
  const kind = new DerReader(new DerReader(publicKey).expect(TAG.sequence)).expect(TAG.sequence).toString("hex");
  if (KEYS[kind] !== algorithm.key) throw new CertificateProblem("UnsupportedSignatureAlgorithmForPublicKey");
  const question = createHash("sha256");
  for (const part of [signed, signature, signatureAlgorithm, publicKey])
    question.update(`${part.length} `).update(part);
  const name = question.digest("base64");
  if (right.has(name)) return;
  if (!isSigned(signed, signature, algorithm, publicKey)) throw new CertificateProblem("InvalidSignatureForPublicKey");
  right.set(name, true);
}

/**
 * The key of a certificate. Reading one takes twice as long as a signature with it.
 * @throws an error for a key that can't be read
 */
export function keyOf({ publicKey }: Pick<Certificate, "publicKey">): KeyObject {
  const name = publicKey.toString("latin1");
  const key = keys.get(name) ?? createPublicKey({ key: publicKey, format: "der", type: "spki" });
  keys.set(name, key);
  return key;
}

function isSigned(signed: Buffer, signature: Buffer, { hash, pss }: Algorithm, publicKey: Buffer): boolean {
  try {
    const key = keyOf({ publicKey });
    if (!hasGoodLength(key)) return false;
    const padding = pss
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
      : {};
    return verify(hash, signed, { key, ...padding }, signature);
  } catch {
    return false;
  }
}

/** Whether a key is long enough where it is one of RSA, and not too long. */
export function hasGoodLength({ asymmetricKeyDetails }: Pick<KeyObject, "asymmetricKeyDetails">): boolean {
  const { modulusLength = SHORTEST_RSA } = asymmetricKeyDetails ?? {};
  return modulusLength >= SHORTEST_RSA && modulusLength <= LONGEST_RSA;
}
