/** The webhooks of an agent: what they are made of, and what the status of policies is told of them. */

import type { PolicySetRoute } from "../../config/from-cluster/cluster-document.js";
import { parseKey, policyIdOf } from "../../config/from-cluster/index.js";
import type { Clock } from "../../data/clock.js";
import { compareNames } from "../../kubernetes/names.js";
import type { Certificates } from "../certificates/certificates.js";
import type { ClusterState } from "../cluster-state.js";
import { forServer, MANAGED_BY, PREFIX } from "../lease.js";
import type { ClusterPart, PartContext } from "../part.js";
import type { ClusterSettings } from "../settings.js";
import { WebhookDeriver } from "./from-documents.js";
import { WebhookKeeper } from "./keeper.js";
import { ClusterConfigurations } from "./store.js";

const idOf = (key: string): string | undefined => policyIdOf(parseKey(key));

/** Derives webhooks from what a cluster holds; one for everybody who asks. */
export const deriverFor = ({ namespace, enforceAdmissionPolicies }: ClusterSettings): WebhookDeriver =>
  new WebhookDeriver({ ownNamespace: namespace, idOf, enforceAdmissionPolicies });

/** Milliseconds that a set which nobody wants any more is answered: as policies that are gone, since a webhook may still name it. */
const SETS_KEPT_MS = 60_000;

/** Which policies webhooks ask about together, now and for a while before. */
export function setsOf(
  deriver: WebhookDeriver,
  clock: Pick<Clock, "now">,
): (documents: ClusterState["documents"]) => readonly PolicySetRoute[] {
  const known = new Map<string, { readonly set: PolicySetRoute; readonly until: number }>();
  return (documents) => {
    const now = clock.now();
    for (const [hash, { until }] of known) if (until < now) known.delete(hash);
    for (const set of deriver.derive(documents.values()).sets) known.set(set.hash, { set, until: now + SETS_KEPT_MS });
    return Array.from(known.values(), ({ set }) => set).sort((a, b) => compareNames(a.hash, b.hash));
  };
}

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
  const { cluster, clock, log, replicas, settings, facts } = context;
  const { policyServer, service, webhookUrl, owner } = settings;
  const labels = { ...MANAGED_BY, [`${PREFIX}server`]: policyServer };
  const keeper = new WebhookKeeper({
    ...{ clock, logger: log, ownerRole: owner },
    store: new ClusterConfigurations(cluster, clock, labels),
    // Which paths this replica answers is announced with all else that it has loaded.
    replicas: {
      get live() {
        return replicas.live;
      },
      changed: (call) => replicas.changed(call),
      announce: () => {},
    },
    derive: ({ documents }) => deriver.derive(documents.values()),
    target: webhookUrl === undefined ? { service } : { url: webhookUrl },
    caBundle: () => certificates.caBundle(),
    identity: { base: forServer("policy-server", policyServer), labels },
    report: ({ asked, problems }) => {
      const wanted = new Set([...asked, ...problems.map(({ id }) => id)]);
      for (const key of context.state()?.documents.keys() ?? []) {
        const id = idOf(key);
        if (id !== undefined && wanted.has(id)) facts.setWebhook(key, asked.has(id) ? "there" : "missing");
      }
    },
  });
  const forget = certificates.changed(() => keeper.look());
  return {
    served: (state) => {
      // Until the leader has looked, nobody knows whether the API server asks about what is new.
      const derived = new Set(deriver.derive(state.documents.values()).webhooks.flatMap(({ members }) => members));
      for (const key of state.documents.keys()) {
        const id = idOf(key);
        if (id !== undefined && derived.has(id) && facts.webhook(key) === "none") facts.setWebhook(key, "missing");
      }
      keeper.served(state);
    },
    lead: (signal) => keeper.lead(signal),
    trusts: (authorities) => keeper.trusts(authorities),
    stop: async () => {
      forget();
      await keeper.stop();
    },
  };
}
