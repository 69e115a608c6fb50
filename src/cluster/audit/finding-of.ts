/** What reports call the outcomes of a policy. */

import { identityOf, opened } from "../../config/documents/documents.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import type { PolicyEntry } from "../../config/index.js";
import { member, nameOf } from "../../kubernetes/object.js";
import type { Cause, Outcome } from "../../policy/index.js";
import type { AuditFinding } from "./audited-policy.js";

/** How denials of ValidatingAdmissionPolicies begin. */
const BOUND = /^ValidatingAdmissionPolicy '([^']*)'(?: with binding '([^']*)')? denied request: /;
/** How those of Kyverno's policies begin. */
const KYVERNO = /^Policy \S+ (?:failed|error): /;
/** Why a policy that is for an object has nothing against it: all else that is skipped it is not for. */
const EXEMPTED = /due to policy exception/;
/** What CertificateRequestPolicies leave alone is somebody's business. */
const UNPROCESSED = "CertificateRequestPolicy";

/**
 * How the outcomes of an entry's policy become findings.
 * @param documents the policies among its documents
 */
export function findingOf(
  entry: PolicyEntry,
  documents: readonly SourceDocument[],
): (outcome: Outcome) => AuditFinding | undefined {
  const warning = warningOnly(entry, documents);
  const [only, ...others] = documents;
  const titled = only !== undefined && others.length === 0 ? "alone" : "among others";
  const tellsSkips = documents.some((document) => identityOf(document).kind === UNPROCESSED);
  return (outcome) => {
    switch (outcome.verdict) {
      case "allow":
        return outcome.report === undefined ? PASSED : found("pass", "", outcome);
      case "skip":
        return tellsSkips || EXEMPTED.test(outcome.reason) ? found("skip", outcome.reason, outcome) : undefined;
      case "error":
        return found("error", stripped(outcome.message, titled), outcome);
      case "deny": {
        const status = warning(outcome) ? "warn" : "fail";
        return found(status, stripped(outcome.message ?? "", titled), outcome);
      }
    }
  };
}

const NONE: Readonly<Record<string, string>> = {};
const PASSED: AuditFinding = { status: "pass", message: "", properties: NONE };

function found(status: AuditFinding["status"], message: string, outcome: Outcome): AuditFinding {
  const exceptions = outcome.report?.exceptions ?? [];
  return { status, message, properties: propertiesOf(outcome), ...(exceptions.length > 0 && { exceptions }) };
}

/** Whose message it is stands beside it, unless several have one entry. */
function stripped(message: string, titled: "alone" | "among others"): string {
  return titled === "alone" ? message.replace(BOUND, "").replace(KYVERNO, "") : message;
}

function propertiesOf({ auditAnnotations, report, message = "" }: Outcome & { readonly message?: string }) {
  const binding = BOUND.exec(message)?.[2];
  return { ...auditAnnotations, ...report?.properties, ...(binding !== undefined && { binding }) };
}

/**
 * Whether whoever was denied was only to be warned: what the policy, or all bindings that object, do about a failure. Audited for the background is
 * what is denied as what is only noted (spec kyverno.md 7.1).
 */
function warningOnly(
  entry: PolicyEntry,
  documents: readonly SourceDocument[],
): (outcome: { readonly message?: string; readonly causes?: readonly Cause[] }) => boolean {
  if (entry.kind !== "resource" && entry.kind !== "cel") return () => false;
  if (entry.validationActions !== undefined) {
    const only = isWarning(entry.validationActions);
    return () => only;
  }
  if (entry.kind === "cel") return () => false;
  const bindings = new Map(
    opened(entry.documents)
      .filter((document) => identityOf(document).kind === "ValidatingAdmissionPolicyBinding")
      .map(({ value }) => [nameOf(value), isWarning(member(member(value, "spec"), "validationActions"))]),
  );
  const policies = documents.map(({ value }) => member(value, "spec"));
  const ofPolicies = policies.length > 0 && policies.every((spec) => isWarning(member(spec, "validationActions")));
  return ({ message, causes = [] }) => {
    const objecting = [message, ...causes.map((cause) => cause.message)].map((each) => BOUND.exec(each ?? "")?.[2]);
    const known = objecting.filter((name) => name !== undefined);
    return known.length === 0 ? ofPolicies : known.every((name) => bindings.get(name) === true);
  };
}

const isWarning = (actions: unknown): boolean =>
  Array.isArray(actions) && actions.includes("Warn") && !actions.includes("Deny") && !actions.includes("Audit");
