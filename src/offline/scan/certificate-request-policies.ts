/** CertificateRequestPolicies from files: those of a run decide together, as in a cluster (spec certificate-request-policy.md 3.5 and 7.5). */

import { Origin } from "../../config/documents/origin.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import type { CertificateRequestSettings, Config, ResourceEntry } from "../../config/index.js";
import { nameOf } from "../../kubernetes/object.js";
import type { Outcome } from "../../policy/index.js";
import { isRbacObject } from "../../world/authorizer/rbac-objects.js";
import { type Finding, plainFinding, type ReportedPolicy } from "../reports/finding.js";
import type { WantedResources } from "./cluster-listing.js";
import type { Subject } from "./judge.js";
import { annotationsOf, type CertificateRequestPolicyDocuments, placeOf } from "./policy-files.js";
import { ScanError } from "./scan-error.js";

/** The name of several of them together. */
const SEVERAL = "CertificateRequestPolicies";
/** The id of their single entry. */
export const ENTRY_ID = "certificate-requests";

/** The resources that they match in a cluster. */
export const CERTIFICATE_REQUESTS: WantedResources = {
  apiGroups: ["cert-manager.io"],
  apiVersions: ["v1"],
  resources: ["certificaterequests"],
};

/** Whether they match the subject. */
export const isCertificateRequest = (subject: Subject): boolean =>
  subject.kind === "resource" &&
  subject.request.kind.kind === "CertificateRequest" &&
  subject.request.kind.group === "cert-manager.io";

/** Sources of permissions to use a policy. */
export interface WhoMayUse {
  readonly assumeBound: boolean;
  /** Whether a cluster can be asked. */
  readonly cluster: boolean;
}

/**
 * A configuration of only these policies.
 * @param beside documents of other files: Namespaces and objects of RBAC; the rest is skipped
 * @throws ScanError without a source of permissions to use them
 */
export function certificateRequestsConfig(
  { policies, beside }: CertificateRequestPolicyDocuments,
  more: readonly SourceDocument[],
  who: WhoMayUse,
): Config {
  const [first] = policies;
  if (first === undefined) return { file: "", entries: [], files: [] };
  const documents = [...policies, ...beside, ...more];
  const entry: ResourceEntry = {
    kind: "resource",
    id: ENTRY_ID,
    origin: new Origin(first, []),
    policyMode: "protect",
    allowedToMutate: false,
    documents,
    certificateRequests: { binding: bindingOf(documents, who) },
  };
  return { file: "", entries: [entry], files: [] };
}

function bindingOf(
  documents: readonly SourceDocument[],
  { assumeBound, cluster }: WhoMayUse,
): CertificateRequestSettings["binding"] & string {
  if (assumeBound) return "assume-bound";
  if (documents.some(({ value }) => isRbacObject(value))) return "rbac";
  if (cluster) return "sar";
  throw new ScanError(
    "who may use the CertificateRequestPolicies? Put their Roles and bindings beside them (or into --parameter-resource), ask the cluster (--cluster), or let every requester use all of them (--assume-bound)",
  );
}

/** The policies in reports: a single one has its own name. */
export function reportedCertificateRequestPolicies(policies: readonly SourceDocument[]): ReportedPolicy {
  const [only, ...others] = policies;
  return {
    name: others.length === 0 ? nameOf(only?.value) : SEVERAL,
    namespace: "",
    source: "CertificateRequestPolicy",
    annotations: others.length === 0 ? annotationsOf(only?.value) : {},
    countsSkips: true,
    tellsAllButPasses: true,
    place: only && placeOf(only),
  };
}

/** The finding of their decision in reports. */
export function certificateRequestFinding(outcome: Outcome): Omit<Finding, "policy"> {
  const finding = plainFinding(outcome);
  // The user of the command may see details that a server keeps for its log.
  return outcome.verdict === "error" && outcome.detail !== undefined
    ? { ...finding, message: outcome.detail }
    : finding;
}
