/** Whether somebody may do something, by SubjectAccessReview. */
import type { Authorizer, AuthorizerAttributes, AuthorizerDecision } from "../../world/authorizer/authorizer.js";
import { LookUps } from "../../world/look-ups.js";
import { LookupFailure, Pending } from "../../world/resources/resource-source.js";
import { member, text } from "../object.js";
import type { AccessAnswer } from "../reader.js";
import { ClusterUnreachable } from "./errors.js";
import type { ClusterHttp } from "./http.js";
import { ANSWER_KEPT_MS } from "./limits.js";

const PATH = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/**
 * Asks the API server.
 * @param spec of a SubjectAccessReview
 * @throws ApiError, ClusterUnreachable, ClusterConfigError
 */
export async function reviewAccess(http: ClusterHttp, spec: unknown, signal: AbortSignal): Promise<AccessAnswer> {
  const review = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec };
  const status = member(await http.post(PATH, review, signal), "status");
  const allowed = member(status, "allowed");
  if (typeof allowed !== "boolean") throw new ClusterUnreachable("the answer to a SubjectAccessReview has no status");
  const [reason, evaluationError] = [text(status, "reason"), text(status, "evaluationError")];
  return {
    allowed,
    ...(member(status, "denied") === true && { denied: true }),
    ...(reason !== "" && { reason }),
    ...(evaluationError !== "" && { evaluationError }),
  };
}

/** `authorizer` of expressions in a cluster (spec validating-admission-policy.md 5.6). */
export class ClusterAuthorizer implements Authorizer {
  private readonly answers: LookUps<AccessAnswer>;

  /**
   * @param now monotonic milliseconds
   * @param signal ends what is under way
   */
  constructor(
    private readonly http: ClusterHttp,
    now: () => number,
    private readonly signal: AbortSignal,
  ) {
    this.answers = new LookUps(now);
  }

  authorize(attributes: AuthorizerAttributes): AuthorizerDecision | Pending {
    const spec = specOf(attributes);
    const ask = () => reviewAccess(this.http, spec, this.signal);
    const answer = this.answers.ask(JSON.stringify(spec), ask, () => ANSWER_KEPT_MS);
    if (answer instanceof Pending) return answer;
    if (answer instanceof LookupFailure) return { decision: "noOpinion", reason: "", error: answer.message };
    return {
      decision: answer?.allowed ? "allow" : answer?.denied ? "deny" : "noOpinion",
      reason: answer?.reason ?? "",
      ...(answer?.evaluationError !== undefined && { error: answer.evaluationError }),
    };
  }
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
