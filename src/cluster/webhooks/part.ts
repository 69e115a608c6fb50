/** The webhooks of an agent: what they are made of, and what the status of policies is told of them. */

import type { PolicySetRoute } from "../../config/from-cluster/cluster-document.js";
import { parseKey, policyIdOf } from "../../config/from-cluster/index.js";
import type { Certificates } from "../certificates/certificates.js";
import type { ClusterState } from "../cluster-state.js";
import { forServer, MANAGED_BY, PREFIX } from "../lease.js";
import type { ClusterPart, PartContext } from "../part.js";
import type { Replicas } from "../replicas.js";
import type { ClusterSettings } from "../settings.js";
import type { DerivedWebhooks } from "./derive.js";
import { deriveWebhooks } from "./from-documents.js";
import { WebhookKeeper, type WebhookReport } from "./keeper.js";
import { ClusterConfigurations } from "./store.js";

const idOf = (key: string): string | undefined => policyIdOf(parseKey(key));

const derivedOf = (
  { documents }: Pick<ClusterState, "documents">,
  { namespace, enforceAdmissionPolicies }: ClusterSettings,
): DerivedWebhooks => deriveWebhooks(documents.values(), { ownNamespace: namespace, idOf, enforceAdmissionPolicies });

/** Which policies webhooks ask about together. */
export const setsOf =
  (settings: ClusterSettings) =>
  (documents: ClusterState["documents"]): readonly PolicySetRoute[] =>
    derivedOf({ documents }, settings).sets;

/** The part that keeps them. */
export class WebhookPart implements ClusterPart {
  readonly #context: PartContext;
  readonly #keeper: WebhookKeeper;
  readonly #forget: () => void;
  #asked: string | undefined;
  #written: string | undefined;

  constructor(context: PartContext, certificates: Pick<Certificates, "caBundle" | "changed" | "look">) {
    this.#context = context;
    const { cluster, clock, log, replicas, settings } = context;
    const { policyServer, service, webhookUrl, owner } = settings;
    const labels = { ...MANAGED_BY, [`${PREFIX}server`]: policyServer };
    this.#keeper = new WebhookKeeper({
      ...{ clock, logger: log, ownerRole: owner },
      store: new ClusterConfigurations(cluster, clock, labels),
      replicas: new ListenedReplicas(replicas),
      derive: (state) => derivedOf(state, settings),
      target: webhookUrl === undefined ? { service } : { url: webhookUrl },
      caBundle: () => {
        this.#asked = certificates.caBundle();
        return this.#asked;
      },
      identity: { base: forServer("policy-server", policyServer), labels },
      report: (report) => {
        this.#note(report);
        if (this.#written === this.#asked) return;
        this.#written = this.#asked;
        certificates.look();
      },
    });
    this.#forget = certificates.changed(() => this.#keeper.look());
  }

  /** The authorities that all webhook configurations carry, as this replica has written them, PEM; undefined: nobody knows. */
  get written(): string | undefined {
    return this.#written;
  }

  served(state: ClusterState): void {
    // Until the leader has looked, nobody knows whether the API server asks about what is new.
    const derived = derivedOf(state, this.#context.settings).webhooks.flatMap(({ members }) => members);
    this.#each(new Set(derived), (key) => {
      if (this.#context.facts.webhook(key) === "none") this.#context.facts.setWebhook(key, "missing");
    });
    this.#keeper.served(state);
  }

  lead(signal: AbortSignal): void {
    signal.addEventListener("abort", () => {
      this.#written = undefined;
    });
    this.#keeper.lead(signal);
  }

  async stop(): Promise<void> {
    this.#forget();
    await this.#keeper.stop();
  }

  #note({ asked, problems }: WebhookReport): void {
    this.#each(new Set(problems.map(({ id }) => id)), (key, id) => {
      if (!asked.has(id)) this.#context.facts.setWebhook(key, "missing");
    });
    this.#each(asked, (key) => this.#context.facts.setWebhook(key, "there"));
  }

  /** Calls for each document whose policy is one of these. */
  #each(ids: ReadonlySet<string>, call: (key: string, id: string) => void): void {
    for (const key of this.#context.state()?.documents.keys() ?? []) {
      const id = idOf(key);
      if (id !== undefined && ids.has(id)) call(key, id);
    }
  }
}

/** The replicas as the agent has them: which paths this one answers is announced there, with all else that it has loaded. */
class ListenedReplicas implements Replicas {
  readonly #replicas: Replicas;

  constructor(replicas: Replicas) {
    this.#replicas = replicas;
  }

  get live(): Replicas["live"] {
    return this.#replicas.live;
  }

  changed(call: () => void): () => void {
    return this.#replicas.changed(call);
  }

  announce(): void {}
}
