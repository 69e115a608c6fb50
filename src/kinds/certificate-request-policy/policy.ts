/** CertificateRequestPolicies as a {@link Policy}: all of an entry together. */

import type { JsonObject } from "../../kubernetes/object.js";
import type { Approving, Ruling } from "../../policy/approving.js";
import type { Failure, Findings, Found, Outcome } from "../../policy/outcome.js";
import type { EvaluationContext, Policy, PolicyRule } from "../../policy/policy.js";
import type { Review } from "../../policy/review.js";
import type { CoveredExpression, WithExpressions } from "../shared/coverage/coverage.js";
import type { Explainable, ExplainedPolicy } from "../shared/explain/explainable.js";
import type { Watcher } from "../shared/watcher.js";
import type { CompiledEntry, CompiledPolicy } from "./engine/compiled-policy.js";
import type { Decision, PolicyAccount, UndecidedReview } from "./engine/decision.js";
import { type Reviewed, Reviewer, type ReviewerOptions } from "./engine/review.js";
import { type Purpose, questionOf } from "./question.js";
import { readCertificateRequest } from "./read-request.js";
import { POLICY_KIND } from "./resource.js";
import { SUBJECT_LISTS } from "./words.js";

// Decisions as outcomes of a policy (spec certificate-request-policy.md 7.3 and 7.4).

/** The answer for a request that could not be decided: the reason may reveal how policies are set up (spec 7.3). */
const UNDECIDED = "the CertificateRequest could not be reviewed: the server's log says why";

/** The reason of conditions and the approver's name (spec 1.3). */
const APPROVER = "policy.cert-manager.io";

/** Longest warning; clients cut longer ones (spec 7.3). */
const LONGEST_WARNING = 255;

/** Options of the answers. */
interface AnswerOptions {
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
const denies = (actions: AnswerOptions["actions"]): boolean => actions?.includes("Deny") ?? true;

function denied(message: string, actions: AnswerOptions["actions"], findings: Findings): Outcome {
  const warnings = actions?.includes("Warn") ? { warnings: [shortened(message)] } : {};
  const auditAnnotations = actions?.includes("Audit") ? { auditAnnotations: { denied: message } } : {};
  const found = (actions ?? []).flatMap((action): Found[] =>
    action === "Audit" || action === "Warn" ? [{ action, message }] : [],
  );
  const all = { ...findings, ...warnings, ...auditAnnotations, ...(found.length > 0 && { found }) };
  if (!denies(actions)) return { verdict: "allow", ...all };
  return { verdict: "deny", message, code: 403, reason: "Forbidden", ...all };
}

const shortened = (text: string): string =>
  text.length <= LONGEST_WARNING ? text : `${text.slice(0, LONGEST_WARNING - 1)}…`;

function undecided(decision: UndecidedReview, findings: Findings): Failure {
  const said: Failure = decision.failure ?? { verdict: "error", message: UNDECIDED, cause: "unavailable" };
  return { ...said, ...findings, detail: causeOf(decision, findings.detail) };
}

/** All known reasons why a request could not be decided: for the log. */
const causeOf = ({ cause }: UndecidedReview, detail: string | undefined): string =>
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

/** The rules of a policy with their places: each must be seen both true and false. */
function* expressionsOf({ policy, allowed }: CompiledPolicy): Iterable<CoveredExpression> {
  const { name } = policy;
  yield* each(name, "commonName", allowed.commonName);
  yield* each(name, "dnsNames", allowed.dnsNames);
  yield* each(name, "ipAddresses", allowed.ipAddresses);
  yield* each(name, "uris", allowed.uris);
  yield* each(name, "emailAddresses", allowed.emailAddresses);
  for (const [i, entry] of allowed.otherNames.list.entries()) yield* each(name, `otherNames[${i}]`, entry);
  for (const list of SUBJECT_LISTS) yield* each(name, `subject.${list}`, allowed.subject[list]);
  yield* each(name, "subject.serialNumber", allowed.serialNumber);
  for (const [i, entry] of allowed.otherAttributes.list.entries())
    yield* each(name, `subject.otherAttributes[${i}]`, entry);
}

function* each(policy: string, attribute: string, entry: CompiledEntry | undefined): Iterable<CoveredExpression> {
  for (const [i, rule] of (entry?.rules ?? []).entries()) {
    const path = `spec.allowed.${attribute}.validations[${i}].rule`;
    yield { policy, path, expression: rule, wanted: "both" };
  }
}

/** Options of a set of policies. */
export interface PolicySetOptions extends ReviewerOptions, AnswerOptions {
  readonly id: string;
  /** Watches the result of each policy. */
  readonly watcher?: Watcher | undefined;
}

/** The rule of requests that a policy can decide about. */
const CERTIFICATE_REQUESTS: PolicyRule = {
  operations: ["CREATE"],
  apiGroups: ["cert-manager.io"],
  apiVersions: ["v1"],
  resources: ["certificaterequests"],
};

/** Prepared policies that are evaluated together. */
export class CertificateRequestPolicySet implements Policy, Approving, WithExpressions, Explainable {
  readonly kind = "cel";
  readonly immediate = true;
  readonly implementation = POLICY_KIND;
  readonly rules: readonly PolicyRule[] = [CERTIFICATE_REQUESTS];
  readonly id: string;
  readonly denies: boolean;
  readonly #policies: readonly CompiledPolicy[];
  readonly #reviewer: Reviewer;
  readonly #options: PolicySetOptions;

  constructor(policies: readonly CompiledPolicy[], options: PolicySetOptions) {
    this.id = options.id;
    this.denies = denies(options.actions);
    this.#policies = policies;
    this.#reviewer = new Reviewer(policies, options);
    this.#options = options;
  }

  *expressions(): Iterable<CoveredExpression> {
    for (const compiled of this.#policies) yield* expressionsOf(compiled);
  }

  explained(): readonly ExplainedPolicy[] {
    return this.#policies.map((compiled) => ({
      title: `${POLICY_KIND} '${compiled.policy.name}'`,
      variants: [{ part: compiled, expressions: [...expressionsOf(compiled)] }],
    }));
  }

  evaluate(review: Review, context: EvaluationContext): Outcome | Promise<Outcome> {
    const question = questionOf(review);
    if (question.kind === "answered") return question.outcome;
    const { request, purpose, namespaceLabels } = question;
    const reviewed = this.#reviewer.review({ request, namespaceLabels }, context);
    const answer = (made: Reviewed): Outcome => {
      this.#tell(made.decision);
      return outcomeOf(made, purpose, this.#options);
    };
    return reviewed instanceof Promise ? reviewed.then(answer) : answer(reviewed);
  }

  async review(certificateRequest: JsonObject, context: EvaluationContext): Promise<Ruling> {
    const read = readCertificateRequest(certificateRequest);
    if (read.kind === "malformed") return { result: "Error", cause: read.text };
    const { decision, detail } = await this.#reviewer.review({ request: read.request }, context);
    if (decision.result === "Error") return { result: "Error", cause: causeOf(decision, detail) };
    const { result, message } = decision;
    return { result, message };
  }

  #tell(decision: Decision): void {
    const { watcher } = this.#options;
    if (watcher?.found === undefined) return;
    const accounts = new Map(decision.accounts().map((account) => [account.name, account]));
    for (const compiled of this.#policies) {
      const account = accounts.get(compiled.policy.name);
      const text = account && foundText(account);
      if (text !== undefined) watcher.found(compiled, text);
    }
  }
}

/** The result of a policy, for explanations; `undefined` where it is not for the request. */
function foundText({ selected, bound, ready, objections }: PolicyAccount): string | undefined {
  if (!selected) return undefined;
  if (bound === false) return "does not apply: the requester may not use it";
  if (ready !== true) return "does not apply: it is not ready";
  if (objections === undefined) return "was not asked: another policy has approved the request";
  const all = [...objections.allowed, ...objections.constraints];
  // Answers and accounts name the objections.
  return all.length === 0 ? "approves" : "objects";
}
