/** Events about requests, for users of kubectl (spec certificate-request-policy.md 1.3). They only inform: one that cannot be written is dropped. */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../data/clock.js";
import { limiter } from "../../data/limiter.js";
import { ApiError, reasonOf } from "../../kubernetes/client/errors.js";
import type { ClusterHttp } from "../../kubernetes/client/http.js";
import { collectionPath } from "../../kubernetes/client/paths.js";
import { type JsonObject, member, nameOf, namespaceOf, text } from "../../kubernetes/object.js";
import type { Logger } from "../../telemetry/logger.js";
import { API_VERSION, KIND } from "./certificate-requests.js";
import {
  EVENT_BURST,
  EVENTS_AT_A_TIME,
  EVENTS_PER_SECOND,
  EVENTS_REFUSED_MS,
  MAX_NOTE_BYTES,
  MAX_REMEMBERED_EVENTS,
} from "./limits.js";

/** The contents of an event. */
export interface RequestEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: "Approved" | "Denied" | "Unprocessed" | "EvaluationError";
  readonly note: string;
}

const EVENTS = { group: "events.k8s.io", version: "v1", plural: "events" };
/** The controller's name in events, approver-policy's own. */
const CONTROLLER = "policy.cert-manager.io";
/** Longest name of an object. */
const MAX_NAME = 253;
/** Longest `reportingInstance`. */
const MAX_INSTANCE = 128;

/** Writes events. */
export class Events {
  readonly #http: ClusterHttp;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #instance: string;
  readonly #signal: AbortSignal;
  readonly #written = new LRUCache<string, true>({ max: MAX_REMEMBERED_EVENTS });
  readonly #inTurn = limiter(EVENTS_AT_A_TIME);
  #pending = 0;
  #tokens = EVENT_BURST;
  #refilled: number;
  #refusedUntil = Number.NEGATIVE_INFINITY;
  #refusalLogged = false;

  /**
   * @param instance the author, such as the pod's name
   * @param signal ends requests under way
   */
  constructor(http: ClusterHttp, clock: Clock, log: Logger, instance: string, signal: AbortSignal) {
    this.#http = http;
    this.#clock = clock;
    this.#log = log;
    this.#instance = instance.slice(0, MAX_INSTANCE);
    this.#signal = signal;
    this.#refilled = clock.now();
  }

  /** Writes an event about a version of a request, unless it was written already. Never throws, and returns at once. */
  record(request: JsonObject, event: RequestEvent): void {
    const metadata = member(request, "metadata");
    const key = `${text(metadata, "uid")}/${text(metadata, "resourceVersion")}/${event.reason}`;
    if (this.#written.has(key) || this.#clock.now() < this.#refusedUntil || !this.#takeToken()) return;
    this.#written.set(key, true);
    this.#pending++;
    const body = this.#event(request, event, key);
    void this.#inTurn(() => this.#write(namespaceOf(request), body)).finally(() => {
      this.#pending--;
    });
  }

  /** Whether one more may be written now. */
  #takeToken(): boolean {
    const now = this.#clock.now();
    this.#tokens = Math.min(EVENT_BURST, this.#tokens + ((now - this.#refilled) / 1000) * EVENTS_PER_SECOND);
    this.#refilled = now;
    if (this.#tokens < 1 || this.#pending >= EVENT_BURST) return false;
    this.#tokens -= 1;
    return true;
  }

  async #write(namespace: string, body: unknown): Promise<void> {
    if (this.#signal.aborted || this.#clock.now() < this.#refusedUntil) return;
    try {
      await this.#http.post(collectionPath(EVENTS, namespace), body, this.#signal, { once: true });
      this.#refusalLogged = false;
    } catch (error) {
      if (this.#signal.aborted) return;
      // It exists already: by another replica, or by this one before it was restarted.
      if (error instanceof ApiError && error.status === 409) return;
      const refused = error instanceof ApiError && (error.status === 403 || error.status === 404);
      if (refused) this.#refusedUntil = this.#clock.now() + EVENTS_REFUSED_MS;
      if (refused && this.#refusalLogged) return;
      if (refused) this.#refusalLogged = true;
      const message = "no events about CertificateRequests can be written";
      this.#log.log(refused ? "warn" : "debug", message, { reason: reasonOf(error) });
    }
  }

  #event(request: JsonObject, { type, reason, note }: RequestEvent, key: string): JsonObject {
    const metadata = member(request, "metadata");
    const [name, namespace] = [nameOf(request), namespaceOf(request)];
    // The same name for equal events, so that each exists once.
    const hash = createHash("sha256").update(key).digest("hex").slice(0, 16);
    const start = name.slice(0, MAX_NAME - hash.length - 1).replace(/[-.]+$/, "");
    return {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name: `${start}.${hash}`, namespace },
      // Microseconds are mandatory.
      eventTime: new Date(this.#clock.wall()).toISOString().replace("Z", "000Z"),
      reportingController: CONTROLLER,
      reportingInstance: this.#instance,
      action: reason === "EvaluationError" ? "SyncedFailed" : "Synced",
      type,
      reason,
      regarding: {
        apiVersion: API_VERSION,
        kind: KIND,
        namespace,
        name,
        uid: text(metadata, "uid"),
        resourceVersion: text(metadata, "resourceVersion"),
      },
      note: shortened(note),
    };
  }
}

const ELLIPSIS = "…";

/** A text, cut to the length that an event may have. */
export function shortened(note: string): string {
  if (Buffer.byteLength(note) <= MAX_NOTE_BYTES) return note;
  const cut = Buffer.from(note).subarray(0, MAX_NOTE_BYTES - Buffer.byteLength(ELLIPSIS));
  // A character that was cut through is removed, too.
  return `${cut.toString("utf8").replace(/\uFFFD+$/, "")}${ELLIPSIS}`;
}
