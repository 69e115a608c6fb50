import { CelError, Waiting } from "../../cel/index.js";
import { aggregate } from "../../kubernetes/field-error.js";
import { evaluateGroup } from "../shared/expressions/evaluation-group.js";
import { bindingsOf, type EvaluationInputs } from "./evaluation-inputs.js";
import type { PreparedCommon } from "./prepared-common.js";

/** The result of match conditions: `waiting` when the result must be discarded. */
export type Conditions =
  | { readonly outcome: "met" | "waiting" }
  | { readonly outcome: "unmet"; readonly reason: string }
  | { readonly outcome: "failed"; readonly message: string };

const MET: Conditions = { outcome: "met" };
const WAITING: Conditions = { outcome: "waiting" };

/** Evaluates a policy's match conditions, all of them: one that is false decides, errors only count when none is. */
export function evaluateConditions(policy: PreparedCommon, inputs: EvaluationInputs): Conditions {
  const { attempt, input, param: about } = inputs;
  const bindings = bindingsOf(inputs, input.conditionRequest, null, true);
  const group = evaluateGroup(
    policy.conditions,
    { attempt, bindings, about, variables: policy.variables, shared: input.conditionResults },
    attempt.costs.conditions,
  );
  if (group instanceof CelError) return { outcome: "failed", message: group.message };
  const errors: string[] = [];
  let waiting = false;
  for (const [i, result] of group.results.entries()) {
    if (result instanceof CelError) errors.push(result.message);
    else if (result instanceof Waiting) waiting = true;
    else if (result === false) {
      return { outcome: "unmet", reason: `match condition '${policy.conditionNames[i] ?? ""}' is false` };
    }
  }
  if (waiting) return WAITING;
  return errors.length > 0 ? { outcome: "failed", message: aggregate(errors) } : MET;
}
