/** Requests that policies never see (spec validating-admission-policy.md 3.8): compared by group and resource, any version. */
import type { Failure } from "../../../policy/outcome.js";

/** The resources by group. */
const EXEMPT: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["authentication.k8s.io", new Set(["selfsubjectreviews", "tokenreviews"])],
  [
    "authorization.k8s.io",
    new Set([
      "localsubjectaccessreviews",
      "selfsubjectaccessreviews",
      "selfsubjectrulesreviews",
      "subjectaccessreviews",
    ]),
  ],
  [
    "admissionregistration.k8s.io",
    new Set([
      "validatingadmissionpolicies",
      "validatingadmissionpolicybindings",
      "mutatingadmissionpolicies",
      "mutatingadmissionpolicybindings",
    ]),
  ],
]);

/** The operations that policies can match. */
const OPERATIONS: ReadonlySet<string> = new Set(["CREATE", "UPDATE", "DELETE", "CONNECT"]);

/** Whether the operation is known: no API server sends another one, and rules that name one have no meaning. */
export const isOperation = (operation: string): boolean => OPERATIONS.has(operation);

/** The outcome of a request with an unknown operation, which no API server sends: a misspelt one must not bypass policies that name the right one. */
export const UNKNOWN_OPERATION: Failure = {
  verdict: "error",
  message: "the request's operation is none of CREATE, UPDATE, DELETE and CONNECT",
  cause: "protocol",
};

/** Why no policy is evaluated for such a request; `undefined` when they are. */
export function exemption(group: string, resource: string): string | undefined {
  return EXEMPT.get(group)?.has(resource) === true ? `${resource} of ${group} are never judged by policies` : undefined;
}
