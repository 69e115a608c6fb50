/** One evaluation of a policy: for one request, with one parameter (spec validating-admission-policy.md 6, 7 and 8.3). */
import type { AuthorizerValue, Bindings, ResourceCheckValue, Value } from "../../cel/index.js";
import {
  type ExpressionResult,
  evaluateGroup,
  type GroupResult,
  type Run,
} from "../../cel-policy/expressions/evaluation-group.js";
import type { NamespaceViews, VersionedInput } from "../../cel-policy/expressions/input.js";
import {
  CONDITIONS_COST_BUDGET,
  EVALUATION_COST_BUDGET,
  MESSAGE_MAX_BYTES,
} from "../../cel-policy/expressions/limits.js";
import { trimSpace } from "../../cel-policy/expressions/trim.js";
import { aggregate } from "../../cel-policy/match/label-selector.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { PreparedPolicy, PreparedValidation } from "./prepared-policy.js";

/** A validation that does not hold, or could not be evaluated. */
export interface Decision {
  /** Index in `validations`; 0 for the evaluation as a whole. */
  readonly index: number;
  readonly message: string;
  /** `undefined` for errors and validations without one. */
  readonly reason: string | undefined;
  /** Whether it could not be evaluated, as opposed to being false. */
  readonly error: boolean;
}

/** An audit annotation to publish, or the error that making it ended in. */
export interface Annotation {
  readonly key: string;
  readonly value?: string;
  readonly error?: string;
}

/** What an evaluation came to. */
export interface PolicyEvaluation {
  /** Why the policy does not apply after all; `undefined` when it does. */
  readonly skipped: string | undefined;
  /** The denials. What holds, and what failurePolicy lets pass, leaves none. */
  readonly decisions: readonly Decision[];
  readonly annotations: readonly Annotation[];
}

/** What an evaluation works on. */
export interface EvaluationInputs {
  readonly run: Run;
  readonly input: VersionedInput;
  /** `undefined` where the policy declares no parameters, null where there is none. */
  readonly params: JsonObject | null | undefined;
  readonly namespace: NamespaceViews;
  readonly authorizer: AuthorizerValue;
  readonly requestResource: ResourceCheckValue;
}

const NOTHING: Omit<PolicyEvaluation, "skipped"> = { decisions: [], annotations: [] };

/** Evaluates a policy. */
export function evaluatePolicy(policy: PreparedPolicy, inputs: EvaluationInputs): PolicyEvaluation {
  const ignores = policy.failurePolicy === "Ignore";
  const failed = (message: string): PolicyEvaluation => ({
    ...NOTHING,
    skipped: undefined,
    decisions: ignores ? [] : [{ index: 0, message, reason: undefined, error: true }],
  });

  if (policy.conditions.length > 0) {
    const verdict = conditionsVerdict(policy, evaluateConditions(policy, inputs));
    if (verdict.outcome === "skip") return { ...NOTHING, skipped: verdict.reason };
    if (verdict.outcome === "error") return failed(verdict.message);
  }

  const { run, input, namespace } = inputs;
  const shared = input.validationResults;
  const { variables } = policy;
  const bindings = bindingsOf(inputs, input.request, namespace.reduced, true);
  const results = evaluateGroup(policy.expressions, { run, bindings, variables, shared }, EVALUATION_COST_BUDGET);
  if ("outOfBudget" in results) return failed(results.message);
  const messages = evaluateMessages(policy, inputs, results.remaining);
  const decisions = decide(policy, results.results, messages, ignores);
  if (policy.annotations.length === 0) return { skipped: undefined, decisions, annotations: [] };

  const whole = bindingsOf(inputs, input.request, namespace.whole, false);
  const values = evaluateGroup(
    policy.annotations,
    { run, bindings: whole, variables, shared: undefined },
    EVALUATION_COST_BUDGET,
  );
  if ("outOfBudget" in values) return failed(values.message);
  return {
    skipped: undefined,
    decisions,
    annotations: values.results.flatMap((result, i) => annotationOf(policy, i, result, ignores)),
  };
}

/** The values of the variables; one shape for all, and `undefined` for those that fail as `no such attribute(s)` where they are declared. */
function bindingsOf(
  { input, params, authorizer, requestResource }: EvaluationInputs,
  request: Value,
  namespaceObject: Value,
  withAuthorizer: boolean,
): Bindings {
  return {
    object: input.object,
    oldObject: input.oldObject,
    request,
    namespaceObject,
    params: params as Value | undefined,
    authorizer: withAuthorizer ? authorizer : undefined,
    "authorizer.requestResource": withAuthorizer ? requestResource : undefined,
  };
}

/** Message expressions have no authorizer. All are evaluated, also those of validations that hold: they are paid for. */
function evaluateMessages(policy: PreparedPolicy, inputs: EvaluationInputs, remaining: number): GroupResult {
  if (!policy.hasMessages) return { results: policy.messages as readonly undefined[], remaining };
  const { run, input, namespace } = inputs;
  const bindings = bindingsOf(inputs, input.request, namespace.reduced, false);
  const shared = input.validationResults;
  return evaluateGroup(policy.messages, { run, bindings, variables: policy.variables, shared }, remaining);
}

function evaluateConditions(policy: PreparedPolicy, inputs: EvaluationInputs): GroupResult {
  const { run, input } = inputs;
  const bindings = bindingsOf(inputs, input.conditionRequest, null, true);
  return evaluateGroup(
    policy.conditions,
    { run, bindings, variables: policy.variables, shared: input.conditionResults },
    CONDITIONS_COST_BUDGET,
  );
}

type ConditionsVerdict =
  | { readonly outcome: "met" }
  | { readonly outcome: "skip"; readonly reason: string }
  | { readonly outcome: "error"; readonly message: string };

/** All conditions have been evaluated; one that is false decides, errors only count when none is. */
function conditionsVerdict(policy: PreparedPolicy, group: GroupResult): ConditionsVerdict {
  const onError = (message: string): ConditionsVerdict => {
    if (policy.failurePolicy === "Fail") return { outcome: "error", message };
    if (policy.failurePolicy === "Ignore")
      return { outcome: "skip", reason: "a match condition failed and failures are ignored" };
    return { outcome: "met" };
  };
  if ("outOfBudget" in group) return onError(group.message);
  const errors: string[] = [];
  for (const [i, result] of group.results.entries()) {
    if (result === undefined) continue;
    if ("error" in result) errors.push(result.error);
    else if (result.value === false) {
      return { outcome: "skip", reason: `match condition '${policy.conditionNames[i] ?? ""}' is false` };
    }
  }
  return errors.length > 0 ? onError(aggregate(errors)) : { outcome: "met" };
}

function decide(
  policy: PreparedPolicy,
  results: readonly (ExpressionResult | undefined)[],
  messages: GroupResult,
  ignores: boolean,
): readonly Decision[] {
  const decisions: Decision[] = [];
  const error = (index: number, message: string): void => {
    if (!ignores) decisions.push({ index, message, reason: undefined, error: true });
  };
  results.forEach((result, index) => {
    const validation = policy.validations[index];
    if (result === undefined || validation === undefined) return;
    if ("error" in result) error(index, result.error);
    else if ("outOfBudget" in messages) error(index, `failed messageExpression: ${messages.message}`);
    else if (result.value !== true) {
      const message = messageOf(validation, messages.results[index]);
      decisions.push({ index, message, reason: validation.reason, error: false });
    }
  });
  return decisions;
}

/** The message of a validation that is false (spec validating-admission-policy.md 7.3). */
function messageOf(validation: PreparedValidation, made: ExpressionResult | undefined): string {
  if (made !== undefined && "value" in made && typeof made.value === "string") {
    const message = trimSpace(made.value);
    if (message !== "" && !message.includes("\n") && Buffer.byteLength(message) <= MESSAGE_MAX_BYTES) return message;
  }
  return validation.message || `failed expression: ${trimSpace(validation.source)}`;
}

function annotationOf(
  policy: PreparedPolicy,
  index: number,
  result: ExpressionResult | undefined,
  ignores: boolean,
): readonly Annotation[] {
  const key = policy.annotationKeys[index] ?? "";
  if (result === undefined) return [];
  if ("error" in result) return ignores ? [] : [{ key, error: result.error }];
  const value = typeof result.value === "string" ? trimSpace(result.value) : "";
  return value === "" ? [] : [{ key, value }];
}
