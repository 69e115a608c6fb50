/**
 * Elects the leading replica: the one that holds a Lease, by the rules of client-go's leader election. Clocks are never compared: a Lease counts as held for
 * its duration from the moment at which this replica last saw it change.
 */
import type { Clock } from "../../data/clock.js";
import { isConflict, isForbidden, isNotFound, reasonOf } from "../../kubernetes/client/errors.js";
import type { ClusterHttp } from "../../kubernetes/client/http.js";
import type { Outage } from "../../kubernetes/client/outage.js";
import { collectionPath, objectPath } from "../../kubernetes/client/paths.js";
import { retryWait } from "../../kubernetes/client/retries.js";
import { type JsonObject, member, text } from "../../kubernetes/object.js";
import type { Logger } from "../../telemetry/logger.js";
import { FIELD_MANAGER, LEASES, leaseObject, MANAGED_BY, microTime } from "../lease.js";

// Times of an election in milliseconds: those of Kubernetes' own controllers.

/** How long a Lease that is not renewed blocks others. */
const LEASE_MS = 15_000;
/** How long after its last renewal a leader that cannot renew continues: well before another may lead. */
const RENEW_DEADLINE_MS = 10_000;
/** Interval between two attempts. */
const RETRY_MS = 2_000;
/** Factor of the interval for replicas that do not lead. */
const JITTER = 1.2;
/** Time for one attempt: two of them fail before a leader gives up. */
const ATTEMPT_MS = 5_000;

/** The options of an election. */
export interface ElectionOptions {
  /** A client with connections of its own: nothing else may delay a renewal. */
  readonly http: Pick<ClusterHttp, "get" | "create" | "replace">;
  /** As a client that asks all the time sees it. */
  readonly outage?: Outage;
  readonly clock: Clock;
  /** At least 0, less than 1. */
  readonly random: () => number;
  readonly log: Logger;
  readonly namespace: string;
  readonly name: string;
  /** The identity of this process, different from any before or after it. */
  readonly identity: string;
  /** Called when this replica begins to lead; it leads until the signal is aborted. */
  readonly lead: (signal: AbortSignal) => void;
}

/** A Lease as it was seen. */
interface Seen {
  readonly spec: JsonObject;
  readonly resourceVersion: string;
  /** When it was first seen, by {@link Clock.now}. */
  readonly at: number;
}

/** A candidate from its creation on. */
export class Election {
  readonly #options: ElectionOptions;
  #seen: Seen | undefined;
  /** Set while this replica leads. */
  #leading: AbortController | undefined;
  #deadline: () => void = () => {};
  #next: () => void = () => {};
  #isWaiting = false;
  /** Consecutive attempts that the API server has refused. */
  #refusals = 0;
  readonly #forgetOutage: (() => void) | undefined;
  #attempt: Promise<void> = Promise.resolve();
  readonly #stopping = new AbortController();
  #reason = "";

  constructor(options: ElectionOptions) {
    this.#options = options;
    this.#forgetOutage = options.outage?.over(() => {
      this.#refusals = 0;
      if (this.#isWaiting) this.#try();
    });
    this.#try();
  }

  get leading(): boolean {
    return this.#leading !== undefined;
  }

  /** The known leader; empty: none. */
  get holder(): string {
    return text(this.#seen?.spec, "holderIdentity");
  }

  /** Resolves when the attempt under way is done. */
  settled(): Promise<void> {
    return this.#attempt;
  }

  /** Stops leading, and releases the Lease, so that another replica may lead at once. */
  async stop(): Promise<void> {
    const held = this.leading;
    this.#stopping.abort();
    this.#forgetOutage?.();
    this.#next();
    this.#lose("this replica stops");
    await this.#attempt;
    if (held) await this.#release();
  }

  #try(): void {
    this.#isWaiting = false;
    this.#next();
    this.#attempt = this.#tryOnce().then(() => this.#soon());
  }

  #soon(): void {
    if (this.#stopping.signal.aborted) return;
    const { clock, random } = this.#options;
    // Replicas that wait for a Lease try at different times.
    const wait = this.leading ? RETRY_MS : RETRY_MS * (1 + random() * JITTER);
    const refused = this.leading || this.#refusals === 0 ? 0 : retryWait(this.#refusals, random);
    this.#isWaiting = true;
    this.#next = clock.after(Math.max(wait, refused), () => this.#try());
  }

  /** One attempt. Never rejects. */
  async #tryOnce(): Promise<void> {
    const { clock, log, namespace, name } = this.#options;
    const began = clock.now();
    const limit = new AbortController();
    const end = (): void => limit.abort();
    const cancel = clock.after(ATTEMPT_MS, end);
    this.#stopping.signal.addEventListener("abort", end, { once: true });
    try {
      const held = await this.#acquireOrRenew(limit.signal);
      this.#reason = "";
      this.#refusals = 0;
      if (this.#stopping.signal.aborted) return;
      if (held) this.#renewed(began);
      else this.#lose(`${this.holder} holds the Lease`);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      // Another replica was quicker, or this one itself if its answer was lost: the next attempt reads the Lease.
      if (isConflict(error)) this.#seen = undefined;
      else if (isForbidden(error) || isNotFound(error)) {
        this.#refusals += 1;
        const reason = reasonOf(error);
        const message = "this replica cannot take part in the election of a leader: it serves, and writes nothing";
        const settling = this.#options.outage?.settling === true;
        if (reason !== this.#reason)
          log.log(settling ? "info" : "error", message, { lease: `${namespace}/${name}`, reason });
        this.#reason = settling ? "" : reason;
      } else log.debug("an attempt to hold the Lease of the leader has failed", { reason: reasonOf(error) });
    } finally {
      cancel();
      this.#stopping.signal.removeEventListener("abort", end);
    }
  }

  /** @returns whether this replica holds the Lease */
  async #acquireOrRenew(signal: AbortSignal): Promise<boolean> {
    const { identity, clock } = this.#options;
    if (this.leading && this.#seen !== undefined) {
      try {
        return await this.#write(this.#seen, signal);
      } catch (error) {
        // It was written by another, perhaps by a new leader, which has to be known now.
        if (!isConflict(error)) throw error;
      }
    }
    const found = await this.#read(signal);
    if (found === undefined) return this.#create(signal);
    if (found.resourceVersion !== this.#seen?.resourceVersion) this.#seen = found;
    const { spec, at } = this.#seen;
    const holder = text(spec, "holderIdentity");
    if (holder !== "" && holder !== identity && clock.now() < at + durationOf(spec)) return false;
    return this.#write(this.#seen, signal);
  }

  async #read(signal: AbortSignal): Promise<Seen | undefined> {
    const { http, namespace, name } = this.#options;
    try {
      return this.#saw((await http.get(objectPath(LEASES, namespace, name), {}, signal)).value);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #create(signal: AbortSignal): Promise<boolean> {
    const { http, namespace, name } = this.#options;
    const now = microTime(this.#options.clock.wall());
    const spec = this.#spec({ acquireTime: now, renewTime: now, leaseTransitions: 0 });
    const lease = leaseObject({ name, namespace, labels: MANAGED_BY }, spec);
    const options = { fieldManager: FIELD_MANAGER };
    this.#seen = this.#saw(await http.create(collectionPath(LEASES, namespace), lease, options, signal));
    return true;
  }

  async #write({ spec, resourceVersion }: Seen, signal: AbortSignal): Promise<boolean> {
    const now = microTime(this.#options.clock.wall());
    const own = text(spec, "holderIdentity") === this.#options.identity;
    const transitions = Number(member(spec, "leaseTransitions") ?? 0);
    await this.#replace(
      resourceVersion,
      this.#spec({
        acquireTime: own ? text(spec, "acquireTime") || now : now,
        renewTime: now,
        leaseTransitions: own ? transitions : transitions + 1,
      }),
      signal,
    );
    return true;
  }

  async #replace(resourceVersion: string, spec: JsonObject, signal: AbortSignal): Promise<void> {
    const { http, namespace, name } = this.#options;
    const lease = leaseObject({ name, namespace, resourceVersion, labels: MANAGED_BY }, spec);
    const options = { fieldManager: FIELD_MANAGER };
    this.#seen = this.#saw(await http.replace(objectPath(LEASES, namespace, name), lease, options, signal));
  }

  #spec(times: JsonObject): JsonObject {
    return { holderIdentity: this.#options.identity, leaseDurationSeconds: LEASE_MS / 1000, ...times };
  }

  #saw(lease: unknown): Seen {
    const spec = member(lease, "spec");
    return {
      spec: (typeof spec === "object" && spec !== null ? spec : {}) as JsonObject,
      resourceVersion: text(member(lease, "metadata"), "resourceVersion"),
      at: this.#options.clock.now(),
    };
  }

  /** @param began when the renewal was sent: others may have seen it no earlier */
  #renewed(began: number): void {
    const { clock, log, lead, identity } = this.#options;
    const left = began + RENEW_DEADLINE_MS - clock.now();
    if (left <= 0) return;
    this.#deadline();
    this.#deadline = clock.after(left, () => this.#lose("the Lease could not be renewed in time"));
    if (this.#leading !== undefined) return;
    this.#leading = new AbortController();
    log.info("this replica leads", { identity });
    lead(this.#leading.signal);
  }

  #lose(reason: string): void {
    this.#deadline();
    const leading = this.#leading;
    if (leading === undefined) return;
    this.#leading = undefined;
    leading.abort();
    this.#options.log.info("this replica leads no more", { reason });
  }

  /** Releases the Lease; if that fails, others have to wait until it expires. */
  async #release(): Promise<void> {
    const { clock, log } = this.#options;
    if (this.#seen === undefined) return;
    const now = microTime(clock.wall());
    const limit = new AbortController();
    const cancel = clock.after(ATTEMPT_MS, () => limit.abort());
    const transitions = member(this.#seen.spec, "leaseTransitions");
    const spec = { holderIdentity: "", leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
    try {
      await this.#replace(this.#seen.resourceVersion, { ...spec, leaseTransitions: transitions }, limit.signal);
    } catch (error) {
      log.debug("the Lease of the leader could not be released", { reason: reasonOf(error) });
    } finally {
      cancel();
    }
  }
}

/** The duration in milliseconds; the holder's own, if it is valid. */
function durationOf(spec: JsonObject): number {
  const seconds = member(spec, "leaseDurationSeconds");
  return typeof seconds === "number" && seconds > 0 ? seconds * 1000 : LEASE_MS;
}
