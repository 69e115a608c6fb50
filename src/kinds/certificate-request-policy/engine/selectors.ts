/** Which policies are for a request (spec certificate-request-policy.md 3.2). */
import type { CertificateRequest } from "./certificate-request.js";
import type { CompiledSelector } from "./compiled-policy.js";

/** What cert-manager takes for an issuer that says no more than its name. */
const DEFAULT_KIND = "Issuer";
const DEFAULT_GROUP = "cert-manager.io";

/** Whether the issuer that is asked is one of those that a policy is for. */
export function matchesIssuer({ name, kind, group }: CompiledSelector, { issuerRef }: CertificateRequest): boolean {
  return (
    (name === undefined || name.matches(issuerRef.name)) &&
    (kind === undefined || kind.matches(issuerRef.kind === "" ? DEFAULT_KIND : issuerRef.kind)) &&
    (group === undefined || group.matches(issuerRef.group === "" ? DEFAULT_GROUP : issuerRef.group))
  );
}

/** Whether the name of the request's namespace is one of those that a policy is for; its labels are another matter. */
export function matchesNamespaceName({ namespaces }: CompiledSelector, { namespace }: CertificateRequest): boolean {
  return namespaces === undefined || namespaces.some((each) => each.matches(namespace));
}
