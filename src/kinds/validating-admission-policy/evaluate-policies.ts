import { Waiting } from "../../cel/index.js";
import type { JsonObject } from "../../kubernetes/object.js";
import { AnnotationValues, cutValue } from "../../policy/audit-annotations.js";
import type { Failure, Found } from "../../policy/outcome.js";
import { LookupFailure } from "../../world/resources/resource-source.js";
import type { EvaluationInputs } from "../admission-policy/evaluation-inputs.js";
import { collectParams, NO_PARAM, paramScope, paramValue } from "../admission-policy/params.js";
import { RequestInputs } from "../admission-policy/request-inputs.js";
import type { Attempt } from "../shared/expressions/attempt.js";
import { type MatchResult, matchRequest } from "../shared/match/match-resources.js";
import type { Matched } from "../shared/match/match-rules.js";
import type { RequestAttributes } from "../shared/match/request-attributes.js";
import type { Watcher } from "../shared/watcher.js";
import {
  type BoundViolation,
  failedWith,
  type PolicyDecision,
  type PublishedAnnotation,
  type Skipped,
  type Violation,
} from "./decision.js";
import { evaluatePolicy, type PolicyEvaluation } from "./evaluate-policy.js";
import type { PreparedBinding, PreparedPolicy } from "./prepared-policy.js";

/**
 * The decision of the policies, evaluated in order, each to its end (spec validating-admission-policy.md 0.3); the result of an attempt that waits
 * for an answer must be discarded.
 * @param targeted whether the caller has named the target: rules and selectors are ignored, and objects are used as they are
 * @param watcher receives the reasons why policies don't apply, or fail before they are evaluated
 */
export function evaluatePolicies(
  policies: readonly PreparedPolicy[],
  request: RequestAttributes,
  attempt: Attempt,
  targeted: boolean,
  watcher?: Watcher,
): PolicyDecision {
  const inputs = new RequestInputs(request, attempt.world, targeted, policies.length > 1 || hasParams(policies[0]));
  const gathering = new Gathering(request, attempt, inputs, targeted, watcher);
  for (const policy of policies) {
    if (gathering.ended) break;
    gathering.ask(policy);
  }
  return gathering.decision();
}

/** Whether a policy may be evaluated several times, with other parameters. */
const hasParams = (policy: PreparedPolicy | undefined): boolean => policy?.paramKind !== undefined;

/** Whether a policy or binding applies; what failed or waits does. */
type Applicability = Skipped | "applies";

const APPLIES = "applies";
const skip = (reason: string): Applicability => ({ reason });

/** The decisions of policies about one request, while they are gathered (disposable). */
class Gathering {
  readonly #request: RequestAttributes;
  readonly #attempt: Attempt;
  readonly #targeted: boolean;
  readonly #watcher: Watcher | undefined;
  readonly #inputs: RequestInputs;
  readonly #denials: BoundViolation[] = [];
  readonly #warnings: string[] = [];
  readonly #found: Found[] = [];
  readonly #annotations: PublishedAnnotation[] = [];
  #applied = false;
  /** Why the first policy that did not apply did not. */
  #skipped: Skipped | undefined;
  #failure: Failure | undefined;

  constructor(
    request: RequestAttributes,
    attempt: Attempt,
    inputs: RequestInputs,
    targeted: boolean,
    watcher: Watcher | undefined,
  ) {
    this.#request = request;
    this.#attempt = attempt;
    this.#targeted = targeted;
    this.#watcher = watcher;
    this.#inputs = inputs;
  }

  decision(): PolicyDecision {
    const { interruption } = this.#attempt;
    if (interruption !== undefined) return failedWith(interruption);
    return {
      denials: this.#denials,
      warnings: this.#warnings,
      found: this.#found,
      annotations: this.#annotations,
      skipped: this.#applied ? undefined : (this.#skipped ?? { reason: "there is no policy" }),
      failure: this.#failure,
    };
  }

  /** Whether nothing that follows can change the decision, or nothing more is evaluated this time. */
  get ended(): boolean {
    return this.#failed || this.#attempt.over();
  }

  get #failed(): boolean {
    return this.#failure !== undefined || this.#attempt.interruption !== undefined;
  }

  ask(policy: PreparedPolicy): void {
    const asked = this.#askPolicy(policy);
    if (asked === APPLIES) this.#applied = true;
    else {
      this.#skipped ??= asked;
      this.#watcher?.found?.(policy, `does not apply: ${asked.reason}`);
    }
  }

  #askPolicy(policy: PreparedPolicy): Applicability {
    const matched = this.#match(policy);
    if (matched instanceof Waiting) return APPLIES;
    if (matched.outcome === "no") return skip(matched.reason);
    if (matched.outcome === "error") return this.#misconfigured(policy, undefined, matched.message);
    const namespaced = paramScope(policy.paramKind, this.#attempt.world);
    if (namespaced instanceof Waiting) return APPLIES;
    if (namespaced instanceof LookupFailure) return this.#misconfigured(policy, undefined, namespaced.message);

    const evaluations = new Evaluations(policy);
    const annotations = new AnnotationValues();
    let first: Skipped | undefined;
    let applied = false;
    for (const binding of policy.bindings) {
      if (this.ended) return APPLIES;
      const asked = this.#askBinding(binding, matched, namespaced, evaluations, annotations);
      if (this.#failed) return APPLIES;
      if (asked === APPLIES) applied = true;
      else first ??= asked;
    }
    for (const [key, value] of annotations.joined()) this.#annotations.push({ policy: policy.name, key, value });
    return applied ? APPLIES : (first ?? skip("no binding names the policy"));
  }

  #match(policy: PreparedPolicy): MatchResult {
    const { kind, resource } = this.#request;
    if (this.#targeted) return { outcome: "match", kind, resource };
    if (policy.match !== undefined) return matchRequest(policy.match, this.#request, this.#attempt.world);
    return { outcome: "error", message: "policy contained no match constraints, a required field" };
  }

  #askBinding(
    binding: PreparedBinding,
    matched: Matched,
    namespacedParams: boolean,
    evaluations: Evaluations,
    annotations: AnnotationValues,
  ): Applicability {
    const { policy } = evaluations;
    const { world } = this.#attempt;
    if (binding.match !== undefined && !this.#targeted) {
      const bound = matchRequest(binding.match, this.#request, world);
      if (bound instanceof Waiting) return APPLIES;
      if (bound.outcome === "no") return skip(`no binding matches: ${bound.reason}`);
      if (bound.outcome === "error") return this.#misconfigured(policy, binding, bound.message);
    }
    const { namespace: ofRequest } = this.#request;
    const params = collectParams(policy.paramKind, binding.paramRef, ofRequest, namespacedParams, world);
    if (params instanceof Waiting) return APPLIES;
    if (params instanceof LookupFailure) return this.#misconfigured(policy, binding, params.message);
    const input = params.length === 0 ? undefined : this.#inputs.version(matched);
    if (input instanceof LookupFailure) {
      return this.#misconfigured(policy, binding, `failed to convert object version: ${input.message}`);
    }
    const namespace = this.#inputs.namespace();
    if (namespace instanceof Waiting) return APPLIES;
    if ("verdict" in namespace) {
      this.#failure = namespace;
      return APPLIES;
    }
    if (input === undefined) return skip("there is no parameter to judge with");

    let last: Applicability = APPLIES;
    let applied = false;
    for (const object of params) {
      if (this.#attempt.expired() || this.#attempt.over()) return APPLIES;
      const evaluation = evaluations.with(object, () => ({
        attempt: this.#attempt,
        input,
        param: object,
        params: policy.paramKind && paramValue(object, policy.paramKind),
        namespace,
        authorization: this.#inputs,
      }));
      if (evaluation.applies) {
        applied = true;
        this.#act(policy, binding, evaluation.violations);
        for (const [key, value] of evaluation.annotations) annotations.add(key, cutValue(value));
      } else last = evaluation.skipped;
    }
    return applied ? APPLIES : last;
  }

  /** Adds a failure before any expression ran: it denies, whatever the binding's actions, unless failures are ignored. */
  #misconfigured(policy: PreparedPolicy, binding: PreparedBinding | undefined, reason: string): Applicability {
    const { failurePolicy } = policy;
    this.#watcher?.found?.(policy, `failed to configure ${binding === undefined ? "policy" : "binding"}: ${reason}`);
    if (failurePolicy === "Ignore") return APPLIES;
    const message =
      failurePolicy === "Fail"
        ? `failed to configure ${binding === undefined ? "policy" : "binding"}: ${reason}`
        : `unrecognized failure policy: '${failurePolicy}'`;
    this.#denials.push({ kind: "configuration", message, reason: undefined, index: undefined, policy, binding });
    return APPLIES;
  }

  #act(policy: PreparedPolicy, binding: PreparedBinding, violations: readonly Violation[]): void {
    for (const violation of violations) {
      const { kind, message } = violation;
      const bound: BoundViolation = { ...violation, policy, binding };
      if (kind === "annotation") {
        this.#denials.push(bound);
        continue;
      }
      for (const action of binding.actions) {
        if (action === "Deny") this.#denials.push(bound);
        else if (action === "Warn" || action === "Audit") {
          const { index = 0 } = violation;
          const { name = "", actions } = binding;
          this.#found.push({ action, message, policy: policy.name, binding: name, index, actions });
          if (action === "Warn") this.#warnings.push(warningOf(policy, binding, message));
        }
      }
    }
  }
}

function warningOf({ title }: PreparedPolicy, { name }: PreparedBinding, message: string): string {
  const by = name === undefined ? "" : ` with binding '${name}'`;
  return title === "" ? message : `Validation failed for ${title}${by}: ${message}`;
}

/** The evaluations of one policy for one request (disposable): bindings only choose parameters and actions, so that one per parameter serves them all. */
class Evaluations {
  readonly policy: PreparedPolicy;
  /** The evaluation without a parameter: most policies have no other. */
  #plain: PolicyEvaluation | undefined;
  #byParam: Map<JsonObject, PolicyEvaluation> | undefined;

  constructor(policy: PreparedPolicy) {
    this.policy = policy;
  }

  with(param: JsonObject | typeof NO_PARAM, inputs: () => EvaluationInputs): PolicyEvaluation {
    if (param === NO_PARAM) {
      this.#plain ??= evaluatePolicy(this.policy, inputs());
      return this.#plain;
    }
    this.#byParam ??= new Map();
    let evaluation = this.#byParam.get(param);
    if (evaluation === undefined) {
      evaluation = evaluatePolicy(this.policy, inputs());
      this.#byParam.set(param, evaluation);
    }
    return evaluation;
  }
}
