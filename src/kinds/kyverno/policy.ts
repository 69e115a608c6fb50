/** Kyverno's policies as a {@link Policy}: one, or all of a set together. */

import { text } from "../../kubernetes/object.js";
import type { Failure, Outcome } from "../../policy/outcome.js";
import type { EvaluationContext, Policy, PolicyRule } from "../../policy/policy.js";
import type { Review } from "../../policy/review.js";
import type { World } from "../../world/world.js";
import type { CoveredExpression, WithExpressions } from "../shared/coverage/coverage.js";
import type { Explainable, ExplainedPolicy } from "../shared/explain/explainable.js";
import { isOperation } from "../shared/match/exempt.js";
import type { Watcher } from "../shared/watcher.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import { expressionsOf } from "./covered-expressions.js";
import { type EngineAnswer, KyvernoEngine } from "./engine/engine.js";
import type { AdmissionInput, EngineInput } from "./engine/engine-request.js";
import { explainedPolicy, foundText } from "./explained.js";
import { outcomeOf } from "./outcome.js";

/** The outcome of a request that no API server sends: a misspelt operation must not pass by the policies that name the right one. */
const UNKNOWN_OPERATION: Failure = {
  verdict: "error",
  message: "the request's operation is none of CREATE, UPDATE, DELETE and CONNECT",
  cause: "protocol",
};

/** The outcome of a request whose object is none of Kubernetes: Kyverno refuses it, whatever its policies say. */
const UNKNOWN_KIND: Failure = {
  verdict: "error",
  message: "the request's object does not say its kind",
  cause: "protocol",
};

/** Whether it is absent, or an object of Kubernetes. */
const saysItsKind = (object: unknown): boolean =>
  object === undefined || object === null || text(object, "kind") !== "";

/** How a set is asked. */
export interface PolicySetOptions {
  readonly id: string;
  readonly world: World;
  /** In place of the policies' own actions. */
  readonly validationActions?: readonly string[] | undefined;
  /** Told what becomes of each policy. */
  readonly watcher?: Watcher | undefined;
}

/** Policies that are ready to be asked, together. */
export class KyvernoPolicySet implements Policy, WithExpressions, Explainable {
  readonly kind = "cel";
  readonly immediate = true;
  readonly id: string;
  readonly implementation: string;
  readonly #policies: readonly CompiledPolicy[];
  readonly #engine: KyvernoEngine;
  readonly #actions: readonly string[] | undefined;
  readonly #watcher: Watcher | undefined;
  /** What a raw review is about: those that look at requests are asked about its payload as their object. */
  readonly #payloads: boolean;

  constructor(policies: readonly CompiledPolicy[], { id, world, validationActions, watcher }: PolicySetOptions) {
    this.id = id;
    this.implementation = [...new Set(policies.map(({ resource }) => resource.kind))].join(", ");
    this.#policies = policies;
    this.#engine = new KyvernoEngine(policies, { world, flavour: "server" });
    this.#actions = validationActions;
    this.#watcher = watcher;
    this.#payloads = policies.every(({ variants }) => variants.every(({ mode }) => mode === "JSON"));
  }

  /** Those that autogen makes among them. */
  get rules(): readonly PolicyRule[] {
    return this.#policies.flatMap(({ variants }) => variants.flatMap(({ match }) => match?.written ?? []));
  }

  *expressions(): Iterable<CoveredExpression> {
    for (const policy of this.#policies) yield* expressionsOf(policy);
  }

  explained(): readonly ExplainedPolicy[] {
    return this.#policies.map(explainedPolicy);
  }

  evaluate(review: Review, context: EvaluationContext): Outcome | Promise<Outcome> {
    const input = this.#inputOf(review);
    if (input.kind === "admission" && input.targeted !== true) {
      const { operation, object, oldObject } = input.request;
      if (!isOperation(operation)) return UNKNOWN_OPERATION;
      if (!saysItsKind(object) || !saysItsKind(oldObject)) return UNKNOWN_KIND;
    }
    const answer = this.#engine.decide(input, context);
    return answer instanceof Promise ? answer.then((decided) => this.#outcome(decided)) : this.#outcome(answer);
  }

  #outcome(answer: EngineAnswer): Outcome {
    if (this.#watcher?.found !== undefined) {
      for (const { variant, result } of answer.responses)
        if (result !== undefined) this.#watcher.found(variant, foundText(result));
    }
    return outcomeOf(answer, this.#actions);
  }

  #inputOf(review: Review): EngineInput {
    if (review.kind === "admission") {
      const { request, targeted = false } = review;
      return { kind: "admission", request, targeted };
    }
    const { payload } = review;
    if (this.#payloads) return { kind: "json", payload };
    return { kind: "admission", request: requestAbout(payload), targeted: true };
  }
}

/** Any JSON as a request: `object` is the value, all else is empty. */
const requestAbout = (payload: unknown): AdmissionInput["request"] => ({
  uid: "",
  kind: { group: "", version: "", kind: "" },
  resource: { group: "", version: "", resource: "" },
  operation: "",
  userInfo: {},
  object: payload,
});
