/**
 * Signatures of the Notary project in JSON (JWS), in artifacts that refer to what is signed (spec kyverno.md 9): trust by certificates, at notation's
 * level strict. Keys of JSON that could be read in two ways are refused.
 */
import { constants, verify } from "node:crypto";
import { errorText } from "../../data/error-text.js";
import { hasEscapedKeys, JsonError, parseJson, UNIQUE_KEYS } from "../../data/json.js";
import { rfc3339Time } from "../../data/rfc3339.js";
import { isJsonObject } from "../../data/same-value.js";
import { type Certificate, readCertificate } from "../../x509/certificate.js";
import { CertificateProblem } from "../../x509/problem.js";
import { artifactContent, artifactError, artifactsOf, onlyLayer } from "../artifacts.js";
import { type FetchError, shownOf } from "../fetch-error.js";
import type { Descriptor } from "../registry.js";
import { type Attested, type AttestorVerdict, MAX_REASONS, type NotaryAttestor, type Sought } from "./attestor.js";
import { isUnavailable, MAX_BUNDLE_BYTES, withheld } from "./bundle.js";
import * as certified from "./notation-certificates.js";
import { MAX_CERTIFICATES, must } from "./timestamp-token.js";

/** Most signatures of one manifest that are looked at, as in the reference implementation. */
export const MAX_SIGNATURE_ATTEMPTS = 10;
const SIGNATURE = "application/vnd.cncf.notary.signature";
const JWS = "application/jose+json";
const COSE = "application/cose";
const PAYLOAD_TYPE = "application/vnd.cncf.notary.payload.v1+json";
/** Headers. */
const NOTARY = "io.cncf.notary";
const SCHEME = `${NOTARY}.signingScheme`;
const SIGNING_TIME = `${NOTARY}.signingTime`;
const AUTHENTIC_TIME = `${NOTARY}.authenticSigningTime`;
const EXPIRY = `${NOTARY}.expiry`;
const TIMESTAMP = `${NOTARY}.timestampSignature`;
const AGENT = `${NOTARY}.signingAgent`;
const PLUGIN = `${NOTARY}.verificationPlugin`;
const PROTECTED = ["alg", "cty", "crit", SCHEME, SIGNING_TIME, AUTHENTIC_TIME, EXPIRY];
/** Go's time without a value. */
const NO_TIME = Date.parse("0001-01-01T00:00:00Z");
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const BASE64_URL = /^(?:[\w-]{4})*(?:[\w-]{2,3})?$/;

interface Trust {
  readonly authorities: readonly Certificate[];
  readonly timestamps: readonly Certificate[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * Looks for a signature of an attestor: of the image itself, or of an artifact that refers to it.
 * @param now milliseconds since 1970
 * @throws FetchError when the registry can't be asked, or in-toto statements are sought
 */
export async function notaryVerdict(
  attestor: NotaryAttestor,
  sought: Sought,
  about: Attested,
  now = Date.now(),
): Promise<AttestorVerdict> {
  if (sought.kind === "intoto") throw artifactError("notary verifier only supports oci 1.1 referrers as attestations");
  const no = (reasons: readonly string[]) => ({ verified: false, reasons: reasons.slice(0, MAX_REASONS) });
  let trust: Trust;
  try {
    const { certs = "", tsaCerts = "" } = attestor;
    trust = { authorities: certified.certificatesOf(certs), timestamps: certified.certificatesOf(tsaCerts), now };
    must(trust.authorities.length > 0, "certs is empty");
  } catch (error) {
    return no([`the attestor's certificates can't be used: ${reasonOf(error)}`]);
  }
  const { registry, image, digest, signal } = about;
  if (sought.kind === "signature") {
    const { host, repository } = image;
    const { content, bytes } = await registry.manifest({ host, repository, digest }, signal);
    const kind = Array.isArray(content.manifests) ? "index" : "manifest";
    const mediaType = String(content.mediaType ?? `application/vnd.oci.image.${kind}.v1+json`);
    const reasons = await problemsOf({ mediaType, digest, size: bytes.length }, trust, about);
    return reasons.length === 0 ? { verified: true, reasons } : no(reasons);
  }
  const all: string[] = [];
  let missing: FetchError | undefined;
  for (const artifact of await artifactsOf(about, digest, sought.artifactType)) {
    let isSigned = false;
    try {
      const reasons = await problemsOf(artifact, trust, about);
      all.push(...reasons.map((reason) => `artifact ${artifact.digest}: ${reason}`));
      isSigned = reasons.length === 0;
      if (isSigned) return { verified: true, reasons, payload: await artifactContent(about, artifact) };
    } catch (error) {
      if (isUnavailable(error)) throw error;
      missing ??= withheld(error);
      all.push(`artifact ${artifact.digest} ${isSigned ? "is signed, but " : ""}${reasonOf(error)}`);
    }
  }
  if (missing !== undefined) throw missing;
  return no(all.length === 0 ? [`no artifact of type ${sought.artifactType} refers to the image`] : all);
}

/** The reasons why no signature of a manifest counts, one for each; empty when one does. */
async function problemsOf(signed: Descriptor, trust: Trust, about: Attested): Promise<readonly string[]> {
  const listed = await artifactsOf(about, signed.digest, SIGNATURE);
  const reasons: string[] = listed.length === 0 ? ["it has no signature of the Notary project"] : [];
  let missing: FetchError | undefined;
  for (const artifact of listed.slice(0, MAX_SIGNATURE_ATTEMPTS)) {
    try {
      const { mediaType, bytes } = await onlyLayer({ ...about, digest: signed.digest }, artifact, MAX_BUNDLE_BYTES);
      must(mediaType !== COSE, "it is in COSE, which is not served: sign with --signature-format jws");
      must(mediaType === JWS, `it is in ${JSON.stringify(mediaType).slice(0, 100)}, and not in ${JWS}`);
      check(bytes, signed, trust);
      return [];
    } catch (error) {
      // One party's signatures must not keep others' from being found.
      if (isUnavailable(error)) throw error;
      missing ??= withheld(error);
      reasons.push(`signature ${artifact.digest}: ${reasonOf(error)}`);
    }
  }
  if (missing !== undefined) throw missing;
  const more = listed.length - MAX_SIGNATURE_ATTEMPTS;
  if (more > 0)
    throw artifactError(`none of ${MAX_SIGNATURE_ATTEMPTS} signatures counts, and ${more} more are not looked at`);
  return reasons;
}

/** @throws an error with the reason why a signature does not count */
function check(bytes: Buffer, signed: Descriptor, { authorities, timestamps, now }: Trust): void {
  const envelope = members(bytes, ["payload", "protected", "header", "signature"], "the envelope");
  const { x5c, [TIMESTAMP]: token, [AGENT]: agent = "" } = object(envelope.header, ["x5c", TIMESTAMP, AGENT], "header");
  must(agent === null || typeof agent === "string", `${AGENT} is not a text`);
  must(Array.isArray(x5c) && x5c.length > 0, "it has no certificates");
  must(x5c.length <= MAX_CERTIFICATES, `it has more than ${MAX_CERTIFICATES} certificates`);
  const chain = x5c.map((one: unknown) => readCertificate(bytesOf(one, BASE64, "a certificate"), true));
  const head = members(bytesOf(envelope.protected, BASE64_URL, "protected"), PROTECTED, "the protected header");
  const payload = bytesOf(envelope.payload, BASE64_URL, "payload");
  const signature = bytesOf(envelope.signature, BASE64_URL, "signature");
  const stamp = (token ?? "") === "" ? undefined : bytesOf(token, BASE64, "its timestamp");
  const { key, algorithm } = certified.signingKey(chain[0]!);
  must(head.alg === algorithm, `its algorithm is not ${algorithm}, that of its certificate's key`);
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
  const how = algorithm.startsWith("P") ? pss : ({ dsaEncoding: "ieee-p1363" } as const);
  const text = Buffer.from(`${envelope.protected}.${envelope.payload}`);
  const isMade = verify(`sha${algorithm.slice(2)}`, text, { key, ...how }, signature);
  must(isMade, "it is not made with its certificate's key");
  const expiry = checkHeaders(head);
  certified.checkChain(chain, "signatures");
  const isTrusted = chain.some((one) => certified.isAmong(one, authorities));
  must(isTrusted, "its certificates are not among the attestor's, nor issued by them");
  must(expiry === undefined || now < expiry, "it has expired");
  let time = { from: now, to: now };
  if (timestamps.length > 0) {
    must(stamp !== undefined, "it has no timestamp, which the attestor's tsaCerts demand");
    time = certified.verifyTimestamp(stamp, signature, timestamps);
  }
  const when = timestamps.length > 0 ? "at the time of its timestamp" : "now";
  for (const certificate of chain) {
    const { from, to } = certificate.validity();
    const name = certified.nameOf(certificate);
    must(from <= time.from && time.to <= to, `its certificate ${name} is not valid ${when}`);
  }
  certified.mustNotBeRevocable(chain);
  const { targetArtifact } = members(payload, ["targetArtifact"], "the payload");
  const target = object(targetArtifact, ["mediaType", "digest", "size"], "targetArtifact");
  const isSame = (["mediaType", "digest", "size"] as const).every((member) => target[member] === signed[member]);
  must(isSame, "it is of another manifest");
}

/** @returns the time from which on the signature does not count */
function checkHeaders(head: Members): number | undefined {
  const { [SCHEME]: scheme, crit, cty } = head;
  must(!Object.hasOwn(head, PLUGIN), "a plugin must verify it, and plugins are not served");
  // The other scheme needs certificates of a signing authority, which attestors do not have in the reference implementation either.
  must(scheme === "notary.x509", "its signing scheme is not notary.x509, the only one that is served");
  must((head[AUTHENTIC_TIME] ?? null) === null, `its scheme does not permit ${AUTHENTIC_TIME}`);
  const time = timeOf(head, SIGNING_TIME);
  must(time !== undefined, `it has no ${SIGNING_TIME}`);
  const expiry = timeOf(head, EXPIRY);
  must(expiry === undefined || expiry > time, "it expires before it is signed");
  must(Array.isArray(crit) && crit.length > 0, "it has no critical headers");
  const needed = new Set<unknown>(expiry === undefined ? [SCHEME] : [SCHEME, EXPIRY]);
  for (const name of crit as readonly unknown[]) {
    if (needed.delete(name)) continue;
    const isThere = typeof name === "string" && Object.hasOwn(head, name) && !PROTECTED.includes(name);
    const problem = isThere ? "is not served" : "is repeated or missing";
    must(false, `its critical header ${JSON.stringify(name).slice(0, 100)} ${problem}`);
  }
  must(needed.size === 0, `its header ${[...needed].join(", ")} is not critical`);
  must(cty === PAYLOAD_TYPE, "its payload has another type than that of signatures");
  return expiry;
}

/** A time in milliseconds since 1970. */
function timeOf(head: Members, name: string): number | undefined {
  const { [name]: text } = head;
  if (text === undefined || text === null) return undefined;
  const time = typeof text === "string" ? rfc3339Time(text) : undefined;
  must(time !== undefined, `${name} is not a time`);
  return time === NO_TIME ? undefined : time;
}

function bytesOf(text: unknown, alphabet: RegExp, name: string): Buffer {
  must(typeof text === "string" && text !== "" && alphabet.test(text), `${name} is missing or not in base64`);
  return Buffer.from(text, alphabet === BASE64 ? "base64" : "base64url");
}

/** The members of a JSON object with each key once, written plainly. */
function members(bytes: Buffer, known: readonly string[], name: string): Members {
  const text = bytes.toString("utf8");
  must(!hasEscapedKeys(text), `${name} has keys with escapes`);
  try {
    return object(parseJson(text, { unique: UNIQUE_KEYS }), known, name);
  } catch (error) {
    must(!(error instanceof JsonError), `${name} can't be read: ${errorText(error).slice(0, 200)}`);
    throw error;
  }
}

/** Go's library takes a key in letters of another case for a known one. */
function object(value: unknown, known: readonly string[], name: string): Members {
  must(isJsonObject(value), `${name} is not an object`);
  const plain = (key: string): string => key.toLowerCase().toUpperCase();
  const other = Object.keys(value).find((key) => !known.includes(key) && known.map(plain).includes(plain(key)));
  must(other === undefined, `${name} has the key ${JSON.stringify(other)} in letters of another case`);
  return value;
}

function reasonOf(error: unknown): string {
  const shown = shownOf(error) ?? "a part of it can't be read";
  return error instanceof CertificateProblem ? `a certificate or a timestamp can't be read (${shown})` : shown;
}
