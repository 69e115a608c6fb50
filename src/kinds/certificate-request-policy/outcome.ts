/** Decisions as outcomes of a policy (spec certificate-request-policy.md 7.3 and 7.4). */
import type { Failure, Findings, Outcome } from "../../policy/outcome.js";
import type { Decision, PolicyAccount, UndecidedReview } from "./engine/decision.js";
import type { Reviewed } from "./engine/review.js";
import type { Purpose } from "./question.js";

/** The answer for a request that could not be decided: the reason may reveal how policies are set up (spec 7.3). */
const UNDECIDED = "the CertificateRequest could not be reviewed: the server's log says why";

/** The reason of conditions and the approver's name (spec 1.3). */
export const APPROVER = "policy.cert-manager.io";

/** Longest warning; clients cut longer ones (spec 7.3). */
const LONGEST_WARNING = 255;

/** Options of the answers. */
export interface AnswerOptions {
  /** The answer to a request that no policy decides while it is made. */
  readonly unprocessed: "allow" | "deny";
  /** Actions in place of denials; absent: `Deny`. */
  readonly actions: readonly string[] | undefined;
}

/** The outcome of a decision. */
export function outcomeOf({ decision, detail }: Reviewed, purpose: Purpose, options: AnswerOptions): Outcome {
  const findings: Findings = { account: () => accountOf(decision), ...(detail !== undefined && { detail }) };
  switch (decision.result) {
    case "Approved":
      return { verdict: "allow", message: decision.message, ...findings };
    case "Denied":
      return denied(decision.message, options.actions, findings);
    case "Unprocessed":
      // A request that no policy has approved may not be approved.
      if (purpose === "approval" || options.unprocessed === "deny")
        return denied(decision.message, options.actions, findings);
      return { verdict: "skip", reason: decision.message, report: { passedOver: "unprocessed" }, ...findings };
    case "Error":
      return undecided(decision, findings);
  }
}

/** Whether denials deny, rather than only warn. */
export const denies = (actions: AnswerOptions["actions"]): boolean => actions?.includes("Deny") ?? true;

function denied(message: string, actions: AnswerOptions["actions"], findings: Findings): Outcome {
  const warnings = actions?.includes("Warn") ? { warnings: [shortened(message)] } : {};
  const auditAnnotations = actions?.includes("Audit") ? { auditAnnotations: { denied: message } } : {};
  const found = { ...findings, ...warnings, ...auditAnnotations };
  if (!denies(actions)) return { verdict: "allow", ...found };
  return { verdict: "deny", message, code: 403, reason: "Forbidden", ...found };
}

const shortened = (text: string): string =>
  text.length <= LONGEST_WARNING ? text : `${text.slice(0, LONGEST_WARNING - 1)}…`;

function undecided(decision: UndecidedReview, findings: Findings): Failure {
  const said: Failure = decision.failure ?? { verdict: "error", message: UNDECIDED, cause: "unavailable" };
  return { ...said, ...findings, detail: causeOf(decision, findings.detail) };
}

/** All known reasons why a request could not be decided: for the log. */
export const causeOf = ({ cause }: UndecidedReview, detail: string | undefined): string =>
  [...new Set([cause, ...(detail === undefined ? [] : [detail])])].join("; ");

/** The decision as a raw answer shows it. Of an error it only says that it is one. */
function accountOf(decision: Decision): Readonly<Record<string, unknown>> {
  const { result } = decision;
  if (decision.result === "Error") {
    const message = decision.failure?.message ?? UNDECIDED;
    return { decision: result, message, approvedBy: null, condition: null, policies: [] };
  }
  const { message } = decision;
  const decided = result === "Approved" || result === "Denied";
  return {
    decision: result,
    message,
    approvedBy: decision.result === "Approved" ? decision.by : null,
    condition: decided ? { type: result, status: "True", reason: APPROVER, message } : null,
    policies: decision.accounts().map(policyAccount),
  };
}

function policyAccount({ name, selected, bound, ready, objections }: PolicyAccount): Readonly<Record<string, unknown>> {
  const errors = objections && [
    ...objections.allowed.map((each) => ({ evaluator: "allowed", ...each })),
    ...objections.constraints.map((each) => ({ evaluator: "constraints", ...each })),
  ];
  return { name, selected, bound: bound ?? null, ready: ready ?? null, errors: errors ?? null };
}
