import { type CertificationRequest, MalformedRequest } from "../../../src/x509/pkcs10/index.js";

/** What was read, or what the reference answers, as plain data without the texts of errors. */
export function comparable(answer: CertificationRequest | MalformedRequest | { readonly error: string }): object {
  if (answer instanceof MalformedRequest || "error" in answer) return { error: "" };
  // The reference prints an octet that is no character as U+FFFD.
  const plain = JSON.parse(JSON.stringify(answer).replace(/\\udc[89a-f][0-9a-f]/g, "\\ufffd")) as {
    generalNames: object;
  };
  return "undecodable" in plain.generalNames ? { ...plain, generalNames: { undecodable: "" } } : plain;
}
