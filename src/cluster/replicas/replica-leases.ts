/** Replicas by their Leases: each renews its own, and watches those of the others. */
import type { Clock } from "../../data/clock.js";
import { ApiError, isForbidden, isNotFound, ResourceError, reasonOf } from "../../kubernetes/client/errors.js";
import { followUntil } from "../../kubernetes/client/follow.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import { collectionPath, objectPath } from "../../kubernetes/client/paths.js";
import { retryWait } from "../../kubernetes/client/retries.js";
import type { ListTarget } from "../../kubernetes/client/watched-list.js";
import { isObject, member, nameOf, text } from "../../kubernetes/object.js";
import type { Logger } from "../../telemetry/logger.js";
import type { Contact } from "../contact.js";
import { FIELD_MANAGER, forServer, LEASES, leaseObject, MANAGED_BY, microTime, PREFIX } from "../lease.js";
import type { ReplicaInfo, Replicas } from "../replicas.js";
import { clockOffset } from "../server-time.js";
import type { ClusterSettings } from "../settings.js";
import {
  ANNOUNCE_MS,
  BLIND_MS,
  DELETE_AFTER_MS,
  LIVE_MS,
  LOOK_MS,
  MAX_ANNOUNCED_BYTES,
  MAX_REPLICAS,
  RENEW_MS,
  WRITE_MS,
} from "./limits.js";

/** A replica's Lease as it was seen. */
interface SeenLease extends ReplicaInfo {
  /** The name of the Lease. */
  readonly lease: string;
  readonly resourceVersion: string;
}

/** Leases of replicas, by their own names. */
class SeenLeases implements ListTarget {
  readonly all = new Map<string, SeenLease>();

  /** @throws ResourceError when there are too many */
  put(object: unknown): void {
    const lease = nameOf(object);
    const metadata = member(object, "metadata");
    const facts: Record<string, string> = {};
    const annotations = member(metadata, "annotations");
    for (const [key, value] of isObject(annotations) ? Object.entries(annotations) : [])
      if (key.startsWith(PREFIX) && typeof value === "string") facts[key.slice(PREFIX.length)] = value;
    this.all.set(lease, {
      lease,
      name: text(member(object, "spec"), "holderIdentity"),
      resourceVersion: text(metadata, "resourceVersion"),
      routes: routesOf(facts),
      facts,
    });
    if (this.all.size > MAX_REPLICAS) throw new ResourceError(`there are more than ${MAX_REPLICAS} Leases of replicas`);
  }

  delete(object: unknown): void {
    this.all.delete(nameOf(object));
  }
}

/** The paths that a replica announces. */
const routesOf = ({ routes = "" }: Readonly<Record<string, string>>): ReadonlySet<string> =>
  new Set(routes.split(",").filter((route) => route !== ""));

/** The label of replicas' Leases: the server that they belong to. */
const LABEL = `${PREFIX}replica-of`;

/** The options. */
export interface ReplicaLeasesOptions {
  readonly cluster: Pick<Cluster, "http" | "follow">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly contact: Contact;
  readonly settings: Pick<ClusterSettings, "namespace" | "replica" | "policyServer">;
  /** Called once when {@link ReplicaLeases.known} becomes true. */
  readonly becameKnown?: () => void;
}

/** Keeps this replica's Lease, and watches the others'. */
export class ReplicaLeases implements Replicas {
  readonly #options: ReplicaLeasesOptions;
  readonly #own: string;
  readonly #facts: Record<string, string> = {};
  readonly #stopping = new AbortController();
  readonly #calls = new Set<() => void>();
  #seen: ReadonlyMap<string, SeenLease> = new Map();
  /** When each Lease was last seen to be renewed, by {@link Clock.now}. */
  readonly #renewed = new Map<string, { readonly version: string; readonly at: number }>();
  #live: readonly ReplicaInfo[];
  /** When the API server answered last. */
  #answered = Number.NEGATIVE_INFINITY;
  #writing: Promise<void> | undefined;
  /** Consecutive writes that have failed. */
  #failures = 0;
  readonly #forgetOutage: () => void;
  #clockOffset = 0;
  #again = false;
  #next: () => void = () => {};
  #look: () => void = () => {};
  readonly #said = new Set<string>();
  #known = false;

  constructor(options: ReplicaLeasesOptions) {
    this.#options = options;
    const { cluster, clock, settings, contact } = options;
    this.#own = forServer(`policy-server-replica-${settings.replica}`, settings.policyServer);
    this.#live = [this.#self()];
    followUntil<SeenLeases>(this.#stopping.signal, {
      clock,
      begin: () => {
        let current: SeenLeases | undefined;
        return cluster.follow({
          path: collectionPath(LEASES, settings.namespace),
          query: { labelSelector: `${LABEL}=${settings.policyServer}` },
          target: () => new SeenLeases(),
          listed: (leases) => {
            current = leases;
            this.#see(leases.all);
          },
          changed: () => {
            if (current !== undefined) this.#see(current.all);
          },
        });
      },
      failed: (error, refused) => {
        contact.saw(error);
        if (!refused) return;
        this.#say("the Leases of other replicas may not be watched: this one takes itself for the only one", error);
        this.#know();
      },
    });
    this.#forgetOutage = cluster.http.outage.over(() => this.#write());
    this.#write();
    this.#lookAgain();
  }

  /** Whether the others' Leases were listed: before that the live replicas are not known. */
  get known(): boolean {
    return this.#known;
  }

  get live(): readonly ReplicaInfo[] {
    return this.#live;
  }

  changed(call: () => void): () => void {
    this.#calls.add(call);
    return () => this.#calls.delete(call);
  }

  serverWall(): number {
    return this.#options.clock.wall() + this.#clockOffset;
  }

  announce(key: string, value: string): void {
    if (this.#facts[key] === value) return;
    const others = Object.entries(this.#facts).filter(([name]) => name !== key);
    const bytes = [...others, [key, value] as const].reduce(
      (sum, [name, text]) => sum + PREFIX.length + Buffer.byteLength(name) + Buffer.byteLength(text),
      0,
    );
    if (bytes > MAX_ANNOUNCED_BYTES) {
      this.#say(`this replica has more to tell others than ${MAX_ANNOUNCED_BYTES} bytes: "${key}" stays as it was`);
      return;
    }
    this.#facts[key] = value;
    this.#refresh();
    // The write under way does not contain it yet.
    if (this.#writing !== undefined) {
      this.#again = true;
      return;
    }
    this.#next();
    this.#next = this.#options.clock.after(ANNOUNCE_MS, () => this.#write());
  }

  /** Deletes the Leases of replicas that have gone, until the signal is aborted: only the leader does it. */
  sweep(signal: AbortSignal): void {
    const { clock, settings, cluster } = this.#options;
    if (signal.aborted || this.#stopping.signal.aborted) return;
    const now = clock.now();
    for (const { lease, resourceVersion } of this.#blind ? [] : this.#seen.values()) {
      if (lease === this.#own || now < (this.#renewed.get(lease)?.at ?? now) + LIVE_MS + DELETE_AFTER_MS) continue;
      const path = objectPath(LEASES, settings.namespace, lease);
      cluster.http.delete(path, { preconditions: { resourceVersion } }, signal).catch((error: unknown) => {
        // One that was renewed after all stays.
        if (error instanceof ApiError && error.status !== 409 && error.status !== 404)
          this.#say("the Lease of a replica that has gone could not be deleted", error);
      });
    }
    clock.after(RENEW_MS, () => this.sweep(signal));
  }

  /** Resolves when the write under way is done. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  /** Deletes this replica's Lease. */
  async stop(): Promise<void> {
    const { cluster, settings, clock, log } = this.#options;
    this.#stopping.abort();
    this.#forgetOutage();
    this.#next();
    this.#look();
    await this.#writing;
    const limit = new AbortController();
    const cancel = clock.after(WRITE_MS, () => limit.abort());
    try {
      await cluster.http.delete(objectPath(LEASES, settings.namespace, this.#own), {}, limit.signal);
    } catch (error) {
      if (!isNotFound(error)) log.debug("this replica's Lease could not be deleted", { reason: reasonOf(error) });
    } finally {
      cancel();
    }
  }

  #self(): ReplicaInfo {
    const facts = { ...this.#facts };
    return { name: this.#options.settings.replica, routes: routesOf(facts), facts };
  }

  /** Writes this replica's Lease, one write after the other, and again when it is time. */
  #write(): void {
    if (this.#stopping.signal.aborted) return;
    if (this.#writing !== undefined) {
      this.#again = true;
      return;
    }
    this.#writing = this.#writeOnce().then(() => {
      this.#writing = undefined;
      if (this.#stopping.signal.aborted) return;
      const next = this.#failures === 0 ? RENEW_MS : retryWait(this.#failures, Math.random, RENEW_MS);
      const wait = this.#again ? ANNOUNCE_MS : next;
      this.#again = false;
      this.#next();
      this.#next = this.#options.clock.after(wait, () => this.#write());
    });
  }

  /** One write. Never rejects. */
  async #writeOnce(): Promise<void> {
    const { cluster, clock, contact, settings } = this.#options;
    const { namespace, replica, policyServer } = settings;
    const annotations = Object.fromEntries(Object.entries(this.#facts).map(([key, value]) => [PREFIX + key, value]));
    const lease = leaseObject(
      { name: this.#own, namespace, labels: { ...MANAGED_BY, [LABEL]: policyServer }, annotations },
      { holderIdentity: replica, leaseDurationSeconds: LIVE_MS / 1000, renewTime: microTime(clock.wall()) },
    );
    const limit = new AbortController();
    const cancel = clock.after(WRITE_MS, () => limit.abort());
    try {
      const path = objectPath(LEASES, namespace, this.#own);
      const written = await cluster.http.apply(path, lease, { fieldManager: FIELD_MANAGER }, limit.signal);
      this.#clockOffset = clockOffset(written, clock.wall());
      this.#failures = 0;
      contact.made();
      this.#hasAnswered();
    } catch (error) {
      this.#failures += 1;
      contact.saw(error);
      if (!(error instanceof ApiError) || error.status >= 500) return;
      this.#hasAnswered();
      if (isForbidden(error) && cluster.http.outage.settling) return;
      this.#say("this replica's Lease cannot be written: others do not know of it", error);
    } finally {
      cancel();
    }
  }

  /** Records an answer of the API server. After a silence every replica has the time of a Lease to be seen again. */
  #hasAnswered(): void {
    const now = this.#options.clock.now();
    if (this.#blind) for (const [lease, { version }] of this.#renewed) this.#renewed.set(lease, { version, at: now });
    this.#answered = now;
  }

  get #blind(): boolean {
    return this.#options.clock.now() - this.#answered > BLIND_MS;
  }

  #see(leases: ReadonlyMap<string, SeenLease>): void {
    const now = this.#options.clock.now();
    this.#options.contact.made();
    this.#seen = new Map(leases);
    for (const lease of this.#renewed.keys()) if (!leases.has(lease)) this.#renewed.delete(lease);
    for (const { lease, resourceVersion } of leases.values())
      if (this.#renewed.get(lease)?.version !== resourceVersion)
        this.#renewed.set(lease, { version: resourceVersion, at: now });
    this.#refresh();
    this.#know();
  }

  #know(): void {
    if (this.#known) return;
    this.#known = true;
    this.#options.becameKnown?.();
  }

  #lookAgain(): void {
    this.#look = this.#options.clock.after(LOOK_MS, () => {
      this.#refresh();
      this.#lookAgain();
    });
  }

  /** Computes the live replicas, and calls back if they have changed. */
  #refresh(): void {
    const now = this.#options.clock.now();
    const before = new Set(this.#live.map(({ name }) => name));
    const live: ReplicaInfo[] = [this.#self()];
    for (const { lease, name, routes, facts } of this.#seen.values()) {
      if (lease === this.#own) continue;
      const fresh = now - (this.#renewed.get(lease)?.at ?? now) < LIVE_MS;
      if (fresh || (this.#blind && before.has(name))) live.push({ name, routes, facts });
    }
    live.sort((a, b) => (a.name < b.name ? -1 : 1));
    const same = JSON.stringify(live.map(saying)) === JSON.stringify(this.#live.map(saying));
    this.#live = live;
    if (!same) for (const call of this.#calls) call();
  }

  #say(message: string, error?: unknown): void {
    if (this.#said.has(message)) return;
    this.#said.add(message);
    this.#options.log.error(message, error === undefined ? {} : { reason: reasonOf(error) });
  }
}

const saying = ({ name, facts }: ReplicaInfo) => ({ name, facts });
