/** Evaluating in as many steps as there can be. */
import type { Environment, Evaluation, EvaluationOptions, Program } from "../../../src/cel/index.js";

/** How often evaluations have been left off. */
export interface Pauses {
  count: number;
}

/** An environment whose programs are evaluated in steps, whoever evaluates them; `pauses` counts. */
export function inSteps(environment: Environment, pauses: Pauses): Environment {
  return {
    ...membersOf(environment),
    compile: (source, options) => {
      const compiled = environment.compile(source, options);
      return compiled.ok ? { ok: true, program: stepped(compiled.program, pauses) } : compiled;
    },
    extend: (options) => inSteps(environment.extend(options), pauses),
  };
}

/** The outcome of an evaluation in steps. */
export function evaluatedInSteps(
  program: Program,
  bindings: Parameters<Program["evaluate"]>[0],
  options: EvaluationOptions,
  pauses: Pauses,
): Evaluation {
  const deadline = { at: Number.POSITIVE_INFINITY, now: () => 0, slice: 0 };
  const steps = program.evaluateInSteps(bindings, { ...options, deadline });
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    pauses.count++;
  }
}

const membersOf = (environment: Environment): Environment => ({
  compile: (...args) => environment.compile(...args),
  check: (...args) => environment.check(...args),
  names: () => environment.names(),
  hints: (...args) => environment.hints(...args),
  varies: (source) => environment.varies(source),
  extend: (...args) => environment.extend(...args),
});

function stepped(program: Program, pauses: Pauses): Program {
  return new Proxy(program, {
    get(target, name) {
      if (name === "evaluate")
        return (bindings: Parameters<Program["evaluate"]>[0], options: EvaluationOptions = {}) =>
          evaluatedInSteps(target, bindings, options, pauses);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
