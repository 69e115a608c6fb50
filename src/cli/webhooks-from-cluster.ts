/** Derives the webhooks that the leader of `serve --from-cluster` makes of a cluster's policies, for `webhooks --from-cluster`. */
import { forServer, MANAGED_BY, PREFIX } from "../cluster/lease.js";
import { readDocuments } from "../cluster/sources/read-once.js";
import type { WatchSettings } from "../cluster/sources/watched-kinds.js";
import type { ConfigurationIdentity } from "../cluster/webhooks/configuration.js";
import type { DerivedWebhook, WebhookProblem } from "../cluster/webhooks/derived-webhook.js";
import { WebhookDeriver } from "../cluster/webhooks/from-documents.js";
import { isPluginOn, PLUGIN_IS_ON } from "../cluster/webhooks/native-plugin.js";
import { idOf } from "../cluster/webhooks/part.js";
import type { CommandIo } from "../data/command-io.js";
import { openCluster } from "../kubernetes/client/index.js";
import { findCluster } from "../loader/index.js";

/** The choice of policies. */
export interface FromCluster extends WatchSettings {
  readonly enforceAdmissionPolicies: boolean;
  readonly enforceMutatingAdmissionPolicies: boolean;
  /** The namespace of the server. */
  readonly namespace: string;
  readonly exemptNamespaces: readonly string[];
  /** Whether the webhooks are static manifests. */
  readonly isStatic: boolean;
  /** Ids of the policies file: they take precedence over the cluster's. */
  readonly taken: ReadonlySet<string>;
  readonly kubeconfig: string | undefined;
}

/** The leader's webhooks, with messages about them. */
export interface LeadersWebhooks {
  readonly webhooks: readonly DerivedWebhook[];
  readonly problems: readonly WebhookProblem[];
  readonly advice: readonly WebhookProblem[];
  readonly identity: ConfigurationIdentity;
}

/**
 * Reads the cluster's policies once.
 * @throws Error without a way to a cluster
 */
export async function webhooksFromCluster(options: FromCluster, env: CommandIo["env"]): Promise<LeadersWebhooks> {
  const { policyServer, namespace, exemptNamespaces, isStatic, enforceAdmissionPolicies, taken, kubeconfig } = options;
  const mutating = options.enforceMutatingAdmissionPolicies;
  const now = () => performance.now();
  const access = findCluster({ env, now, ...(kubeconfig !== undefined && { kubeconfig }) });
  if ("missing" in access) throw new Error(access.missing);
  const cluster = openCluster({ connection: access.connection, now, note: () => {} });
  try {
    const { documents, problems: unread } = await readDocuments(cluster, options);
    const refused = documents.flatMap(({ key }) => (taken.has(idOf(key) ?? "") ? [key] : []));
    // Where that is not known the flag decides, as with the leader.
    const isOn = mutating && (await isPluginOn(cluster, new AbortController().signal).catch(() => false));
    const enforced = { enforceAdmissionPolicies, enforceMutatingAdmissionPolicies: mutating && !isOn };
    const deriver = new WebhookDeriver({ ownNamespace: namespace, exemptNamespaces, isStatic, idOf, ...enforced });
    const derived = deriver.derive(documents, new Set(refused));
    const labels = { ...MANAGED_BY, [`${PREFIX}server`]: policyServer };
    return {
      webhooks: derived.webhooks,
      problems: [
        ...(isOn ? [PLUGIN_IS_ON, ...unread] : unread).map((text) => ({ id: "of the cluster", text })),
        ...refused.map((key) => ({ id: key, text: "is not asked: the policies file has a policy of its id" })),
        ...derived.problems,
      ],
      advice: derived.advice,
      identity: { base: forServer("policy-server", policyServer), labels },
    };
  } finally {
    await cluster.close();
  }
}
