import { member, text } from "../object.js";
import type { AccessAnswer } from "../reader.js";
import { ClusterUnreachable } from "./errors.js";
import type { ClusterHttp } from "./http.js";
import { isHarmless } from "./public-words.js";

/** The error of an authorizer that could not decide, for expressions and guests: an authorizer in the network names its address in it. */
export const publicEvaluationError = (evaluationError: string): string =>
  isHarmless(evaluationError) ? evaluationError : "the authorizer could not be asked";

const PATH = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/**
 * Asks the API server whether a user may do something.
 * @param spec of a SubjectAccessReview
 * @throws ApiError, ClusterUnreachable, ClusterConfigError
 */
export async function reviewAccess(
  http: Pick<ClusterHttp, "post">,
  spec: unknown,
  signal: AbortSignal,
): Promise<AccessAnswer> {
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
