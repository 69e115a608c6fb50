/** Which policies are for a request (spec certificate-request-policy.md 3.2). */
import { wildcardMatches } from "../../../kubernetes/wildcard.js";
import type { Selector } from "../resource.js";
import type { CertificateRequest } from "./certificate-request.js";

/** What cert-manager takes for an issuer that says no more than its name. */
const DEFAULT_KIND = "Issuer";
const DEFAULT_GROUP = "cert-manager.io";

/** Whether the issuer that is asked is one of those that a policy is for. */
export function matchesIssuer({ issuerRef }: Selector, request: CertificateRequest): boolean {
  if (issuerRef === undefined) return true;
  const { name, kind, group } = request.issuerRef;
  return (
    matches(issuerRef.name, name) &&
    matches(issuerRef.kind, kind === "" ? DEFAULT_KIND : kind) &&
    matches(issuerRef.group, group === "" ? DEFAULT_GROUP : group)
  );
}

/** Whether the name of the request's namespace is one of those that a policy is for; its labels are another matter. */
export function matchesNamespaceName({ namespace }: Selector, request: CertificateRequest): boolean {
  const names = namespace?.matchNames ?? [];
  return names.length === 0 || names.some((pattern) => wildcardMatches(pattern, request.namespace));
}

const matches = (pattern: string | undefined, text: string): boolean =>
  pattern === undefined || wildcardMatches(pattern, text);
