/** A cluster that holds configurations, and replicas. */

import { FIELD_MANAGER } from "../../../src/cluster/lease.js";
import { shortHash } from "../../../src/cluster/replicas/route-hash.js";
import type { ReplicaInfo, Replicas } from "../../../src/cluster/replicas.js";
import type { WebhookType } from "../../../src/cluster/webhooks/configuration.js";
import type { ConfigurationStore } from "../../../src/cluster/webhooks/store.js";
import { type ApiCause, ApiError } from "../../../src/kubernetes/client/errors.js";

export interface Webhook {
  readonly name: string;
  readonly [key: string]: unknown;
}

export interface Configuration {
  readonly metadata: { readonly name: string; readonly labels?: unknown; readonly ownerReferences?: unknown };
  readonly webhooks: readonly Webhook[];
}

/** As much of an API server as configurations need: lists of webhooks are merged by name when they are applied. */
export class FakeStore implements ConfigurationStore {
  readonly objects = new Map<string, Configuration>();
  /** What was asked of it, reads left out. */
  readonly writes: string[] = [];
  /** Webhooks that it was asked to look at only. */
  readonly attempts: (readonly string[])[] = [];
  /** Why a webhook is refused: `<place in it>: <what is wrong>`. */
  refuse: (webhook: Webhook) => string | undefined = () => undefined;
  /** What an object with these webhooks is refused with, whatever is said of each. */
  refuseAll: (webhooks: readonly Webhook[]) => Error | undefined = () => undefined;
  /** Fails every request. */
  failing: Error | undefined;
  owner: string | undefined = "owner-uid";
  #changed = (): void => {};

  async list(type: WebhookType, _signal?: AbortSignal): Promise<readonly unknown[]> {
    this.#check();
    return [...this.objects].flatMap(([key, object]) => (key.startsWith(type) ? [structuredClone(object)] : []));
  }

  async apply(type: WebhookType, configuration: unknown): Promise<unknown> {
    const { metadata, webhooks } = structuredClone(configuration) as Configuration;
    this.writes.push(`apply ${type} ${metadata.name} as ${FIELD_MANAGER}`);
    const former = this.objects.get(`${type} ${metadata.name}`)?.webhooks ?? [];
    const foreign = former.filter(({ foreign: isForeign }) => isForeign === true);
    return this.#put(type, { metadata, webhooks: [...webhooks, ...foreign] });
  }

  async attempt(type: WebhookType, configuration: unknown): Promise<unknown> {
    const { metadata, webhooks } = structuredClone(configuration) as Configuration;
    this.attempts.push(webhooks.map(({ name }) => name.split(".")[0] ?? ""));
    try {
      this.#check();
      this.#validate(type, { metadata, webhooks });
      return undefined;
    } catch (error) {
      return error;
    }
  }

  async overwrite(type: WebhookType, configuration: unknown): Promise<unknown> {
    const { metadata, webhooks } = structuredClone(configuration) as Configuration;
    this.writes.push(`overwrite ${type} ${metadata.name}`);
    return this.#put(type, { metadata, webhooks });
  }

  async remove(type: WebhookType, name: string): Promise<void> {
    this.#check();
    this.writes.push(`remove ${type} ${name}`);
    this.objects.delete(`${type} ${name}`);
  }

  async ownerUid(name: string): Promise<string> {
    if (this.owner === undefined) throw new ApiError(404, "NotFound", `clusterroles "${name}" not found`);
    return this.owner;
  }

  watch(_signal: AbortSignal, changed: () => void): void {
    this.#changed = changed;
  }

  /** Somebody changes something. */
  edit(key: string, change: (object: Configuration) => Configuration | undefined): void {
    const object = this.objects.get(key);
    const changed = object && change(object);
    if (changed === undefined) this.objects.delete(key);
    else this.objects.set(key, changed);
    this.#changed();
  }

  /** Names of webhooks by object. */
  get standing(): Readonly<Record<string, readonly string[]>> {
    return Object.fromEntries(
      Array.from(this.objects, ([key, { webhooks }]) => [key, webhooks.map(({ name }) => name.split(".")[0] ?? "")]),
    );
  }

  #check(): void {
    if (this.failing !== undefined) throw this.failing;
  }

  #put(type: WebhookType, object: Configuration): Configuration {
    this.#check();
    this.#validate(type, object);
    this.objects.set(`${type} ${object.metadata.name}`, object);
    return structuredClone(object);
  }

  /** As the API server does: every mistake with its place, and all of them once more in the message. */
  #validate(type: WebhookType, { metadata: { name }, webhooks }: Configuration): void {
    const whole = this.refuseAll(webhooks);
    if (whole !== undefined) throw whole;
    const causes = webhooks.flatMap((webhook, i) => {
      const [place = "", ...words] = this.refuse(webhook)?.split(": ") ?? [];
      return place === "" ? [] : [{ field: `webhooks[${i}].${place}`, message: words.join(": ") }];
    });
    if (causes.length > 0) throw invalidError(type, name, causes);
  }
}

/** The refusal of an object as the API server builds it (NewInvalid of apimachinery's errors). */
export function invalidError(type: WebhookType, name: string, causes: readonly ApiCause[]): ApiError {
  const kind = `${type === "mutating" ? "Mutating" : "Validating"}WebhookConfiguration.admissionregistration.k8s.io`;
  const all = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const list = all.length === 1 ? all.join("") : `[${all.join(", ")}]`;
  return new ApiError(422, "Invalid", `${kind} "${name}" is invalid: ${list}`, "", causes);
}

/** Replicas that answer what a test says. */
export class FakeReplicas implements Pick<Replicas, "live" | "changed"> {
  live: readonly ReplicaInfo[] = [];
  #calls = new Set<() => void>();

  changed(call: () => void): () => void {
    this.#calls.add(call);
    return () => this.#calls.delete(call);
  }

  /** @param paths that each of them answers */
  are(...replicas: readonly (readonly string[])[]): void {
    this.live = replicas.map((paths, i) => ({ name: `r${i}`, routes: new Set(paths.map(shortHash)), facts: {} }));
    this.tell();
  }

  /** Something has changed. */
  tell(): void {
    for (const call of this.#calls) call();
  }
}
