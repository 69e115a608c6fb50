/** What demands of several kinds share. */
import type { WebhookRule } from "./demand.js";

/** The end of the names of webhooks that are not Kubewarden's. */
export const OWN_DOMAIN = "policy-server.admission";

/** What Kyverno says of its webhooks; said of all CEL policies alike, so that they may share one: the API server asks about dry runs either way. */
export const CEL_SIDE_EFFECTS = "NoneOnDryRun";

/** The operations of rules. */
export const operationsOf = (rules: readonly WebhookRule[]): ReadonlySet<string> =>
  new Set(rules.flatMap(({ operations }) => operations));
