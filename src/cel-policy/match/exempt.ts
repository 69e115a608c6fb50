/** Requests that policies never see (spec validating-admission-policy.md 3.8): compared by group and resource, any version. */

const EXEMPT: ReadonlySet<string> = new Set([
  "authentication.k8s.io/selfsubjectreviews",
  "authentication.k8s.io/tokenreviews",
  "authorization.k8s.io/localsubjectaccessreviews",
  "authorization.k8s.io/selfsubjectaccessreviews",
  "authorization.k8s.io/selfsubjectrulesreviews",
  "authorization.k8s.io/subjectaccessreviews",
  "admissionregistration.k8s.io/validatingadmissionpolicies",
  "admissionregistration.k8s.io/validatingadmissionpolicybindings",
  "admissionregistration.k8s.io/mutatingadmissionpolicies",
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings",
]);

/** The operations that policies are about. */
const OPERATIONS: ReadonlySet<string> = new Set(["CREATE", "UPDATE", "DELETE", "CONNECT"]);

/** Why no policy looks at a request like this; `undefined` when they do. */
export function exemption(operation: string, group: string, resource: string): string | undefined {
  if (!OPERATIONS.has(operation)) return `the operation ${operation} is never judged by policies`;
  if (EXEMPT.has(`${group}/${resource}`)) return `${resource} of ${group} are never judged by policies`;
  return undefined;
}
