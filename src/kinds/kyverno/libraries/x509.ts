/** Certificates and certificate requests as data (spec kyverno.md 4.6). */
import { CelError, DYN, type FunctionDeclaration, type Result, STRING, type Value } from "../../../cel/index.js";
import { withDoubles } from "../../../data/doubles.js";
import { firstPemBlock } from "../../../x509/pem.js";
import { MalformedRequest } from "../../../x509/pkcs10/index.js";
import { CertificateProblem } from "../../../x509/problem.js";
import { functions, growing } from "./declare.js";
import { certificateFields, requestFields } from "./x509-fields.js";

/** Most characters of a text that is read: a certificate has some two thousand. */
export const LONGEST_PEM = 2 ** 16;

function decode(text: string): Result {
  if (text.length > LONGEST_PEM) return new CelError("too large to be read as PEM", "too-large");
  const block = firstPemBlock(Buffer.from(text));
  if (block === undefined) return new CelError("failed to decode PEM block", "conversion");
  const { label, content } = block;
  if (label !== "CERTIFICATE" && label !== "CERTIFICATE REQUEST") {
    return new CelError("PEM block neither contains a CERTIFICATE or CERTIFICATE REQUEST", "conversion");
  }
  const isCertificate = label === "CERTIFICATE";
  try {
    const fields = isCertificate ? certificateFields(content) : requestFields(content);
    if (fields instanceof MalformedRequest) return new CelError(fields.message, "conversion");
    if (fields === undefined) return new CelError("certificate should use rsa algorithm", "conversion");
    return withDoubles(fields) as Value;
  } catch (error) {
    if (!(error instanceof CertificateProblem) && !(error instanceof RangeError) && !(error instanceof TypeError))
      throw error;
    return new CelError(`x509: malformed certificate${isCertificate ? "" : " request"}`, "conversion");
  }
}

/** `x509.decode`. */
export const X509_FUNCTIONS: readonly FunctionDeclaration[] = functions(
  ["x509.decode"],
  "x509_decode_string",
  [STRING],
  DYN,
  decode,
  { ...growing(100), fixed: 100_000 },
);
