import { publicEvaluationError, reviewAccess } from "../../kubernetes/client/access-review.js";
import type { ClusterHttp } from "../../kubernetes/client/http.js";
import { ANSWER_KEPT_MS } from "../../kubernetes/client/limits.js";
import type { AccessAnswer } from "../../kubernetes/reader.js";
import { andThen, type Eventual } from "../eventual.js";
import { LookUps } from "../look-ups.js";
import { type Lookup, LookupFailure } from "../resources/resource-source.js";
import { type Authorizer, type AuthorizerAttributes, type AuthorizerDecision, undecidedFor } from "./authorizer.js";

/** `authorizer` of expressions in a cluster (spec validating-admission-policy.md 5.6): SubjectAccessReviews, answers kept for a moment. */
export class ClusterAuthorizer implements Authorizer {
  readonly #http: ClusterHttp;
  readonly #signal: AbortSignal;
  readonly #answers: LookUps<AccessAnswer>;

  /**
   * @param now monotonic milliseconds
   * @param signal ends what is under way
   */
  constructor(http: ClusterHttp, now: () => number, signal: AbortSignal) {
    this.#http = http;
    this.#signal = signal;
    this.#answers = new LookUps(now);
  }

  authorize(attributes: AuthorizerAttributes): Eventual<AuthorizerDecision> {
    const spec = specOf(attributes);
    const ask = () => reviewAccess(this.#http, spec, this.#signal);
    return andThen(
      this.#answers.ask(JSON.stringify(spec), ask, () => ANSWER_KEPT_MS),
      decisionOf,
    );
  }
}

function decisionOf(answer: Lookup<AccessAnswer>): AuthorizerDecision {
  if (answer instanceof LookupFailure) return undecidedFor(answer);
  const { evaluationError } = answer ?? {};
  return {
    decision: answer?.allowed ? "allow" : answer?.denied ? "deny" : "noOpinion",
    reason: answer?.reason ?? "",
    ...(evaluationError !== undefined && errorOf(evaluationError)),
  };
}

function errorOf(evaluationError: string): Pick<AuthorizerDecision, "error" | "detail"> {
  const error = publicEvaluationError(evaluationError);
  return error === evaluationError ? { error } : { error, detail: evaluationError };
}

function specOf(asked: AuthorizerAttributes): unknown {
  const { user, verb, group, version, resource, subresource, namespace, name, path } = asked;
  const extra = Object.entries(user.extra).sort(([a], [b]) => (a < b ? -1 : 1));
  const who = {
    ...given({ user: user.name, uid: user.uid }),
    ...(user.groups.length > 0 && { groups: [...user.groups].sort() }),
    ...(extra.length > 0 && { extra: Object.fromEntries(extra.map(([key, values]) => [key, [...values].sort()])) }),
  };
  if (path !== "") return { ...who, nonResourceAttributes: { path, verb } };
  const { fieldSelector, labelSelector } = asked;
  const resourceAttributes = {
    ...given({ verb, group, version, resource, subresource, namespace, name }),
    ...(fieldSelector !== "" && { fieldSelector: { rawSelector: fieldSelector } }),
    ...(labelSelector !== "" && { labelSelector: { rawSelector: labelSelector } }),
  };
  return { ...who, resourceAttributes };
}

const given = (members: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ""));
