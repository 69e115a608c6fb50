/** Approves and denies CertificateRequests, as cert-manager's approver-policy does (spec certificate-request-policy.md 1.3, 3.1, 7.3). */
import { setMaxListeners } from "node:events";
import type { Clock } from "../../data/clock.js";
import { orAborted } from "../../data/or-aborted.js";
import { ApiError, reasonOf } from "../../kubernetes/client/errors.js";
import { followUntil } from "../../kubernetes/client/follow.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import { collectionPath, objectPath, statusPath } from "../../kubernetes/client/paths.js";
import { Retries } from "../../kubernetes/client/retries.js";
import { isObject, type JsonObject, member, nameOf, namespaceOf, text } from "../../kubernetes/object.js";
import type { Ruling } from "../../policy/approving.js";
import type { Logger } from "../../telemetry/logger.js";
import { Slices } from "../../telemetry/slices.js";
import {
  type ApprovalCount,
  boundedCounts,
  CertificateRequests,
  keyOf,
  type UndecidedRequest,
} from "./certificate-requests.js";
import { type DecisionType, decisionIn, statusPatch } from "./condition.js";
import { Events, shortened } from "./events.js";
import { MAX_HELD_BYTES, MAX_REVIEWS, PAGE_BYTES, PAGE_REQUESTS, REVIEW_MS } from "./limits.js";
import { Surroundings } from "./surroundings.js";

/** Number of taken keys at the front of the array from which on they are removed together: removing each by itself would cost as much as the whole queue. */
const COMPACT_AFTER = 1_024;

/** Keys that wait to be worked on, each once, in order. One that is added again during the work on it waits until that is done. */
export class WorkQueue {
  readonly #waiting = new Set<string>();
  readonly #processing = new Set<string>();
  #order: string[] = [];
  #head = 0;

  /** Number of keys that are waiting. */
  get size(): number {
    return this.#waiting.size;
  }

  add(key: string): void {
    if (this.#waiting.has(key)) return;
    this.#waiting.add(key);
    if (!this.#processing.has(key)) this.#order.push(key);
  }

  /** The next key, which is then worked on until it is {@link done}; `undefined` when there is none. */
  take(): string | undefined {
    const key = this.#order[this.#head];
    if (key === undefined) return undefined;
    this.#head++;
    if (this.#head >= COMPACT_AFTER && this.#head * 2 >= this.#order.length) {
      this.#order = this.#order.slice(this.#head);
      this.#head = 0;
    }
    this.#waiting.delete(key);
    this.#processing.add(key);
    return key;
  }

  /** Must be called when the work on a key is done. */
  done(key: string): void {
    this.#processing.delete(key);
    if (this.#waiting.has(key)) this.#order.push(key);
  }
}

const RESOURCE = { group: "cert-manager.io", version: "v1", plural: "certificaterequests" };
/** The field manager, approver-policy's own: so a change from one to the other leaves no fields with two managers. */
const FIELD_MANAGER = "approver-policy";

/** The text of an event that every reader of events may see: it contains nothing about how policies are set up. */
const UNPROCESSED = "Request is not applicable for any policy so ignoring";
const FAILED = "approver-policy failed to review the request and will retry";

/** The options of an approver. */
export interface ApproverOptions {
  readonly cluster: Pick<Cluster, "http" | "follow">;
  /**
   * Decides about a request by the present policies; `undefined` when none of them could. It is called again then only after
   * {@link Approver.policiesChanged}. An exception is an error of the review.
   */
  readonly decide: (request: JsonObject, signal: AbortSignal) => Promise<Ruling | undefined>;
  readonly log: Logger;
  readonly clock: Clock;
  /** At least 0, less than 1. */
  readonly random: () => number;
  /** The author of events, such as the pod's name. */
  readonly instance: string;
  /** Most bytes of undecided requests that are kept; default {@link MAX_HELD_BYTES}. */
  readonly maxHeldBytes?: number;
}

/** A running approver. */
export class Approver {
  readonly #options: ApproverOptions;
  readonly #stopping = new AbortController();
  readonly #queue = new WorkQueue();
  readonly #retries: Retries;
  readonly #events: Events;
  readonly #slices: Slices;
  #requests = new CertificateRequests();
  /** Counts changes of policies: reviews by older ones do not count. */
  #epoch = 0;
  #running = 0;
  #ended: () => void = () => {};
  #end: Promise<void> | undefined;
  #lastFailure = "";

  /** Starts to work, without waiting: until the cluster answers, no request is decided. */
  constructor(options: ApproverOptions) {
    const { cluster, clock, log, random, instance, maxHeldBytes = MAX_HELD_BYTES } = options;
    const { signal } = this.#stopping;
    this.#options = options;
    // There are as many listeners as lists and reviews.
    setMaxListeners(0, signal);
    this.#slices = new Slices(() => clock.now());
    this.#retries = new Retries(clock, random, (key) => this.#add(key), cluster.http.outage);
    this.#events = new Events(cluster.http, clock, log, instance, signal);
    followUntil(signal, {
      clock,
      begin: () =>
        cluster.follow({
          path: collectionPath(RESOURCE, ""),
          query: {},
          target: () => new CertificateRequests({ maxHeldBytes }),
          // Only undecided requests are kept, and of these as many as fit.
          maxBytes: Number.POSITIVE_INFINITY,
          pageItems: PAGE_REQUESTS,
          pageBytes: PAGE_BYTES,
          listed: (requests) => this.#listed(requests),
          changed: (object) => this.#add(keyOf(object)),
        }),
      failed: (error) => this.#listFailed(error),
    });
    new Surroundings({ cluster, clock, log, signal, sweep: (namespaces) => this.#sweep(namespaces) });
  }

  /** Must be called when policies have changed: all undecided requests are reviewed again, and reviews under way do not count. */
  policiesChanged(): void {
    this.#epoch++;
    this.#sweep(undefined);
  }

  /** The number of requests, for the metric. */
  counts(): ApprovalCount[] {
    return boundedCounts(this.#requests.counts());
  }

  /** Ends reviews under way; no request is decided after that. */
  stop(): Promise<void> {
    this.#stopping.abort();
    this.#retries.stop();
    this.#end ??= new Promise<void>((resolve) => {
      this.#ended = resolve;
      if (this.#running === 0) resolve();
    });
    return this.#end;
  }

  #listed(requests: CertificateRequests): void {
    const before = this.#requests;
    this.#requests = requests;
    this.#lastFailure = "";
    void this.#look(requests, (key, { version }) => before.get(key)?.version !== version);
  }

  #listFailed(error: unknown): void {
    const reason = reasonOf(error);
    if (reason !== this.#lastFailure) this.#options.log.error("CertificateRequests cannot be watched", { reason });
    this.#lastFailure = reason;
  }

  #sweep(namespaces: ReadonlySet<string> | undefined): void {
    void this.#look(this.#requests, (_, { namespace }) => namespaces === undefined || namespaces.has(namespace));
  }

  /** Queues requests for review. Queuing a hundred thousand takes a while: others have their turn in between. */
  async #look(
    requests: CertificateRequests,
    wanted: (key: string, request: UndecidedRequest) => boolean,
  ): Promise<void> {
    const slices = new Slices(() => this.#options.clock.now());
    for (const [key, request] of requests.undecided()) {
      if (wanted(key, request)) this.#queue.add(key);
      if (!slices.over()) continue;
      await slices.rest();
      if (this.#stopping.signal.aborted) return;
    }
    this.#work();
  }

  #add(key: string): void {
    this.#queue.add(key);
    this.#work();
  }

  /** Starts as many reviews as may be under way. */
  #work(): void {
    while (this.#running < MAX_REVIEWS && !this.#stopping.signal.aborted) {
      const key = this.#queue.take();
      if (key === undefined) return;
      this.#running++;
      void this.#workOn(key);
    }
  }

  async #workOn(key: string): Promise<void> {
    try {
      // Reviews that need not wait come one after the other: others must have their turn in between.
      if (this.#slices.over()) await this.#slices.rest();
      if (!this.#stopping.signal.aborted) await this.#review(key);
    } catch (error) {
      this.#failed(key, "a CertificateRequest could not be looked at", error);
    } finally {
      this.#running--;
      this.#queue.done(key);
      this.#work();
      if (this.#running === 0) this.#ended();
    }
  }

  async #review(key: string): Promise<void> {
    const known = this.#requests.get(key);
    const request = known && (known.object ?? (await this.#fetch(known)));
    if (request === undefined || decisionIn(request) !== undefined) {
      this.#retries.forget(key);
      return;
    }
    // An empty one would make the decision apply to whichever version exists when it is written.
    if (text(member(request, "metadata"), "resourceVersion") === "") throw new Error("it has no resourceVersion");
    const epoch = this.#epoch;
    const ruling = await this.#decide(request);
    if (this.#stopping.signal.aborted) return;
    if (epoch !== this.#epoch) {
      this.#queue.add(key);
      return;
    }
    if (ruling === undefined) {
      this.#retries.forget(key);
      return;
    }
    const fields = { namespace: namespaceOf(request), name: nameOf(request) };
    switch (ruling.result) {
      case "Approved":
      case "Denied":
        return this.#write(key, request, ruling.result, ruling.message);
      case "Unprocessed":
        this.#retries.forget(key);
        this.#options.log.debug("CertificateRequest left undecided", { ...fields, reason: ruling.message });
        this.#events.record(request, { type: "Normal", reason: "Unprocessed", note: UNPROCESSED });
        return;
      case "Error":
        this.#failed(key, "a CertificateRequest could not be reviewed", ruling.cause);
        this.#events.record(request, { type: "Warning", reason: "EvaluationError", note: FAILED });
    }
  }

  async #decide(request: JsonObject): Promise<Ruling | undefined> {
    const { decide, clock } = this.#options;
    const limit = new AbortController();
    const end = (): void => limit.abort();
    const cancel = clock.after(REVIEW_MS, end);
    this.#stopping.signal.addEventListener("abort", end, { once: true });
    try {
      return await orAborted(
        decide(request, limit.signal),
        limit.signal,
        `the review took longer than ${REVIEW_MS} ms`,
      );
    } catch (error) {
      return { result: "Error", cause: reasonOf(error) };
    } finally {
      cancel();
      this.#stopping.signal.removeEventListener("abort", end);
    }
  }

  /** Fetches a request that was not kept; `undefined` when it is gone. */
  async #fetch({ namespace, name }: UndecidedRequest): Promise<JsonObject | undefined> {
    try {
      const path = objectPath(RESOURCE, namespace, name);
      const { value } = await this.#options.cluster.http.get(path, {}, this.#stopping.signal);
      return isObject(value) ? value : undefined;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  async #write(key: string, request: JsonObject, type: DecisionType, message: string): Promise<void> {
    const { cluster, clock, log } = this.#options;
    const metadata = member(request, "metadata");
    const [namespace, name] = [namespaceOf(request), nameOf(request)];
    const fields = { namespace, name, uid: text(metadata, "uid"), decision: type };
    const path = statusPath(RESOURCE, namespace, name);
    const patch = statusPatch(request, type, message, clock.wall());
    let written: unknown;
    try {
      written = await cluster.http.apply(path, patch, { fieldManager: FIELD_MANAGER }, this.#stopping.signal);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      const status = error instanceof ApiError ? error.status : undefined;
      if (status === 404) {
        log.info("CertificateRequest was deleted before it was decided", fields);
        this.#retries.forget(key);
      } else {
        // After a 409 the watch brings the change, and then it is reviewed; the retry is only for the case that it does not.
        this.#failed(key, `a CertificateRequest could not be ${type.toLowerCase()}`, error, status === 409);
      }
      return;
    }
    this.#retries.forget(key);
    // The watch will bring the same soon. Until then it must not be reviewed again.
    if (this.#requests.get(key)?.version === text(metadata, "resourceVersion")) this.#requests.put(written);
    log.info(`CertificateRequest ${type.toLowerCase()}`, { ...fields, message: shortened(message) });
    this.#events.record(request, { type: type === "Approved" ? "Normal" : "Warning", reason: type, note: message });
  }

  #failed(key: string, what: string, cause: unknown, expected = false): void {
    if (this.#stopping.signal.aborted) return;
    const wait = Math.round(this.#retries.failed(key));
    const reason = typeof cause === "string" ? cause : reasonOf(cause);
    this.#options.log.log(expected ? "debug" : "warn", what, { request: key, reason, retry_ms: wait });
  }
}
