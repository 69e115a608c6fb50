/** The size of a plan: generated code, its temporaries and the time to make it grow with it. */
import { type Plan, PlanError } from "./plan.js";

/**
 * Limit of an expression's parts; a constant of any size is one part. Code is about 200 characters a part, and takes the engine 25 µs: for 10,000 parts
 * a quarter of a second, once. Beyond 50,000 the function's variables fill the stack. The largest expressions of published policies have some hundreds.
 */
export const MAX_PARTS = 10_000;

/** The number of parts of a plan. Throws a {@link PlanError} above {@link MAX_PARTS}. */
export function measured(plan: Plan): number {
  let parts = 0;
  // Not recursive: a deep plan must not exhaust the stack.
  const left: Plan[] = [plan];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    parts += 1;
    for (const part of partsOf(next)) left.push(part);
  }
  if (parts > MAX_PARTS) {
    throw new PlanError(
      `the expression is too large: ${parts} parts after macros, at most ${MAX_PARTS} are compiled; ` +
        "divide it among several expressions or variables, or look values up in a list or map of constants",
    );
  }
  return parts;
}

function partsOf(plan: Plan): readonly Plan[] {
  switch (plan.kind) {
    case "const":
      return [];
    case "attribute": {
      const keys = plan.qualifiers.map(({ key }) => key);
      return plan.root.kind === "operand" || plan.root.kind === "choice" ? [plan.root.plan, ...keys] : keys;
    }
    case "conditional":
      return [plan.condition, plan.yes, plan.no];
    case "and":
    case "or":
    case "or-optional":
    case "or-value":
      return [plan.left, plan.right];
    case "call":
      return plan.args;
    case "membership":
      return [plan.element];
    case "list":
      return plan.elements;
    case "map":
      return plan.entries.flatMap(({ key, value }) => [key, value]);
    case "struct":
      return plan.fields.map(({ value }) => value);
    case "fold":
      return [plan.range, plan.start, plan.condition, plan.step, plan.result];
  }
}
