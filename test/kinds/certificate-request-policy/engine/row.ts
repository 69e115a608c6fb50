import type { CertificateRequest } from "../../../../src/kinds/certificate-request-policy/engine/certificate-request.js";
import type { JsonObject } from "../../../../src/kubernetes/object.js";
import type { Asked } from "./asked.js";

/** What a policy allows, what is asked for, what is objected; then what else stands in the request. */
export type Row = readonly [
  title: string,
  allowed: JsonObject | undefined,
  asked: Asked,
  objections: string,
  more?: Partial<CertificateRequest>,
];
