/** Signatures of certificates, with the algorithms that the reference implementation's library accepts: none older than SHA-256. */
import { constants, createPublicKey, type KeyObject, verify } from "node:crypto";
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
  if (!isSigned(signed, signature, algorithm, publicKey)) throw new CertificateProblem("InvalidSignatureForPublicKey");
}

function isSigned(signed: Buffer, signature: Buffer, { hash, pss }: Algorithm, publicKey: Buffer): boolean {
  try {
    const key = createPublicKey({ key: publicKey, format: "der", type: "spki" });
    if (!hasGoodLength(key)) return false;
    const padding = pss
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
      : {};
    return verify(hash, signed, { key, ...padding }, signature);
  } catch {
    return false;
  }
}

function hasGoodLength({ asymmetricKeyDetails }: KeyObject): boolean {
  const { modulusLength = SHORTEST_RSA } = asymmetricKeyDetails ?? {};
  return modulusLength >= SHORTEST_RSA && modulusLength <= LONGEST_RSA;
}
