/** Who judges resources: policies of one kind, whatever it is. */

import type { AuthorizationRequest } from "../../kinds/kyverno/authorization/index.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { AdmissionRequest } from "../../policy/index.js";
import type { Finding, ReportedPolicy } from "../reports/finding.js";

/** What is judged. */
export type Subject =
  /** A resource, asked about by this request. */
  | { readonly kind: "resource"; readonly request: AdmissionRequest; readonly object: JsonObject }
  /** Any JSON. */
  | { readonly kind: "payload"; readonly payload: JsonObject }
  /** A request that somebody wants authorized. */
  | { readonly kind: "authorization"; readonly request: AuthorizationRequest };

/** Policies that can be asked. */
export interface Judge {
  /** In the order in which their findings come. */
  readonly policies: readonly ReportedPolicy[];
  /** What they have to say; policies that don't match say nothing. `policy` counts from the first of {@link policies}. */
  judge(subject: Subject): readonly Finding[] | Promise<readonly Finding[]>;
}
