/** A cosign attestor, prepared for the check of signatures: keys and certificates are read once (spec kyverno.md 9). */
import { createHash, type KeyObject } from "node:crypto";
import type { Bundle } from "@sigstore/bundle";
import type { TrustMaterial } from "@sigstore/verify";
import { LRUCache } from "lru-cache";
import { readPublicKey } from "../../config/public-key.js";
import { hasMoreValues } from "../../data/json-values.js";
import { parseImageReference } from "../image-reference.js";
import { MAX_ANSWER_VALUES } from "../limits.js";
import type { CosignAttestor } from "./attestor.js";
import {
  type Authority,
  authoritiesIn,
  authorityOf,
  CODE_SIGNING,
  isProven,
  issuerAt,
  type Read,
  readCertificate,
  timeOf,
} from "./certificate-chain.js";
import { isValidAt, signatureFits } from "./layer-verification.js";
import { checkLogged, type TransparencyLogs } from "./log-entry.js";
import type { Claimed, Signature } from "./signature-layer.js";
import { checkIdentity, identityTest } from "./signer-identity.js";
import { SignatureProblem } from "./statement.js";
import type { TrustRoot } from "./trust-root.js";

/** Most prepared attestors that are kept. */
export const MAX_SIGNERS = 200;
/** Largest trusted root of an attestor, in bytes, as in Kyverno, and most certificates and keys in it: each takes a tenth of a millisecond to read. */
export const MAX_TRUSTED_ROOT = 1024 * 1024;
export const MAX_TRUSTED_PARTS = 200;
/** Most certificates in one text of an attestor, as in Kyverno: ten between a certificate and its root. */
export const MAX_CERTIFICATES = 12;
/** Most timestamps and log entries of one signature: each is verified. */
export const MAX_PROOFS = 8;

const HASHES: readonly string[] = ["sha224", "sha256", "sha384", "sha512"];
const PUBLIC_KEY = /^\s*-----BEGIN (?:RSA )?PUBLIC KEY-----/;
const KEY_TYPES: ReadonlySet<string | undefined> = new Set(["ec", "rsa", "ed25519"]);
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** The trust of a signer, of which the server's trust root is asked for what the attestor does not say. */
interface Trust {
  readonly material: TrustMaterial;
  readonly authorities: readonly Authority[];
  readonly timestampAuthorities: readonly Authority[];
}
const trusts = new WeakMap<TrustMaterial, Trust>();

function trustOf(material: TrustMaterial): Trust {
  const trust = trusts.get(material) ?? {
    material,
    authorities: authoritiesIn(material.certificateAuthorities, false),
    timestampAuthorities: authoritiesIn(material.timestampAuthorities, true),
  };
  trusts.set(material, trust);
  return trust;
}

/** The key and the certificate of a signature, before anything is verified. */
interface Claimant {
  readonly key: KeyObject;
  readonly hash?: string;
  /** The certificate whose time and chain count; absent for keys. */
  readonly certificate?: Read;
}

const signers = new LRUCache<string, CosignSigner>({ max: MAX_SIGNERS });

/**
 * The signer of an attestor, kept for the next signatures.
 * @throws SignatureProblem with what is wrong in the attestor
 */
export async function signerOf(attestor: CosignAttestor): Promise<CosignSigner> {
  const name = createHash("sha256").update(JSON.stringify(attestor)).digest("base64");
  const kept = signers.get(name);
  if (kept !== undefined) return kept;
  const signer = await CosignSigner.prepare(attestor);
  signers.set(name, signer);
  return signer;
}

/** An attestor with what was read of it. */
interface Parts {
  readonly core: typeof import("@sigstore/core");
  readonly attestor: CosignAttestor;
  /** A key in place of certificates. */
  readonly key: KeyObject | undefined;
  readonly certificate: Read | undefined;
  /** Authorities in place of the trust root's. */
  readonly roots: readonly Authority[] | undefined;
  readonly logs: readonly KeyObject[] | undefined;
  readonly certificateLogs: TrustMaterial["ctlogs"] | undefined;
  readonly timestamps: readonly Authority[];
  readonly fits: Awaited<ReturnType<typeof identityTest>>;
  readonly trust: Trust | undefined;
  readonly place: { readonly host: string; readonly repository: string } | undefined;
}

/** Checks signatures against one attestor. */
export class CosignSigner {
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The place of its signatures; absent: beside the image. */
  get place(): Parts["place"] {
    return this.#parts.place;
  }

  static async prepare(attestor: CosignAttestor): Promise<CosignSigner> {
    const core = await import("@sigstore/core");
    const { key, certificate, keyless, ctlog, source, trustedRoot } = attestor;
    if (key === undefined && keyless === undefined && certificate?.cert === undefined && !certificate?.certChain)
      throw new SignatureProblem("the attestor has neither key, keyless nor certificate");
    const read = (text: string | undefined, name: string) => (text ? certificatesIn(core, text, name) : undefined);
    const chain = keyless === undefined ? read(certificate?.certChain, "certificate.certChain") : undefined;
    const chained = chain && [authorityOf(chain.slice(-1), chain.slice(0, -1))];
    const roots = read(keyless?.roots, "keyless.roots");
    const isKey = keyless === undefined && key !== undefined;
    const cert =
      isKey || keyless !== undefined ? undefined : read(unwrapped(certificate?.cert), "certificate.cert")?.[0];
    const proofs = ctlog?.ctLogPubKey ? keysIn(ctlog.ctLogPubKey, "ctlog.ctLogPubKey").map(logOf) : undefined;
    return new CosignSigner({
      core,
      attestor,
      key: isKey ? keyOf(key.data ?? "", key.hashAlgorithm) : undefined,
      certificate: cert,
      roots: roots === undefined ? chained : [authorityOf(roots, [])],
      logs: ctlog?.rekorPubKey ? keysIn(ctlog.rekorPubKey, "ctlog.rekorPubKey") : undefined,
      certificateLogs: proofs,
      timestamps: timestampAuthorities(read(ctlog?.tsaCertChain, "ctlog.tsaCertChain") ?? []),
      fits: await identityTest(keyless?.identities),
      trust: trustedRoot ? trustOf(await readTrustedRoot(trustedRoot)) : undefined,
      place: source?.repository ? repositoryOf(source.repository) : undefined,
    });
  }

  /**
   * The signer that a signature names, if it can be the wanted one: the cheapest check.
   * @throws SignatureProblem when it is another one
   */
  claimant(claimed: Claimed, isBundle: boolean): Claimant {
    const { key } = this.#parts;
    const { certificate: pem } = claimed;
    if (this.#requiresLog && claimed.log === undefined)
      throw new SignatureProblem("it has no entry of a transparency log");
    if (key !== undefined) {
      if (pem !== undefined && (isBundle || !this.#read(pem).certificate.publicKey.equals(key)))
        throw new SignatureProblem("it is signed with a certificate, and not with the key of the attestor");
      const hash = this.#parts.attestor.key?.hashAlgorithm;
      return { key, ...(hash && { hash }) };
    }
    if (this.#parts.certificate !== undefined) {
      const { certificate } = this.#parts.certificate;
      if (pem !== undefined && !this.#read(pem).certificate.raw.equals(certificate.raw))
        throw new SignatureProblem("it is signed with another certificate");
      return { key: certificate.publicKey, certificate: this.#parts.certificate };
    }
    if (pem === undefined) throw new SignatureProblem("it is signed with a key, and has no certificate");
    const read = this.#read(pem);
    if (read.certificate.keyUsage?.includes(CODE_SIGNING) !== true)
      throw new SignatureProblem("its certificate is not for signatures");
    checkIdentity(read, this.#parts.fits, this.#parts.attestor.keyless?.additionalExtensions);
    return { key: read.certificate.publicKey, certificate: read };
  }

  /**
   * Checks a signature.
   * @param claimant the signer that it names
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
    for (const [name, wanted] of Object.entries(this.#parts.attestor.annotations ?? {})) {
      if (Object.hasOwn(signature.annotations, name) && signature.annotations[name] === wanted) continue;
      throw new SignatureProblem(`its signed annotations do not say ${JSON.stringify(name)} as wanted`);
    }
    if (!signatureFits(signature, claimant.key, claimant.hash))
      throw new SignatureProblem("its signature does not fit its content and signer");
    await turn();
    const bundle = await bundleOf(signature);
    const { tlogEntries } = bundle.verificationMaterial;
    if (tlogEntries.length > MAX_PROOFS) throw new SignatureProblem(`it has more than ${MAX_PROOFS} log entries`);
    const logs: TransparencyLogs | undefined = this.#requiresLog
      ? (this.#parts.logs ?? (await this.#trust(trustRoot)).material.tlogs)
      : undefined;
    const times = logs === undefined ? [] : await checkLogged(signature, bundle, claimant.key, logs);
    await turn();
    await this.#checkTime(signature, bundle, claimant, times, trustRoot, turn);
  }

  get #requiresLog(): boolean {
    return this.#parts.attestor.ctlog?.insecureIgnoreTlog !== true;
  }

  async #trust(trustRoot: TrustRoot): Promise<Trust> {
    return this.#parts.trust ?? trustOf(await trustRoot());
  }

  #read(pem: string): Read {
    try {
      return readCertificate(this.#parts.core, pem);
    } catch {
      throw new SignatureProblem("its certificate can't be read");
    }
  }

  /** Checks that the certificate was valid when it was used, and issued by a trusted authority. */
  async #checkTime(
    signature: Signature,
    bundle: Bundle,
    { certificate }: Claimant,
    logged: readonly number[],
    trustRoot: TrustRoot,
    turn: () => Promise<void>,
  ): Promise<void> {
    const isStamped = this.#parts.timestamps.length > 0;
    if (certificate === undefined && !isStamped) return;
    const stamped = isStamped || logged.length === 0 ? await this.#stamped(signature, bundle, trustRoot) : [];
    if (isStamped && signature.isBundle && stamped.length === 0)
      throw new SignatureProblem("it has no timestamp of the attestor's authority");
    if (certificate === undefined) return;
    const times = [...logged, ...stamped];
    // A given certificate needs no time that others have seen; nor does any when the log is ignored.
    if (times.length === 0 && (!this.#requiresLog || this.#parts.certificate !== undefined)) times.push(Date.now());
    if (times.length === 0) throw new SignatureProblem("no trusted log or timestamp tells the time of its signature");
    const isChained = this.#parts.certificate === undefined || this.#parts.roots !== undefined;
    const authorities = isChained ? (this.#parts.roots ?? (await this.#trust(trustRoot)).authorities) : [];
    await turn();
    for (const time of times) {
      if (!isValidAt(certificate.certificate, time))
        throw new SignatureProblem("its certificate was not valid at the time of its signature");
      if (!isChained) continue;
      const issuer = authorities.map((one) => issuerAt(certificate, one, CODE_SIGNING, time)).find((one) => one);
      if (issuer === undefined) throw new SignatureProblem("its certificate was not issued by a trusted authority");
      if (this.#parts.attestor.ctlog?.insecureIgnoreSCT === true || time !== times[0]) continue;
      const proofs = this.#parts.certificateLogs ?? (await this.#trust(trustRoot)).material.ctlogs;
      if (!isProven(this.#parts.core, certificate, issuer, proofs))
        throw new SignatureProblem("its certificate has no valid proof of a trusted certificate log (SCT)");
    }
  }

  /** The times of its verified timestamps. */
  async #stamped({ signature, payload, isBundle, statement }: Signature, bundle: Bundle, trustRoot: TrustRoot) {
    const stamps = bundle.verificationMaterial.timestampVerificationData?.rfc3161Timestamps ?? [];
    if (stamps.length > MAX_PROOFS) throw new SignatureProblem(`it has more than ${MAX_PROOFS} timestamps`);
    if (stamps.length === 0) return [];
    const isAlone = this.#parts.key !== undefined && !this.#requiresLog;
    const others = isAlone ? [] : (await this.#trust(trustRoot)).timestampAuthorities;
    const authorities = [...this.#parts.timestamps, ...others];
    const about = !isBundle && statement !== undefined ? payload : signature;
    const times = stamps.map(({ signedTimestamp }) => timeOf(this.#parts.core, signedTimestamp, about, authorities));
    const verified = times.filter((time) => time !== undefined);
    if (verified.length === 0) throw new SignatureProblem("its timestamp is not right, or of no trusted authority");
    return verified;
  }
}

async function bundleOf({ bundle }: Signature): Promise<Bundle> {
  try {
    return await bundle();
  } catch (error) {
    throw error instanceof SignatureProblem ? error : new SignatureProblem("its log entry can't be read");
  }
}

/** @throws SignatureProblem for other texts, and for keys that cosign does not sign with */
function keyOf(pem: string, hash: string | undefined, name = "key.data"): KeyObject {
  if (hash !== undefined && hash !== "" && !HASHES.includes(hash))
    throw new SignatureProblem(`key.hashAlgorithm of the attestor is none of ${HASHES.join(", ")}`);
  const key = PUBLIC_KEY.test(pem) ? readPublicKey(pem) : undefined;
  if (key === undefined) throw new SignatureProblem(`${name} of the attestor is not a public key in PEM`);
  if (!KEY_TYPES.has(key.asymmetricKeyType))
    throw new SignatureProblem(`${name} of the attestor is a key for another algorithm than ECDSA, RSA and Ed25519`);
  return key;
}

function keysIn(pem: string, name: string): readonly KeyObject[] {
  const blocks = pem.match(/-----BEGIN [A-Z ]+-----[^-]*-----END [A-Z ]+-----/g) ?? [pem];
  if (blocks.length > MAX_CERTIFICATES)
    throw new SignatureProblem(`${name} of the attestor has more than ${MAX_CERTIFICATES} keys`);
  return blocks.map((block) => keyOf(block, undefined, name));
}

/** A certificate log of a given key. */
function logOf(publicKey: KeyObject): TrustMaterial["ctlogs"][number] {
  const logID = createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest();
  return { baseURL: "", logID, publicKey, validFor: { start: new Date(0), end: new Date(8.64e15) } };
}

/** A certificate may be written in Base64 once more. */
const unwrapped = (text: string | undefined): string | undefined =>
  text === undefined || text.includes("-----") ? text : Buffer.from(text, "base64").toString("utf8");

function certificatesIn(core: typeof import("@sigstore/core"), text: string, name: string): readonly Read[] {
  const blocks = text.match(CERTIFICATES) ?? [];
  if (blocks.length > MAX_CERTIFICATES)
    throw new SignatureProblem(`${name} of the attestor has more than ${MAX_CERTIFICATES} certificates`);
  try {
    if (blocks.length > 0) return blocks.map((block) => readCertificate(core, block));
  } catch {
    // Said below.
  }
  throw new SignatureProblem(`${name} of the attestor has no readable certificate in PEM`);
}

/** The authority of a chain: certificates that issue themselves are its roots. */
function timestampAuthorities(chain: readonly Read[]): readonly Authority[] {
  if (chain.length === 0) return [];
  const authorities = chain.filter(({ certificate }) => certificate.ca);
  const [leaf, ...more] = chain.filter(({ certificate }) => !certificate.ca);
  const isRoot = ({ parsed }: Read) => parsed.subject.equals(parsed.issuer);
  if (more.length > 0 || !authorities.some(isRoot))
    throw new SignatureProblem("ctlog.tsaCertChain of the attestor needs a root, and at most one signing certificate");
  return [
    authorityOf(
      authorities.filter(isRoot),
      authorities.filter((one) => !isRoot(one)),
      leaf,
    ),
  ];
}

async function readTrustedRoot(text: string): Promise<TrustMaterial> {
  const wrong = (why: string) => new SignatureProblem(`trustedRoot of the attestor ${why}`);
  if (Buffer.byteLength(text) > MAX_TRUSTED_ROOT) throw wrong(`has more than ${MAX_TRUSTED_ROOT} bytes`);
  if (hasMoreValues(text, MAX_ANSWER_VALUES) || (text.match(/"rawBytes"/g) ?? []).length > MAX_TRUSTED_PARTS)
    throw wrong(`has more than ${MAX_TRUSTED_PARTS} certificates and keys`);
  const [{ TrustedRoot }, { toTrustMaterial }] = await Promise.all([
    import("@sigstore/protobuf-specs"),
    import("@sigstore/verify"),
  ]);
  try {
    return toTrustMaterial(TrustedRoot.fromJSON(JSON.parse(text)));
  } catch {
    throw wrong("can't be read");
  }
}

function repositoryOf(text: string): { readonly host: string; readonly repository: string } {
  try {
    const { host, repository } = parseImageReference(text);
    return { host, repository };
  } catch {
    throw new SignatureProblem("source.repository of the attestor is not a repository");
  }
}
