/** JSON Web Tokens signed with a secret (spec kyverno.md 6.3): RFC 7515 in its compact form, RFC 7518's HMAC algorithms. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { parseJson } from "../../../../data/json.js";
import { isObject, type JsonObject } from "../../../../kubernetes/object.js";

/** A token whose signature is right. */
export interface VerifiedToken {
  /** What it says, whether it holds or not. */
  readonly claims: JsonObject;
}

/** Characters of a token: more than servers take as all headers of a request together, and little work. */
const LONGEST_TOKEN = 256 * 1024;

const DIGESTS: Readonly<Record<string, string>> = { HS256: "sha256", HS384: "sha384", HS512: "sha512" };

const NO_TOKEN = "unknown payload type (payload is not JWT?)";
const VERIFY = "jws.Verify: could not verify message using any of the signatures or keys: jws.Verify: ";
const NO_KEYS = "\njws.Verify: signature #1: no matching keys were provided by any key provider";
const WRONG = `${VERIFY}failed to verify signature #1 with key *jwk.symmetricKey: invalid HMAC signature\njws.Verify: signature #1: tried 1 key(s) but none verified successfully`;

/** Reads a token and verifies it; a text says why it is refused, in the words of the reference's library. */
export function verifiedToken(token: string, key: string): VerifiedToken | string {
  if (key === "") return "failed to initialize *jwk.symmetricKey from []uint8: non-empty []byte key required";
  const verified = verify(token, key);
  return typeof verified === "string" ? `jwt.Parse: failed to parse token: ${verified}` : verified;
}

function verify(token: string, key: string): VerifiedToken | string {
  if (token.length > LONGEST_TOKEN) return `a token has at most ${LONGEST_TOKEN} characters`;
  const [head, body, signature, ...more] = token.trim().split(".");
  if (head === undefined || body === undefined || signature === undefined || more.length > 0) return NO_TOKEN;
  const header = objectOf(head);
  if (header === undefined) return NO_TOKEN;
  const { alg, kid } = header;
  if (alg !== undefined && typeof alg !== "string") return NO_TOKEN;
  if (kid !== undefined)
    return `${VERIFY}signature #1: key provider 0 failed: failed to find key with key ID ${JSON.stringify(kid)} in key set${NO_KEYS}`;
  if (signature === "" && alg !== "none") {
    return `jws.Verify: failed to parse jws: jws.Parse: failed to parse compact format: empty compact signature requires protected header "alg" to be "none"`;
  }
  if (alg !== undefined && !Object.hasOwn(DIGESTS, alg)) {
    return `${VERIFY}signature #1: key provider 0 failed: algorithm in the message does not match any of the inferred algorithms${NO_KEYS}`;
  }
  // A payload that is not written in base64 is no token's.
  if (header.b64 === false) return NO_TOKEN;
  const given = octets(signature);
  if (given === undefined) return WRONG;
  const digests = Object.entries(DIGESTS).filter(([name]) => alg === undefined || name === alg);
  const right = digests.some(([, digest]) => {
    const expected = createHmac(digest, key).update(`${head}.${body}`).digest();
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
  if (!right) return WRONG;
  const claims = objectOf(body);
  return claims === undefined ? NO_TOKEN : { claims };
}

/** Base64 of either alphabet, with padding or without. */
function octets(text: string): Buffer | undefined {
  return /^[A-Za-z0-9+/_-]*={0,2}$/.test(text) ? Buffer.from(text, "base64") : undefined;
}

function objectOf(part: string): JsonObject | undefined {
  const written = octets(part);
  if (written === undefined) return undefined;
  try {
    const value = parseJson(written.toString("utf8"));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
