import { readFileSync } from "node:fs";
import { parseJson } from "../../src/data/json.js";
import type { JsonObject } from "../../src/kubernetes/object.js";

/** A case of the released evaluators, as its line has it. */
export interface CertificateRequestPolicyCase extends JsonObject {
  readonly id: string;
  readonly expect: JsonObject;
}

/** The cases of a file of vectors. */
export function readCases(name: string): CertificateRequestPolicyCase[] {
  const file = new URL(`../../../test/vectors/certificate-request-policy/${name}`, import.meta.url);
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => parseJson(line) as CertificateRequestPolicyCase);
}
