/** Evaluates policies about a request that needs authorization (spec kyverno.md 6.3). */
import { type Bindings, CelError, type Result, type Value, Waiting } from "../../../cel/index.js";
import { RequestWorld } from "../../../world/request-world.js";
import type { World } from "../../../world/world.js";
import { Attempt } from "../../shared/expressions/attempt.js";
import type { Expression, ExpressionProgram } from "../../shared/expressions/expression.js";
import { NOT_IN_TIME } from "../../shared/expressions/interruption.js";
import { VariablesValue } from "../../shared/expressions/variables.js";
import { EngineState } from "../engine/engine-state.js";
import { type AuthorizationAnswer, answerOf, failed, NO_ANSWER } from "./answer.js";
import type { AuthorizationPolicy } from "./compile.js";
import { bindingsFor } from "./dialect.js";
import type { AuthorizationRequest } from "./request.js";

/** A context without a deadline: the cost of expressions is limited. */
const PATIENT = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };

/** Policies of both modes, each evaluated about requests of its own. */
export class Authorizer {
  readonly #policies: readonly AuthorizationPolicy[];
  readonly #world: World;

  constructor(policies: readonly AuthorizationPolicy[], world: World) {
    this.#policies = policies;
    this.#world = world;
  }

  /** The answers of the policies of the request's mode, in their order. */
  async about(request: AuthorizationRequest): Promise<readonly AuthorizationAnswer[]> {
    const answers: AuthorizationAnswer[] = [];
    for (const policy of this.#policies)
      if (policy.mode === request.mode) answers.push(await this.#ask(policy, request.value));
    return answers;
  }

  #ask(policy: AuthorizationPolicy, object: Value): AuthorizationAnswer | Promise<AuthorizationAnswer> {
    const world = new RequestWorld(this.#world);
    const state = new EngineState(world, this.#world.date?.() ?? Date.now());
    const attempt = (): AuthorizationAnswer => {
      const tried = new Attempt(policy.dialect, world, { state });
      const decision = new Evaluation(policy, object, tried).run();
      const message = tried.interruption?.message ?? world.failure;
      if (message !== undefined) return failed(policy.resource, message);
      // A waiting evaluation is repeated once the answer has arrived.
      return decision instanceof Waiting ? failed(policy.resource, NO_ANSWER) : answerOf(policy, decision);
    };
    return world.questions.settle(attempt, PATIENT, () => failed(policy.resource, NOT_IN_TIME.message));
  }
}

/** Whether an error is one of the policy's expressions, or a limit of ours, which no failure policy ignores. */
const isOurs = ({ code }: CelError): boolean => code === "cost-limit" || code === "too-large" || code === "internal";

/** One evaluation (disposable). */
class Evaluation {
  readonly #policy: AuthorizationPolicy;
  readonly #attempt: Attempt;
  #bindings: Bindings;

  constructor(policy: AuthorizationPolicy, object: Value, attempt: Attempt) {
    this.#policy = policy;
    this.#attempt = attempt;
    this.#bindings = bindingsFor(object);
  }

  /** The first answer that is not null; null where there is none, and for errors that the policy ignores. */
  run(): Result | Waiting {
    const decision = this.#decision();
    if (!(decision instanceof CelError) || isOurs(decision)) return decision;
    return this.#policy.resource.spec.failurePolicy === "Ignore" ? null : decision;
  }

  #decision(): Result | Waiting {
    const met = this.#met();
    if (met !== true) return met === false ? null : met;
    this.#takeVariables();
    for (const rule of this.#policy.rules) {
      const result = this.#evaluate(rule);
      if (result !== null) return result;
    }
    return null;
  }

  /** Whether the conditions hold; all are evaluated until one is false, which wins over errors. */
  #met(): boolean | CelError | Waiting {
    const errors: CelError[] = [];
    for (const condition of this.#policy.conditions) {
      const result = this.#evaluate(condition);
      if (result instanceof Waiting) return result;
      if (result === false) return false;
      if (result instanceof CelError) errors.push(result);
      else if (result !== true) errors.push(new CelError("the condition is neither true nor false"));
    }
    if (errors.length === 0) return true;
    return errors.find(isOurs) ?? new CelError(errors.map(({ message }) => message).join("; "));
  }

  /** Adds the variables, which conditions do not see. */
  #takeVariables(): void {
    const { variables: expressions, dialect } = this.#policy;
    if (expressions.size === 0) return;
    const variables = new VariablesValue(expressions, dialect);
    const bindings: Bindings = { ...this.#bindings, variables };
    const attempt = this.#attempt;
    variables.evaluateWith(
      (program: ExpressionProgram) => attempt.evaluatePart(program, bindings).result,
      () => false,
    );
    this.#bindings = bindings;
  }

  #evaluate({ program, error }: Expression): Result | Waiting {
    if (program === undefined) return new CelError(error ?? "the expression does not compile", "internal");
    return this.#attempt.evaluate(program, this.#bindings).result;
  }
}
