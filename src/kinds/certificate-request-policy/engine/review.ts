/** Policies decide a CertificateRequest, as approver-policy's manager does (spec certificate-request-policy.md 3). */

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

/** How policies are asked. */
export interface ReviewerOptions extends EvaluationOptions {
  /** Its authorizer says who may use a policy. */
  readonly world: World;
}

/** How long a review may take; absent: as long as it does. */
export type ReviewContext = Pick<EvaluationContext, "deadline" | "signal" | "turns">;

/** A decision, and what the log says of look-ups that failed on the way. */
export interface Reviewed {
  readonly decision: Decision;
  readonly detail: string | undefined;
}

/** Policies that are ready to be asked. */
export class Reviewer {
  readonly #policies: readonly CompiledPolicy[];
  readonly #options: ReviewerOptions;

  constructor(policies: readonly CompiledPolicy[], options: ReviewerOptions) {
    this.#policies = [...policies].sort((a, b) => compareNames(a.policy.name, b.policy.name));
    this.#options = options;
  }

  /** Decides a request. What can't be told in time, or at all, is an `Error`. */
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
      // An answer that comes late is none, also where no step looked at the clock.
      if (tried.expired() && tried.interruption !== undefined)
        return undecided(tried.interruption.message, tried.interruption);
      if (world.failure !== undefined) return undecided(world.failure);
      return { decision, detail: world.detail };
    };
    return world.questions.settle(attempt, context, () => undecided(NOT_IN_TIME.message, NOT_IN_TIME));
  }
}
