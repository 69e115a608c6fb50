/** Decides a CertificateRequest by policies, as approver-policy's manager does (spec certificate-request-policy.md 3). */

import { compareNames } from "../../../kubernetes/names.js";
import type { Failure } from "../../../policy/outcome.js";
import type { EvaluationContext } from "../../../policy/policy.js";
import { RequestWorld } from "../../../world/request-world.js";
import type { World } from "../../../world/world.js";
import { Attempt, type AttemptOptions } from "../../shared/expressions/attempt.js";
import { NOT_IN_TIME } from "../../shared/expressions/interruption.js";
import { Progress } from "../../shared/expressions/progress.js";
import { RULE_DIALECT } from "../dialect.js";
import type { ReviewInput } from "./certificate-request.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import type { Decision } from "./decision.js";
import { Evaluation, type EvaluationOptions } from "./evaluation.js";

/** Options of a reviewer. */
export interface ReviewerOptions extends EvaluationOptions {
  /** The world, whose authorizer decides who may use a policy. */
  readonly world: World;
}

/** The time limit of a review; absent: none. */
export type ReviewContext = Pick<EvaluationContext, "deadline" | "signal" | "turns">;

/** A decision, with the log's text about failed look-ups. */
export interface Reviewed {
  readonly decision: Decision;
  readonly detail: string | undefined;
}

/** A reviewer with compiled policies. */
export class Reviewer {
  readonly #policies: readonly CompiledPolicy[];
  readonly #options: ReviewerOptions;

  constructor(policies: readonly CompiledPolicy[], options: ReviewerOptions) {
    this.#policies = [...policies].sort((a, b) => compareNames(a.policy.name, b.policy.name));
    this.#options = options;
  }

  /** Decides a request. A request that can't be decided in time, or at all, is an `Error`. */
  review(input: ReviewInput, context: ReviewContext): Reviewed | Promise<Reviewed> {
    const world = new RequestWorld(this.#options.world);
    const { deadline, turns } = context;
    const { now } = this.#options.world;
    const limit = Number.isFinite(deadline) || turns !== undefined ? { at: deadline, now } : undefined;
    const circumstances: AttemptOptions = { deadline: limit, turns, progress: new Progress() };
    const evaluation = new Evaluation(this.#policies, input, this.#options);
    const undecided = (cause: string, failure?: Failure): Reviewed => ({
      decision: { result: "Error", cause, ...(failure && { failure }), accounts: () => evaluation.accounts() },
      detail: world.detail,
    });
    const attempt = (): Reviewed => {
      const tried = new Attempt(RULE_DIALECT, world, circumstances);
      const decision = evaluation.at(tried);
      // A late answer does not count, even if no step checked the clock.
      if (tried.expired() && tried.interruption !== undefined)
        return undecided(tried.interruption.message, tried.interruption);
      if (world.failure !== undefined) return undecided(world.failure);
      return { decision, detail: world.detail };
    };
    return world.questions.settle(attempt, context, () => undecided(NOT_IN_TIME.message, NOT_IN_TIME));
  }
}
