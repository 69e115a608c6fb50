/** Cosign attestors, prepared for the check of signatures: keys and certificates are read once (spec kyverno.md 9). */
import { createHash, type KeyObject } from "node:crypto";
import type { TrustMaterial } from "@sigstore/verify";
import { LRUCache } from "lru-cache";
import { readPublicKey } from "../../config/public-key.js";
import { parsePlainJson } from "../../data/json.js";
import { hasMoreValues } from "../../data/json-values.js";
import { type Certificate, readCertificate } from "../../x509/certificate.js";
import { hasGoodLength, keyOf } from "../../x509/signature.js";
import { parseImageReference } from "../image-reference.js";
import { MAX_ANSWER_VALUES } from "../limits.js";
import type { CosignAttestor } from "./attestor.js";
import {
  type Authority,
  authorityOf,
  CODE_SIGNING,
  checkCertificate,
  inOrder,
  isFor,
  stampedAt,
  type Trust,
  trustOf,
} from "./certificate-chain.js";
import { signatureFits } from "./layer-verification.js";
import { checkLogged, derOf } from "./log-entry.js";
import { isIssued } from "./notation-certificates.js";
import type { Claimed, Signature } from "./signature-layer.js";
import { checkIdentity, identityTest } from "./signer-identity.js";
import { SignatureProblem } from "./statement.js";
import type { TrustRoot } from "./trust-root.js";

/** Most prepared attestors that are kept. */
export const MAX_SIGNERS = 200;
/** Largest trusted root of an attestor, in bytes, as in Kyverno, and most certificates and keys in it. */
export const MAX_TRUSTED_ROOT = 1024 * 1024;
export const MAX_TRUSTED_PARTS = 200;
/** Most certificates or keys in one text of an attestor. */
export const MAX_CERTIFICATES = 12;

const HASHES: readonly string[] = ["sha224", "sha256", "sha384", "sha512"];
const PUBLIC_KEY = /^[^-]*-----BEGIN (?:RSA )?PUBLIC KEY-----/;
const KEY_TYPES: ReadonlySet<string | undefined> = new Set(["rsa", "ed25519", "prime256v1", "secp384r1", "secp521r1"]);
const BLOCKS = /-----BEGIN ([A-Z ]+)-----[^-]*-----END \1-----/g;
const ALWAYS = { start: new Date(0), end: new Date(8.64e15) };

/** The key and the certificate of a signature, before anything is verified. */
interface Claimant {
  readonly key: KeyObject;
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: Buffer;
  /** The certificate whose time and issuer count; absent for keys. */
  readonly certificate?: Certificate;
}

/** The check of signatures against one attestor. */
export type CosignSigner = Awaited<ReturnType<typeof prepared>>;

const signers = new LRUCache<string, CosignSigner>({ max: MAX_SIGNERS });
/** Those of attestors that are the same for all requests. */
const ofAttestors = new WeakMap<CosignAttestor, CosignSigner>();

/**
 * The signer of an attestor, kept for the next signatures.
 * @throws SignatureProblem with what is wrong in the attestor
 */
export async function signerOf(attestor: CosignAttestor): Promise<CosignSigner> {
  const known = ofAttestors.get(attestor);
  if (known !== undefined) return known;
  const name = createHash("sha256").update(JSON.stringify(attestor)).digest("base64");
  const signer = signers.get(name) ?? (await prepared(attestor));
  signers.set(name, signer);
  ofAttestors.set(attestor, signer);
  return signer;
}

async function prepared(attestor: CosignAttestor) {
  const { key: given, certificate: pair, keyless, ctlog = {}, source, annotations = {} } = attestor;
  const hash = given?.hashAlgorithm || undefined;
  if (hash !== undefined && !HASHES.includes(hash)) throw wrong("key.hashAlgorithm", `is none of ${HASHES.join(", ")}`);
  const key = keyless || !given ? undefined : publicKeyIn("key.data", given.data ?? "");
  const own = keyless || given || !pair?.cert ? undefined : certificatesIn("certificate.cert", pair.cert)[0];
  const chain = (name: string, text: string) => reading(name, () => authorityOf(inOrder(certificatesIn(name, text))));
  const isChained = own === undefined || Boolean(pair?.certChain);
  if (!key && !own && !keyless && !pair?.certChain) throw wrong("cosign", "has neither key, keyless nor certificate");
  const roots = keyless?.roots
    ? reading("keyless.roots", () => certificatesIn("keyless.roots", keyless.roots!).map((root) => authorityOf([root])))
    : !keyless && pair?.certChain && [chain("certificate.certChain", pair.certChain)];
  const logs = logsIn("ctlog.rekorPubKey", ctlog.rekorPubKey);
  const certificateLogs = logsIn("ctlog.ctLogPubKey", ctlog.ctLogPubKey);
  const stamps = ctlog.tsaCertChain ? [chain("ctlog.tsaCertChain", ctlog.tsaCertChain)] : [];
  const fits = await identityTest(keyless?.identities);
  const trusted = attestor.trustedRoot ? await trustedRootIn(attestor.trustedRoot) : undefined;
  const trustFrom = async (trustRoot: TrustRoot) => trusted ?? trustOf(await trustRoot());
  /** Own roots are often written without what they have issued: the trust root's chains to them count, too. */
  const issuersOf = async (certificate: Certificate, trustRoot: TrustRoot): Promise<readonly Authority[]> => {
    if (roots && (!keyless || roots.some(({ chain }) => isIssued(certificate, chain[0]!)))) return roots;
    const { issuers } = await trustFrom(trustRoot);
    const isOwn = (top: Certificate) => (roots || []).some(({ chain }) => chain[0]?.der.equals(top.der));
    return roots ? issuers.filter(({ chain }) => isOwn(chain.at(-1)!)) : issuers;
  };
  const requiresLog = ctlog.insecureIgnoreTlog !== true;
  const isProven = isChained && ctlog.insecureIgnoreSCT !== true;

  if (!/^(?:\w[\w.-]{0,50})?$/.test(source?.tagPrefix ?? "")) throw wrong("source.tagPrefix", "can't begin a tag");
  const keyed = key && { key, publicKey: key.export({ type: "spki", format: "der" }) };
  return {
    /** The repository of its signatures; absent: that of the image. */
    place: source?.repository ? reading("source.repository", () => parseImageReference(source.repository!)) : undefined,
    /**
     * The signer that a signature names, if it can be the wanted one: the cheapest check.
     * @throws SignatureProblem when it is another one
     */
    claimant({ certificate: pem, log }: Claimed, isBundle: boolean): Claimant {
      if (requiresLog && log === undefined) throw new SignatureProblem("it has no entry of a transparency log");
      const read = pem === undefined ? undefined : certificateIn(pem);
      if (keyed !== undefined) {
        if (read === undefined || (!isBundle && read.publicKey.equals(keyed.publicKey))) return keyed;
        throw new SignatureProblem("it is signed with a certificate, and not with the key of the attestor");
      }
      if (own !== undefined && read !== undefined && !read.der.equals(own.der))
        throw new SignatureProblem("it is signed with another certificate");
      const certificate = own ?? read;
      if (certificate === undefined) throw new SignatureProblem("it is signed with a key, and has no certificate");
      if (own === undefined && !isFor(certificate, CODE_SIGNING, true))
        throw new SignatureProblem("its certificate is not for signatures");
      if (own === undefined) checkIdentity(certificate, fits, keyless?.additionalExtensions);
      const certified = keyOf(certificate);
      if (!isKnown(certified)) throw new SignatureProblem("its certificate has a key of an unknown kind or size");
      return { key: certified, publicKey: certificate.publicKey, certificate };
    },
    /**
     * Checks everything else of a signature.
     * @throws SignatureProblem when it does not count
     * @throws FetchError when the trust root is needed and can't be had
     */
    async check(
      signature: Signature,
      digest: string,
      claimant: Claimant,
      trustRoot: TrustRoot,
      turn: () => Promise<void>,
    ): Promise<void> {
      if (signature.imageDigest !== digest) throw new SignatureProblem("it is about another image");
      for (const [name, value] of Object.entries(annotations))
        if (!Object.hasOwn(signature.annotations, name) || signature.annotations[name] !== value)
          throw new SignatureProblem(`its signed annotations do not say ${JSON.stringify(name)} as wanted`);
      if (!signatureFits(signature, claimant.key, hash))
        throw new SignatureProblem("its signature does not fit its content and signer");
      await turn();
      const bundle = await readingEntry(signature);
      const times: number[] = [];
      if (requiresLog) {
        const known = logs ?? (await trustFrom(trustRoot)).material.tlogs;
        times.push(...(await checkLogged(signature, bundle, claimant.publicKey, known, logs !== undefined)));
        await turn();
      }
      const { certificate } = claimant;
      if (stamps.length > 0 || (certificate !== undefined && times.length === 0)) {
        const others = key !== undefined && !requiresLog ? [] : (await trustFrom(trustRoot)).stamps;
        const stamped = stampedAt(signature, bundle, [...stamps, ...others]);
        if (stamps.length > 0 && signature.isBundle && stamped.length === 0)
          throw new SignatureProblem("it has no timestamp of the attestor's authority");
        times.push(...stamped);
        await turn();
      }
      if (certificate === undefined) return;
      // A given certificate needs no time that others have seen; nor does any when the log is ignored.
      if (times.length === 0 && (!requiresLog || own !== undefined)) times.push(Date.now());
      const issuers = isChained ? await issuersOf(certificate, trustRoot) : undefined;
      const proofs = isProven ? (certificateLogs ?? (await trustFrom(trustRoot)).material.ctlogs) : undefined;
      checkCertificate(certificate, times, issuers, proofs);
    },
  };
}

async function readingEntry({ bundle }: Signature) {
  try {
    return await bundle();
  } catch {
    throw new SignatureProblem("its log entry can't be read");
  }
}

function certificateIn(pem: string): Certificate {
  try {
    return readCertificate(derOf(pem));
  } catch {
    throw new SignatureProblem("its certificate can't be read");
  }
}

const wrong = (member: string, why: string) => new SignatureProblem(`${member} of the attestor ${why}`);

/** The result of reading a member of an attestor. */
function reading<T>(member: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof SignatureProblem ? error : wrong(member, "can't be read");
  }
}

function blocksIn(member: string, pem: string): readonly string[] {
  const blocks = pem.match(BLOCKS) ?? [];
  if (blocks.length > MAX_CERTIFICATES) throw wrong(member, `has more than ${MAX_CERTIFICATES} parts`);
  if (blocks.length === 0) throw wrong(member, "is not a text in PEM");
  return blocks;
}

function publicKeyIn(member: string, pem: string): KeyObject {
  const key = PUBLIC_KEY.test(pem) ? readPublicKey(pem) : undefined;
  if (key !== undefined && isKnown(key)) return key;
  throw wrong(member, "is not a public key in PEM for ECDSA (P-256, P-384, P-521), RSA (2048 bits or more) or Ed25519");
}

/** Whether a key is of a kind and size that counts. */
const isKnown = ({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): boolean =>
  KEY_TYPES.has(asymmetricKeyDetails.namedCurve ?? asymmetricKeyType) && hasGoodLength({ asymmetricKeyDetails });

/** Certificates, which may be written in Base64 once more. */
function certificatesIn(member: string, text: string): readonly Certificate[] {
  const pem = text.includes("-----") ? text : Buffer.from(text, "base64").toString("utf8");
  const blocks = blocksIn(member, pem);
  return reading(member, () => blocks.map((block) => readCertificate(derOf(block))));
}

/** Logs of given keys, which have no names. */
function logsIn(member: string, pem = ""): TrustMaterial["tlogs"] | undefined {
  if (pem === "") return undefined;
  return blocksIn(member, pem).map((block) => {
    const publicKey = publicKeyIn(member, block);
    const der = publicKey.export({ type: "spki", format: "der" });
    return { baseURL: "", logID: createHash("sha256").update(der).digest(), publicKey, validFor: ALWAYS };
  });
}

async function trustedRootIn(text: string): Promise<Trust> {
  const member = "trustedRoot";
  if (Buffer.byteLength(text) > MAX_TRUSTED_ROOT) throw wrong(member, `has more than ${MAX_TRUSTED_ROOT} bytes`);
  if (hasMoreValues(text, MAX_ANSWER_VALUES) || (text.match(/"rawBytes"/g) ?? []).length > MAX_TRUSTED_PARTS)
    throw wrong(member, `has more than ${MAX_TRUSTED_PARTS} certificates and keys`);
  const { TrustedRoot } = await import("@sigstore/protobuf-specs");
  const { toTrustMaterial } = await import("@sigstore/verify");
  return reading(member, () => trustOf(toTrustMaterial(TrustedRoot.fromJSON(parsePlainJson(text)))));
}
