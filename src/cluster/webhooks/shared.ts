/** The common parts of several kinds' demands. */
import type { WebhookRule } from "./demand.js";

/** The end of the names of webhooks that are not Kubewarden's. */
export const OWN_DOMAIN = "policy-server.admission";

/** Kyverno's value for its webhooks; used for all CEL policies, so that they may share one: the API server sends dry runs either way. */
export const CEL_SIDE_EFFECTS = "NoneOnDryRun";

/** The operations of rules. */
export const operationsOf = (rules: readonly WebhookRule[]): ReadonlySet<string> =>
  new Set(rules.flatMap(({ operations }) => operations));
