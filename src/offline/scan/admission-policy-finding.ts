/** What Kyverno's reports call the outcome of a ValidatingAdmissionPolicy. */
import type { Outcome } from "../../policy/index.js";
import type { Finding } from "../reports/finding.js";
import type { AdmissionPolicyDocuments } from "./policy-files.js";

/** Before the message that the policy's author wrote. */
const TITLE = /^ValidatingAdmissionPolicy '[^']*'(?: with binding '([^']*)')? denied request: /;
/** Why a policy that is for the resource has nothing against it all the same; of all others reports say nothing. */
const CONDITION = /^(?:match condition .* is false|a match condition failed and failures are ignored)$/s;

/** @returns `undefined` for a resource that the policy is not for */
export function admissionPolicyFinding(
  { name, bindings }: Pick<AdmissionPolicyDocuments, "name" | "bindings">,
  outcome: Outcome,
): Omit<Finding, "policy"> | undefined {
  const entry = (status: Finding["status"], message: string, binding?: string) => ({
    rule: name,
    status,
    message,
    properties: binding === undefined ? {} : { binding },
    exceptions: [],
  });
  const [only, ...others] = bindings;
  const sole = others.length === 0 ? only : undefined;
  switch (outcome.verdict) {
    case "allow":
      return entry("pass", "", sole);
    case "skip":
      return CONDITION.test(outcome.reason) ? entry("skip", "match conditions aren't met", sole) : undefined;
    case "deny":
    case "error": {
      const { message = "" } = outcome;
      const [title = "", binding = sole] = TITLE.exec(message) ?? [];
      return entry(outcome.verdict === "deny" ? "fail" : "error", message.slice(title.length), binding);
    }
  }
}
