/** Requests that policies never see (spec validating-admission-policy.md 3.8): compared by group and resource, any version. */
import type { Failure } from "../../../policy/outcome.js";

/** By group. */
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

/** The operations that policies are about. */
const OPERATIONS: ReadonlySet<string> = new Set(["CREATE", "UPDATE", "DELETE", "CONNECT"]);

/** Whether policies know the operation: no API server asks about another one, and what rules say of it means nothing. */
export const isOperation = (operation: string): boolean => OPERATIONS.has(operation);

/** The outcome of a request that no API server sends: a misspelt operation must not pass by the policies that name the right one. */
export const UNKNOWN_OPERATION: Failure = {
  verdict: "error",
  message: "the request's operation is none of CREATE, UPDATE, DELETE and CONNECT",
  cause: "protocol",
};

/** Why no policy looks at a request like this; `undefined` when they do. */
export function exemption(group: string, resource: string): string | undefined {
  return EXEMPT.get(group)?.has(resource) === true ? `${resource} of ${group} are never judged by policies` : undefined;
}
