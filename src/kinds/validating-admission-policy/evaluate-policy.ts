/** One evaluation of a policy: for one request, with one parameter (spec validating-admission-policy.md 6, 7 and 8.3). */

import { CelError, Lazy, type Result, Waiting } from "../../cel/index.js";
import { bindingsOf, type EvaluationInputs } from "../admission-policy/evaluation-inputs.js";
import { evaluateConditions } from "../admission-policy/match-conditions.js";
import { evaluateGroup, type GroupResults } from "../shared/expressions/evaluation-group.js";
import { trimSpace, usableMessage } from "../shared/expressions/trim.js";
import type { Skipped, Violation } from "./decision.js";
import type { PreparedPolicy, PreparedValidation } from "./prepared-policy.js";

/** The result of an evaluation. That of one that waits for an answer must be discarded. */
export type PolicyEvaluation =
  | { readonly applies: false; readonly skipped: Skipped }
  | {
      readonly applies: true;
      /** The violations; none for validations that hold, or whose errors failurePolicy ignores. */
      readonly violations: readonly Violation[];
      /** Audit annotations to publish, as key and value. */
      readonly annotations: readonly (readonly [key: string, value: string])[];
    };

const CLEAN: PolicyEvaluation = { applies: true, violations: [], annotations: [] };

/** Evaluates a policy. */
export function evaluatePolicy(policy: PreparedPolicy, inputs: EvaluationInputs): PolicyEvaluation {
  if (policy.conditions.length > 0) {
    const conditions = conditionsOf(policy, inputs);
    if (conditions !== "met") return conditions;
  }
  const ignores = policy.failurePolicy === "Ignore";
  const failed = ({ message }: CelError): PolicyEvaluation => (ignores ? CLEAN : failedAsWhole(message));
  const { attempt, input, namespace, param: about } = inputs;
  const { evaluation: budget } = attempt.costs;
  const shared = input.validationResults;
  const { variables } = policy;
  const { named } = policy;
  const request = named.request ? new Lazy(() => input.request) : undefined;
  const reduced = named.namespaceObject ? new Lazy(() => namespace.reduced) : undefined;
  const bindings = bindingsOf(inputs, request, reduced, named.authorizer);
  const group = evaluateGroup(policy.expressions, { attempt, bindings, about, variables, shared }, budget);
  if (group instanceof CelError) return failed(group);
  const messages = evaluateMessages(policy, inputs, group.remaining);
  const violations = violationsOf(policy, group.results, messages, ignores);
  if (policy.annotations.length === 0) {
    return violations.length === 0 ? CLEAN : { applies: true, violations, annotations: [] };
  }

  const whole = bindingsOf(inputs, input.request, namespace.whole, false);
  const unshared = { attempt, bindings: whole, about, variables, shared: undefined };
  const values = evaluateGroup(policy.annotations, unshared, budget);
  if (values instanceof CelError) return failed(values);
  return annotated(policy, violations, values.results, ignores);
}

const failedAsWhole = (message: string): PolicyEvaluation => ({
  applies: true,
  violations: [{ kind: "error", index: 0, message, reason: undefined }],
  annotations: [],
});

/** Evaluates message expressions, which have no authorizer. All are evaluated, also those of validations that hold, since they cost, too. */
function evaluateMessages(
  policy: PreparedPolicy,
  inputs: EvaluationInputs,
  remaining: number,
): GroupResults | CelError {
  if (!policy.hasMessages) return { results: policy.messages as readonly undefined[], remaining };
  const { attempt, input, namespace, param: about } = inputs;
  const bindings = bindingsOf(inputs, input.request, namespace.reduced, false);
  const shared = input.validationResults;
  return evaluateGroup(policy.messages, { attempt, bindings, about, variables: policy.variables, shared }, remaining);
}

function conditionsOf(policy: PreparedPolicy, inputs: EvaluationInputs): PolicyEvaluation | "met" {
  const conditions = evaluateConditions(policy, inputs);
  switch (conditions.outcome) {
    case "met":
      return "met";
    case "waiting":
      return CLEAN;
    case "unmet":
      return passedOver(conditions.reason);
    case "failed":
      return failedConditions(policy, conditions.message);
  }
}

function failedConditions({ failurePolicy }: PreparedPolicy, message: string): PolicyEvaluation | "met" {
  if (failurePolicy === "Fail") return failedAsWhole(message);
  if (failurePolicy !== "Ignore") return "met";
  return passedOver("a match condition failed and failures are ignored");
}

const CONDITION: Skipped["report"] = { passedOver: "condition" };

const passedOver = (reason: string): PolicyEvaluation => ({ applies: false, skipped: { reason, report: CONDITION } });

function violationsOf(
  policy: PreparedPolicy,
  results: GroupResults["results"],
  messages: GroupResults | CelError,
  ignores: boolean,
): readonly Violation[] {
  let violations: Violation[] | undefined;
  const { validations } = policy;
  for (let index = 0; index < validations.length; index++) {
    const [result, validation] = [results[index], validations[index]];
    if (result === undefined || result instanceof Waiting || validation === undefined) continue;
    const error = errorOf(result, messages);
    if (error === undefined ? result === true : ignores) continue;
    violations ??= [];
    if (error !== undefined) violations.push({ kind: "error", index, message: error, reason: undefined });
    else {
      const message = messageOf(validation, messages instanceof CelError ? undefined : messages.results[index]);
      violations.push({ kind: "false", index, message, reason: validation.reason });
    }
  }
  return violations ?? NONE;
}

const NONE: readonly never[] = [];

/** The error of a validation, whether it holds or not. */
function errorOf(result: Result, messages: GroupResults | CelError): string | undefined {
  if (result instanceof CelError) return result.message;
  return messages instanceof CelError ? `failed messageExpression: ${messages.message}` : undefined;
}

/** The message of a validation that is false (spec validating-admission-policy.md 7.3). */
function messageOf(validation: PreparedValidation, made: Result | Waiting | undefined): string {
  return usableMessage(made) ?? (validation.message || `failed expression: ${trimSpace(validation.source)}`);
}

function annotated(
  policy: PreparedPolicy,
  found: readonly Violation[],
  values: GroupResults["results"],
  ignores: boolean,
): PolicyEvaluation {
  const violations = [...found];
  const annotations: (readonly [string, string])[] = [];
  values.forEach((result, i) => {
    if (result instanceof CelError) {
      const { message } = result;
      if (!ignores) violations.push({ kind: "annotation", message, reason: undefined, index: undefined });
    } else if (typeof result === "string") {
      const value = trimSpace(result);
      if (value !== "") annotations.push([policy.annotationKeys[i] ?? "", value]);
    }
  });
  return { applies: true, violations, annotations };
}
