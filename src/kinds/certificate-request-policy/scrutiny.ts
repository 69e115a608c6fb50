import type { CertificateRequestSettings } from "../../config/entry.js";
import { hasOddNames, isSignedByOwnKey } from "../../x509/pkcs10/index.js";

/** Further checks of a decoded signing request, beyond the parts that policies see: its error, or `undefined`. */
export type Scrutiny = (pem: Buffer) => string | undefined;

const ODD_NAMES =
  "spec.request: Forbidden: subjectAltName has an entry with the number of a known kind of name in another form (strictNames)";
const NOT_SIGNED = "spec.request: Forbidden: it is not signed with its own key (verifySignature)";

/** The checks that an entry asks for; `undefined` where it asks for no more than the reference has (spec certificate-request-policy.md 1.2). */
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
