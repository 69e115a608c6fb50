/** Policies for an authorization server: those that look at HTTP requests, or at what Envoy asks (spec kyverno.md 6.3). */
import { POLICY_KIND, type PolicyResource } from "../resource.js";

/** Whose requests such a policy looks at. */
export type AuthorizationMode = "HTTP" | "Envoy";

/** The modes, in the order in which they are asked. */
export const AUTHORIZATION_MODES: readonly AuthorizationMode[] = ["HTTP", "Envoy"];

/** The policy's mode, if it is one of these; a NamespacedValidatingPolicy has none of them. */
export function authorizationMode({ kind, spec }: PolicyResource): AuthorizationMode | undefined {
  if (kind !== POLICY_KIND) return undefined;
  return AUTHORIZATION_MODES.find((mode) => mode === spec.evaluation?.mode);
}
