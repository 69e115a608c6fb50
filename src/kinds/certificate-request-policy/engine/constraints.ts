/** Whether a request keeps to a policy's constraints (spec certificate-request-policy.md 6). */

import { goDurationText } from "../../../data/go/duration.js";
import type { PublicKey } from "../../../x509/pkcs10/index.js";
import type { Constraints } from "../resource.js";
import type { Objection } from "./decision.js";
import { ObjectionList } from "./objections.js";

const PATH = "spec.constraints";

/** A key whose kind no policy can judge. */
export interface UnknownKey {
  readonly error: string;
}

/**
 * What `constraints` of a policy say against a request.
 * @param duration nanoseconds; `undefined` where the request says none
 * @param publicKey needed where there are constraints on it
 */
export function evaluateConstraints(
  { minDuration, maxDuration, privateKey }: Constraints,
  duration: bigint | undefined,
  publicKey: PublicKey | undefined,
): readonly Objection[] | UnknownKey {
  const list = new ObjectionList();
  if (maxDuration !== undefined && (duration === undefined || duration > maxDuration))
    list.invalid(`${PATH}.maxDuration`, durationText(duration), goDurationText(maxDuration));
  if (minDuration !== undefined && (duration === undefined || duration < minDuration))
    list.invalid(`${PATH}.minDuration`, durationText(duration), goDurationText(minDuration));
  if (privateKey === undefined || publicKey === undefined) return list.all;
  const { algorithm, maxSize, minSize } = privateKey;
  const size = sizeOf(publicKey);
  if (size === undefined) {
    const type = publicKey.algorithm === "DSA" ? "*dsa.PublicKey" : "<nil>";
    return { error: `unrecognised public key type ${type}` };
  }
  const at = `${PATH}.privateKey`;
  if (algorithm !== undefined && algorithm !== publicKey.algorithm)
    list.invalid(`${at}.algorithm`, publicKey.algorithm, algorithm);
  if (maxSize !== undefined && size > maxSize) list.invalid(`${at}.maxSize`, `${size}`, `${maxSize}`);
  if (minSize !== undefined && size < minSize) list.invalid(`${at}.minSize`, `${size}`, `${minSize}`);
  return list.all;
}

const durationText = (duration: bigint | undefined): string =>
  duration === undefined ? "nil" : goDurationText(duration);

/** Ed25519 has no size, which counts as less than any. */
function sizeOf(key: PublicKey): number | undefined {
  switch (key.algorithm) {
    case "RSA":
    case "ECDSA":
      return key.bits;
    case "Ed25519":
      return -1;
    default:
      return undefined;
  }
}
