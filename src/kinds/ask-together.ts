/** Policies of several kinds in one entry: all are evaluated, and all must allow. */
import { evaluateInTime } from "../policy/evaluate-in-time.js";
import { EvaluationRun } from "../policy/evaluation-run.js";
import type {
  Cause,
  Deny,
  EvaluationContext,
  Failure,
  Findings,
  Mutation,
  Outcome,
  Policy,
  Review,
} from "../policy/index.js";
import { rulesTogether } from "../policy/rules-together.js";

/**
 * Several policies as one.
 * @param now monotonic milliseconds
 */
export function askTogether(id: string, policies: readonly Policy[], now: () => number): Policy {
  return {
    id,
    kind: "cel",
    implementation: [...new Set(policies.map(({ implementation }) => implementation))].join(", "),
    immediate: policies.every(({ immediate }) => immediate),
    together: policies,
    neverDenying: {
      names: policies.flatMap(({ neverDenying }) => neverDenying?.names ?? []),
      of: policies.reduce((sum, { neverDenying }) => sum + (neverDenying?.of ?? 1), 0),
    },
    notConverted: policies.flatMap(({ notConverted = [] }) => notConverted),
    rules: rulesTogether(policies),
    evaluate(review: Review, context: EvaluationContext) {
      const outcomes = policies.map((policy) =>
        evaluateInTime(policy, review, EvaluationRun.within(context, context.deadline), now),
      );
      return outcomes.some((outcome) => outcome instanceof Promise)
        ? Promise.all(outcomes).then(mostSevere)
        : mostSevere(outcomes as readonly Outcome[]);
    },
  };
}

/**
 * The combined outcome of several. A denial decides whatever failed beside it, except for a failure that even monitor mode must not pass; a failure is
 * neither a *no* nor a *yes*; the outcome is skipped if no policy applies. Reasons stand in order. A denial carries the mutations of all: for a
 * group such an answer is an error, which its expression must not turn into a *yes*.
 */
export function mostSevere(outcomes: readonly Outcome[]): Outcome {
  // The account of one policy does not explain the combined verdict: an approval must not stand beside another's denial.
  const { account: _, ...outcome } = combined(outcomes);
  return outcome;
}

function combined(outcomes: readonly Outcome[]): Outcome {
  const findings = findingsOf(outcomes);
  const objections = outcomes.filter(isObjection);
  const changing = outcomes.filter(isChanging);
  const first =
    objections.find((outcome) => outcome.verdict === "error" && outcome.final) ??
    objections.find(({ verdict }) => verdict === "deny") ??
    objections[0];
  if (first !== undefined) {
    const change = first.verdict === "deny" && changing[0] && { mutation: changing[0].mutation };
    if (objections.length === 1) return { ...change, ...first, ...findings };
    // A policy without actions of its own denies.
    const actions = objections.flatMap(({ report }) => report?.actions ?? ["Deny"]);
    const report = first.report && { report: { ...first.report, actions } };
    return { ...change, ...first, ...findings, ...report, causes: objections.flatMap(causesOf) };
  }
  if (changing.length > 1) {
    return { verdict: "error", message: "more than one policy changes the object", cause: "mutation", ...findings };
  }
  const [decisive] = changing.length > 0 ? changing : outcomes.filter(({ verdict }) => verdict === "allow");
  if (decisive !== undefined) return { ...decisive, ...findings };
  const skipped = outcomes.filter((outcome) => outcome.verdict === "skip");
  const reports = skipped.filter(({ report }) => report !== undefined);
  const reported = reports.find(({ report }) => report?.passedOver !== "condition") ?? reports[0];
  return {
    verdict: "skip",
    reason: skipped[0]?.reason ?? "there is no policy",
    ...(reported?.report && { report: { message: reported.reason, ...reported.report } }),
    ...findings,
  };
}

const isObjection = (outcome: Outcome): outcome is Deny | Failure =>
  outcome.verdict === "deny" || outcome.verdict === "error";

const isChanging = (outcome: Outcome): outcome is Outcome & { readonly mutation: Mutation } =>
  (outcome.verdict === "allow" || outcome.verdict === "deny") && outcome.mutation !== undefined;

function causesOf({ causes, message, reason }: Deny | Failure): readonly Cause[] {
  return causes !== undefined && causes.length > 0
    ? causes
    : [{ reason: reason ?? null, message: message ?? null, field: null }];
}

/** The findings of all; of annotations with the same key the first one counts. */
function findingsOf(outcomes: readonly Outcome[]): Findings {
  const warnings = outcomes.flatMap((outcome) => outcome.warnings ?? []);
  const annotations = Object.assign({}, ...outcomes.map(({ auditAnnotations }) => auditAnnotations).reverse());
  const found = outcomes.flatMap((outcome) => outcome.found ?? []);
  const details = outcomes.flatMap(({ detail }) => detail ?? []);
  return {
    ...(details.length > 0 && { detail: details.join("; ") }),
    ...(warnings.length > 0 && { warnings }),
    ...(found.length > 0 && { found }),
    ...(Object.keys(annotations).length > 0 && { auditAnnotations: annotations }),
  };
}
