import { firstPemBlock } from "../../../src/x509/pem.js";
import { type CertificationRequest, MalformedRequest } from "../../../src/x509/pkcs10/index.js";
import { der } from "./requests.js";

/** What the reference answers. */
export type ReferenceAnswer = CertificationRequest | { readonly error: string };

/** What was read as plain data without the texts of errors. */
export function comparable(answer: ReferenceAnswer | MalformedRequest): object {
  if (answer instanceof MalformedRequest || "error" in answer) return { error: "" };
  const plain = JSON.parse(JSON.stringify(answer)) as { generalNames: object };
  return "undecodable" in plain.generalNames ? { ...plain, generalNames: { undecodable: "" } } : plain;
}

/** UTF8String, PrintableString, T61String, IA5String. */
const TEXTS = [0x0c, 0x13, 0x14, 0x16];

/**
 * What must be read of a request, as {@link comparable} has it. An otherName that is not UTF-8, which the reference keeps, and prints with U+FFFD where its
 * octets are none, cannot be decoded here.
 */
export function expectedOf(answer: ReferenceAnswer, pem: Buffer): object {
  const plain = comparable(answer);
  if ("error" in answer || "undecodable" in answer.generalNames) return plain;
  const octets = firstPemBlock(pem)?.content ?? Buffer.alloc(0);
  const isPrinted = ({ value }: { readonly value: string }): boolean =>
    value.includes("\ufffd") && !TEXTS.some((tag) => octets.includes(der(tag, Buffer.from(value))));
  return answer.generalNames.otherNames.some(isPrinted) ? { ...plain, generalNames: { undecodable: "" } } : plain;
}
