/** The answer of a policy to a request, in the words of Kyverno's command (spec kyverno.md 6.3). */
import { CelError, type Result, type Value } from "../../../cel/index.js";
import type { PolicyResource } from "../resource.js";
import type { AuthorizationPolicy } from "./compile.js";
import { ENVOY } from "./envoy/types.js";
import { HTTP } from "./http/types.js";
import { Message } from "./message.js";

/** The one result of a policy. */
export interface AuthorizationAnswer {
  readonly policy: PolicyResource;
  /** The policy's name. */
  readonly rule: string;
  /** `skip`: no decision. */
  readonly status: "pass" | "fail" | "error" | "skip";
  readonly message: string;
}

/** The message where an answer has not arrived. */
export const NO_ANSWER = "no answer";

/** The answer for a request that could not be judged. */
export const failed = (policy: PolicyResource, message: string): AuthorizationAnswer =>
  answer(policy, "error", message);

/** The decision in words. */
export function answerOf({ resource, mode }: AuthorizationPolicy, decision: Result): AuthorizationAnswer {
  if (decision === null) return answer(resource, "skip", "request does not match");
  if (decision instanceof CelError) return failed(resource, decision.message);
  return mode === "HTTP" ? httpAnswer(resource, decision) : envoyAnswer(resource, decision);
}

function httpAnswer(policy: PolicyResource, decision: Value): AuthorizationAnswer {
  if (!isMessage(decision, HTTP.response)) return failed(policy, "rule result is expected to be *http.CheckResponse");
  if (decision.message("ok") !== undefined) return answer(policy, "pass", "request allowed");
  const denied = decision.message("denied");
  if (denied === undefined) return failed(policy, NEITHER);
  return answer(policy, "fail", `request denied, reason: ${String(denied.get("reason"))}`);
}

function envoyAnswer(policy: PolicyResource, decision: Value): AuthorizationAnswer {
  // The reference does not accept a message that an expression has written.
  if (!isMessage(decision, ENVOY.response) || decision.literal) {
    return failed(policy, "rule result is expected to be *authv3.CheckResponse");
  }
  const denied = decision.message("denied_response");
  if (denied !== undefined) {
    const code = denied.message("status")?.get("code") ?? 0;
    return answer(policy, "fail", `request denied with status code ${String(code)}`);
  }
  if (decision.message("ok_response") === undefined) return failed(policy, NEITHER);
  return answer(policy, "pass", "request allowed");
}

/** The message where the reference has no result, and counts nothing. */
const NEITHER = "the response neither allows nor denies the request";

const isMessage = (value: Value, type: string): value is Message => value instanceof Message && value.typeName === type;

const answer = (
  policy: PolicyResource,
  status: AuthorizationAnswer["status"],
  message: string,
): AuthorizationAnswer => ({ policy, rule: policy.metadata.name ?? "", status, message });
