/** The store of webhook configurations. */

import type { Clock } from "../../data/clock.js";
import { followUntil } from "../../kubernetes/client/follow.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import { objectPages } from "../../kubernetes/client/object-pages.js";
import { collectionPath, objectPath } from "../../kubernetes/client/paths.js";
import { type JsonObject, member, nameOf, text } from "../../kubernetes/object.js";
import { FIELD_MANAGER } from "../lease.js";
import type { WebhookType } from "./configuration.js";

/** Our configurations. Every method throws the errors of a cluster's client. */
export interface ConfigurationStore {
  /** Lists those with our labels. */
  list(type: WebhookType, signal: AbortSignal): Promise<readonly unknown[]>;
  /** Server-side apply; answers the resulting object. */
  apply(type: WebhookType, configuration: JsonObject, signal: AbortSignal): Promise<unknown>;
  /**
   * Sends the API server a configuration as a dry run.
   * @returns the refusal; undefined: it would be accepted
   * @throws only when the signal is aborted
   */
  attempt(type: WebhookType, configuration: JsonObject, signal: AbortSignal): Promise<unknown>;
  /** Replaces all webhooks, labels and owners of the object by ours, whichever client wrote them; returns the resulting object. */
  overwrite(type: WebhookType, configuration: JsonObject, signal: AbortSignal): Promise<unknown>;
  remove(type: WebhookType, name: string, signal: AbortSignal): Promise<void>;
  /** The uid of a ClusterRole. */
  ownerUid(name: string, signal: AbortSignal): Promise<string>;
  /**
   * Calls back when one of ours may have changed.
   * @param failed receives the reason why that cannot be watched; it is retried
   */
  watch(signal: AbortSignal, changed: () => void, failed: (error: unknown) => void): void;
}

const PLURALS: Readonly<Record<WebhookType, string>> = {
  mutating: "mutatingwebhookconfigurations",
  validating: "validatingwebhookconfigurations",
};

const place = (type: WebhookType) =>
  ({ group: "admissionregistration.k8s.io", version: "v1", plural: PLURALS[type] }) as const;

const CLUSTER_ROLES = { group: "rbac.authorization.k8s.io", version: "v1", plural: "clusterroles" } as const;

/** Configurations in a cluster, distinguished from others' by labels. */
export class ClusterConfigurations implements ConfigurationStore {
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #labelSelector: string;

  constructor(cluster: Cluster, clock: Clock, labels: Readonly<Record<string, string>>) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#labelSelector = Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(",");
  }

  /** Lists page by page: many policies have more webhooks than fit into one answer. */
  async list(type: WebhookType, signal: AbortSignal): Promise<readonly unknown[]> {
    const found: unknown[] = [];
    const { http } = this.#cluster;
    const pages = objectPages({ http, signal }, place(type), "", { labelSelector: this.#labelSelector });
    for await (const { items } of pages) found.push(...items);
    return found;
  }

  apply(type: WebhookType, configuration: JsonObject, signal: AbortSignal): Promise<unknown> {
    return this.#apply(type, configuration, signal, false);
  }

  async attempt(type: WebhookType, configuration: JsonObject, signal: AbortSignal): Promise<unknown> {
    try {
      await this.#apply(type, configuration, signal, true);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      return error;
    }
  }

  #apply(type: WebhookType, configuration: JsonObject, signal: AbortSignal, dryRun: boolean): Promise<unknown> {
    const path = objectPath(place(type), "", nameOf(configuration));
    return this.#cluster.http.apply(path, configuration, { fieldManager: FIELD_MANAGER, dryRun }, signal);
  }

  overwrite(type: WebhookType, configuration: JsonObject, signal: AbortSignal): Promise<unknown> {
    const path = objectPath(place(type), "", nameOf(configuration));
    return this.#cluster.http.patch(path, "merge", configuration, { fieldManager: FIELD_MANAGER }, signal);
  }

  async remove(type: WebhookType, name: string, signal: AbortSignal): Promise<void> {
    await this.#cluster.http.delete(objectPath(place(type), "", name), {}, signal);
  }

  async ownerUid(name: string, signal: AbortSignal): Promise<string> {
    const { value } = await this.#cluster.http.get(objectPath(CLUSTER_ROLES, "", name), {}, signal);
    return text(member(value, "metadata"), "uid");
  }

  watch(signal: AbortSignal, changed: () => void, failed: (error: unknown) => void): void {
    for (const type of Object.keys(PLURALS) as readonly WebhookType[]) {
      followUntil(signal, {
        begin: () =>
          this.#cluster.follow({
            path: collectionPath(place(type), ""),
            query: { labelSelector: this.#labelSelector },
            target: () => ({ put: changed, delete: changed }),
          }),
        clock: this.#clock,
        failed,
      });
    }
  }
}
