/** The webhooks of an agent: their inputs, and their results for the status of policies. */
import { parseKey, policyIdOf } from "../../config/from-cluster/index.js";
import type { Certificates } from "../certificates/certificates.js";
import type { ClusterState } from "../cluster-state.js";
import { forServer, MANAGED_BY, PREFIX } from "../lease.js";
import type { ClusterPart, PartContext } from "../part.js";
import type { ClusterSettings } from "../settings.js";
import { Advisor } from "./advisor.js";
import { BreakGlass } from "./break-glass.js";
import type { DerivedWebhooks } from "./derive.js";
import type { MissingReason } from "./derived-webhook.js";
import { WebhookDeriver } from "./from-documents.js";
import { WebhookKeeper } from "./keeper.js";
import { NativePlugin } from "./native-plugin.js";
import { ClusterConfigurations } from "./store.js";

/** The id of a document's policy; undefined: it has none. */
export const idOf = (key: string): string | undefined => policyIdOf(parseKey(key));

/** Derives webhooks from a cluster's policies; one for all callers. */
export const deriverFor = ({ namespace, exemptNamespaces, ...settings }: ClusterSettings): WebhookDeriver => {
  const { enforceAdmissionPolicies, enforceMutatingAdmissionPolicies } = settings;
  const enforced = { enforceAdmissionPolicies, enforceMutatingAdmissionPolicies };
  return new WebhookDeriver({ ownNamespace: namespace, exemptNamespaces, idOf, ...enforced });
};

/** The part that keeps them. */
export interface WebhookPart extends ClusterPart {
  /** See {@link WebhookKeeper.trusts}. */
  trusts(authorities: readonly string[]): boolean;
}

/** Makes the part. */
export function webhookPart(
  context: PartContext,
  deriver: WebhookDeriver,
  certificates: Pick<Certificates, "caBundle" | "changed">,
): WebhookPart {
  const { cluster, clock, random, log, metrics, replicas, settings, facts } = context;
  const { policyServer, service, webhookUrl, owner } = settings;
  const labels = { ...MANAGED_BY, [`${PREFIX}server`]: policyServer };
  const webhooksOf = ({ documents }: ClusterState) => deriver.derive(documents.values(), facts.refused);
  const glass = new BreakGlass(context, () => keeper.interrupt());
  const ended = new AbortController();
  const plugin = new NativePlugin(context, () => {
    const state = context.state();
    if (state !== undefined) keeper.served(state);
  });
  // Policies that the API server enforces itself are served, and asked by no webhook.
  const wanted = (state: ClusterState): DerivedWebhooks => {
    const derived = webhooksOf(state);
    if (!plugin.isOn) return derived;
    return { ...derived, webhooks: derived.webhooks.filter(({ inOnePass }) => inOnePass !== true) };
  };
  // A leader asks anew, and writes no webhook before it knows; to withdraw them it need not wait.
  let isPluginKnown = !settings.enforceMutatingAdmissionPolicies;
  const advisor = new Advisor(context, deriver);
  const keeper = new WebhookKeeper({
    ...{ clock, random, logger: log, replicas, ownerRole: owner },
    store: new ClusterConfigurations(cluster, clock, labels),
    derive: wanted,
    target: webhookUrl === undefined ? { service } : { url: webhookUrl },
    glass: {
      get isKnown() {
        return glass.isKnown && (isPluginKnown || glass.inForce !== undefined);
      },
      get inForce() {
        return glass.inForce;
      },
    },
    caBundle: () => certificates.caBundle(),
    identity: { base: forServer("policy-server", policyServer), labels },
    settling: () => cluster.http.outage.settling,
    report: ({ asked, problems, withdrawn }) => {
      const whys = new Map<string, string[]>();
      const reasons = new Map<string, MissingReason | undefined>();
      for (const { id, text, reason } of problems) {
        whys.set(id, [...(whys.get(id) ?? []), text]);
        reasons.set(id, reason ?? reasons.get(id));
      }
      for (const key of context.state()?.documents.keys() ?? []) {
        const id = facts.refused.has(key) ? undefined : idOf(key);
        if (id === undefined) continue;
        if (asked.has(id)) facts.setWebhook(key, withdrawn === undefined ? "there" : "withdrawn", withdrawn);
        else if (whys.has(id)) facts.setWebhook(key, "missing", whys.get(id)?.join("; "), reasons.get(id));
      }
      advisor.look();
    },
  });
  const forget = [certificates.changed(() => keeper.look()), cluster.http.outage.over(() => keeper.look())];
  metrics.gauge("cluster_webhooks_refused", () => keeper.standing.refused);
  metrics.gauge("cluster_webhooks_unwritable", () => (keeper.standing.unwritable ? 1 : 0));
  return {
    served: (state) => {
      // Until the leader has checked, it is not known whether the API server calls new webhooks.
      const derived = new Set(wanted(state).webhooks.flatMap(({ members }) => members));
      for (const key of state.documents.keys()) {
        const id = facts.refused.has(key) ? undefined : idOf(key);
        if (id !== undefined && derived.has(id) && facts.webhook(key) === "none") facts.setWebhook(key, "missing");
      }
      keeper.served(state);
    },
    lead: (signal) => {
      isPluginKnown = !settings.enforceMutatingAdmissionPolicies;
      glass.lead(signal);
      keeper.lead(signal);
      if (isPluginKnown) return;
      const leading = AbortSignal.any([signal, ended.signal]);
      void plugin.follow(leading).then(() => {
        if (leading.aborted) return;
        isPluginKnown = true;
        keeper.look();
      });
    },
    trusts: (authorities) => keeper.trusts(authorities),
    stop: async () => {
      for (const each of forget) each();
      glass.stop();
      ended.abort();
      advisor.stop();
      await keeper.stop();
    },
  };
}
