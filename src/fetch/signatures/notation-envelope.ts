/** Envelopes of Notary Project signatures in JSON (JWS), as notation-core-go reads them; keys that could be read in two ways are refused. */
import { constants, verify } from "node:crypto";
import { errorText } from "../../data/error-text.js";
import { hasEscapedKeys, parseJson, UNIQUE_KEYS } from "../../data/json.js";
import { hasMoreValues } from "../../data/json-values.js";
import { rfc3339Time } from "../../data/rfc3339.js";
import { isJsonObject } from "../../data/same-value.js";
import { type Certificate, readCertificate } from "../../x509/certificate.js";
import { MAX_ANSWER_VALUES } from "../limits.js";
import { algorithmOf, checkChain, MAX_CERTIFICATES, must } from "./notation-chain.js";

const NOTARY = "io.cncf.notary";
const SCHEME = `${NOTARY}.signingScheme`;
const SIGNING_TIME = `${NOTARY}.signingTime`;
const AUTHENTIC_TIME = `${NOTARY}.authenticSigningTime`;
const EXPIRY = `${NOTARY}.expiry`;
const TIMESTAMP = `${NOTARY}.timestampSignature`;
const AGENT = `${NOTARY}.signingAgent`;
const PLUGIN = `${NOTARY}.verificationPlugin`;
const PROTECTED = ["alg", "cty", "crit", SCHEME, SIGNING_TIME, AUTHENTIC_TIME, EXPIRY];
const PAYLOAD_TYPE = "application/vnd.cncf.notary.payload.v1+json";
const AUTHORITY_SCHEME = "notary.x509.signingAuthority";
const SCHEMES: readonly unknown[] = ["notary.x509", AUTHORITY_SCHEME];
/** Go's time without a value. */
const NO_TIME = Date.parse("0001-01-01T00:00:00Z");
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const BASE64_URL = /^(?:[\w-]{4})*(?:[\w-]{2,3})?$/;

type Members = Readonly<Record<string, unknown>>;

/** A signature whose envelope is right in itself: its signer need not be trusted. */
export interface NotationSignature {
  /** The descriptor of the signed manifest; its members are unchecked. */
  readonly target: Members;
  readonly chain: readonly Certificate[];
  readonly isByAuthority: boolean;
  /** Milliseconds since 1970. */
  readonly expiry?: number;
  readonly signature: Buffer;
  /** A timestamp token. */
  readonly timestamp?: Buffer;
}

/**
 * Reads an envelope and checks its signature, headers and chain of certificates.
 * @throws FetchError with the reason why it does not count; other errors for a certificate that can't be read
 */
export function readEnvelope(bytes: Buffer): NotationSignature {
  const envelope = members(bytes, ["payload", "protected", "header", "signature"], "the envelope");
  const header = object(envelope.header, ["x5c", TIMESTAMP, AGENT], "the unprotected header");
  const { x5c, [AGENT]: agent = "" } = header;
  must(agent === null || typeof agent === "string", `${AGENT} is not a text`);
  must(Array.isArray(x5c) && x5c.length > 0, "it has no certificates");
  must(x5c.length <= MAX_CERTIFICATES, `it has more than ${MAX_CERTIFICATES} certificates`);
  const chain = x5c.map((one: unknown) => readCertificate(bytesOf(one, BASE64, "a certificate"), true));
  const head = members(
    bytesOf(envelope.protected, BASE64_URL, "the protected header"),
    PROTECTED,
    "the protected header",
  );
  const payload = bytesOf(envelope.payload, BASE64_URL, "the payload");
  const signature = bytesOf(envelope.signature, BASE64_URL, "the signature");
  const { key, name } = algorithmOf(chain[0]!);
  must(name !== undefined, "its certificate has a key of an unknown kind or size");
  must(head.alg === name, `its algorithm is not ${name}, that of its certificate's key`);
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
  const how = name.startsWith("P") ? pss : ({ dsaEncoding: "ieee-p1363" } as const);
  const signed = Buffer.from(`${envelope.protected}.${envelope.payload}`);
  must(verify(`sha${name.slice(2)}`, signed, { key, ...how }, signature), "it is not made with its certificate's key");
  const expiry = checkHeaders(head);
  checkChain(chain, "signatures");
  must(head.cty === PAYLOAD_TYPE, "its payload has another type than that of signatures");
  const { targetArtifact } = members(payload, ["targetArtifact"], "the payload");
  return {
    target: object(targetArtifact, ["mediaType", "digest", "size"], "the payload"),
    chain,
    isByAuthority: head[SCHEME] === AUTHORITY_SCHEME,
    signature,
    ...(expiry !== undefined && { expiry }),
    ...(header[TIMESTAMP] != null && { timestamp: bytesOf(header[TIMESTAMP], BASE64, "the timestamp") }),
  };
}

/** @returns the time from which on the signature does not count */
function checkHeaders(head: Members): number | undefined {
  const { [SCHEME]: scheme, crit } = head;
  must(!Object.hasOwn(head, PLUGIN), "a plugin must verify it, and plugins are not served");
  must(SCHEMES.includes(scheme), `its signing scheme is not one of ${SCHEMES.join(", ")}`);
  const isByAuthority = scheme === AUTHORITY_SCHEME;
  const [own, other] = isByAuthority ? [AUTHENTIC_TIME, SIGNING_TIME] : [SIGNING_TIME, AUTHENTIC_TIME];
  must((head[other] ?? null) === null, `${other} must not stand in a signature of the scheme ${scheme}`);
  const time = timeOf(head, own);
  must(time !== undefined, `it has no ${own}`);
  const expiry = timeOf(head, EXPIRY);
  must(expiry === undefined || expiry > time, "it expires before it is signed");
  must(Array.isArray(crit) && crit.length > 0, "it has no critical headers");
  const needed = new Set<unknown>([SCHEME]);
  if (expiry !== undefined) needed.add(EXPIRY);
  if (isByAuthority) needed.add(AUTHENTIC_TIME);
  for (const name of crit as readonly unknown[]) {
    if (needed.delete(name)) continue;
    const isThere = typeof name === "string" && Object.hasOwn(head, name) && !PROTECTED.includes(name);
    const problem = isThere ? "is not served" : "is repeated or missing";
    must(false, `its critical header ${JSON.stringify(name).slice(0, 100)} ${problem}`);
  }
  must(needed.size === 0, `its header ${[...needed].join(", ")} is not critical`);
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
  must(!hasMoreValues(text, MAX_ANSWER_VALUES), `${name} has too many values`);
  must(!hasEscapedKeys(text), `${name} has keys with escapes`);
  try {
    return object(parseJson(text, { unique: UNIQUE_KEYS }), known, name);
  } catch (error) {
    must(error instanceof Error && "shown" in error, `${name} can't be read: ${errorText(error)}`);
    throw error;
  }
}

/** Go's library takes a key in letters of another case for a known one. */
function object(value: unknown, known: readonly string[], name: string): Members {
  must(isJsonObject(value), `${name} is not an object`);
  for (const key of Object.keys(value)) {
    const isOther = !known.includes(key) && known.some((one) => plain(one) === plain(key));
    must(!isOther, `${name} has the key ${JSON.stringify(key)} in letters of another case`);
  }
  return value;
}

const plain = (key: string): string => key.toLowerCase().toUpperCase();
