/** What requests that nobody has decided depend on besides policies: rights and Namespaces. */

import type { Clock } from "../../data/clock.js";
import { reasonOf } from "../../kubernetes/client/errors.js";
import { followUntil } from "../../kubernetes/client/follow.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import { collectionPath, type ResourcePlace } from "../../kubernetes/client/paths.js";
import type { ListTarget } from "../../kubernetes/client/watched-list.js";
import { type JsonObject, nameOf, namespaceOf } from "../../kubernetes/object.js";
import type { Logger } from "../../telemetry/logger.js";
import { SETTLE_MS, SWEEP_MS } from "./limits.js";

const RBAC = { group: "rbac.authorization.k8s.io", version: "v1" };

/** Where changes may come from. */
const WATCHED: readonly ResourcePlace[] = [
  { group: "", version: "v1", plural: "namespaces" },
  { ...RBAC, plural: "roles" },
  { ...RBAC, plural: "rolebindings" },
  { ...RBAC, plural: "clusterroles" },
  { ...RBAC, plural: "clusterrolebindings" },
];

/** Nothing is kept: that something has changed is all that counts. */
const NOTHING: ListTarget = { put() {}, delete() {} };

/** A sweep over every namespace. */
const EVERYWHERE = "";

/** Who looks, and who is told. */
export interface SurroundingsOptions {
  readonly cluster: Pick<Cluster, "follow">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told, when a change has settled, to look at the undecided requests of these namespaces; `undefined`: of all. */
  readonly sweep: (namespaces: ReadonlySet<string> | undefined) => void;
  readonly signal: AbortSignal;
}

/**
 * Watches Namespaces and RBAC. What changes together is told together, {@link SETTLE_MS} later; where something cannot be watched, all requests are
 * to be looked at every {@link SWEEP_MS}.
 */
export class Surroundings {
  readonly #options: SurroundingsOptions;
  /** Of resources that cannot be watched now. */
  readonly #unwatched = new Set<string>();
  /** What was said: it is said once. */
  readonly #warned = new Set<string>();
  #changed: Set<string> | undefined;
  #cancelSettle: () => void = () => {};
  #cancelSweep: () => void = () => {};

  constructor(options: SurroundingsOptions) {
    this.#options = options;
    for (const place of WATCHED) this.#watch(place);
    this.#sweepLater();
    options.signal.addEventListener("abort", () => {
      this.#cancelSettle();
      this.#cancelSweep();
    });
  }

  #watch(place: ResourcePlace): void {
    const { cluster, clock, log, signal } = this.#options;
    const { plural } = place;
    let before = false;
    followUntil(signal, {
      clock,
      refusedMs: SWEEP_MS,
      begin: () =>
        cluster.follow({
          path: collectionPath(place, ""),
          query: {},
          target: () => NOTHING,
          maxBytes: Number.POSITIVE_INFINITY,
          // Of a first list requests are looked at anyway; whatever has happened before another is not known.
          listed: () => {
            this.#unwatched.delete(plural);
            if (before) this.#note(EVERYWHERE);
            before = true;
          },
          changed: (object) => this.#note(placeOf(plural, object)),
        }),
      failed: (error, refused) => {
        before = true;
        this.#unwatched.add(plural);
        const message = refused
          ? `changes of ${plural} are not noticed: undecided CertificateRequests are looked at again every ${SWEEP_MS / 60_000} minutes`
          : `changes of ${plural} are not noticed until they can be watched again`;
        if (!this.#warned.has(message)) log.warn(message, { reason: reasonOf(error) });
        this.#warned.add(message);
      },
    });
  }

  #note(namespace: string): void {
    const first = this.#changed === undefined;
    this.#changed ??= new Set();
    this.#changed.add(namespace);
    if (first) this.#cancelSettle = this.#options.clock.after(SETTLE_MS, () => this.#settled());
  }

  #settled(): void {
    const changed = this.#changed ?? new Set<string>();
    this.#changed = undefined;
    this.#options.sweep(changed.has(EVERYWHERE) ? undefined : changed);
  }

  #sweepLater(): void {
    this.#cancelSweep = this.#options.clock.after(SWEEP_MS, () => {
      if (this.#unwatched.size > 0) this.#options.sweep(undefined);
      this.#sweepLater();
    });
  }
}

/** Whose requests an object concerns: those of its namespace, of itself when it is one, else all. */
const placeOf = (plural: string, object: JsonObject): string =>
  plural === "namespaces" ? nameOf(object) : namespaceOf(object) || EVERYWHERE;
