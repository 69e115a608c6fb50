/** What demands of several kinds share. */
import type { WebhookRule } from "./demand.js";

/** The end of the names of webhooks that are not Kubewarden's. */
export const OWN_DOMAIN = "policy-server.admission";

/** The operations of rules. */
export const operationsOf = (rules: readonly WebhookRule[]): ReadonlySet<string> =>
  new Set(rules.flatMap(({ operations }) => operations));
