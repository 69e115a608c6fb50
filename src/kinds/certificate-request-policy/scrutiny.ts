import type { CertificateRequestSettings } from "../../config/entry.js";
import { hasOddNames, isSignedByOwnKey } from "../../x509/pkcs10/index.js";

/** Looks at a signing request that was read, beyond what policies see of it: what is wrong with the whole of it, or `undefined`. */
export type Scrutiny = (pem: Buffer) => string | undefined;

const ODD_NAMES =
  "spec.request: Forbidden: subjectAltName has an entry with the number of a known kind of name in another form (strictNames)";
const NOT_SIGNED = "spec.request: Forbidden: it is not signed with its own key (verifySignature)";

/** What an entry asks for; `undefined` where it asks for no more than the reference looks at (spec certificate-request-policy.md 1.2). */
export function scrutinyOf({
  strictNames = false,
  verifySignature = false,
}: CertificateRequestSettings): Scrutiny | undefined {
  if (!strictNames && !verifySignature) return undefined;
  return (pem) => {
    if (strictNames && hasOddNames(pem)) return ODD_NAMES;
    return verifySignature && !isSignedByOwnKey(pem) ? NOT_SIGNED : undefined;
  };
}
