/** Policies for an authorization server: their mode is HTTP requests, or Envoy's checks (spec kyverno.md 6.3). */
import { POLICY_KIND, type PolicyResource } from "../resource.js";

/** The kind of requests that such a policy evaluates. */
export type AuthorizationMode = "HTTP" | "Envoy";

/** The modes, in order of evaluation. */
export const AUTHORIZATION_MODES: readonly AuthorizationMode[] = ["HTTP", "Envoy"];

/** The policy's mode, if it is one of these; a NamespacedValidatingPolicy has none. */
export function authorizationMode({ kind, spec }: PolicyResource): AuthorizationMode | undefined {
  if (kind !== POLICY_KIND) return undefined;
  return AUTHORIZATION_MODES.find((mode) => mode === spec.evaluation?.mode);
}
