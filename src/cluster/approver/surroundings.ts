/** The objects besides policies on which the decision of a pending request depends: rights and Namespaces. */

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

/** The watched resources. */
const WATCHED: readonly ResourcePlace[] = [
  { group: "", version: "v1", plural: "namespaces" },
  { ...RBAC, plural: "roles" },
  { ...RBAC, plural: "rolebindings" },
  { ...RBAC, plural: "clusterroles" },
  { ...RBAC, plural: "clusterrolebindings" },
];

/** A target that keeps nothing: only the fact of a change matters. */
const NOTHING: ListTarget = { put() {}, delete() {} };

/** A sweep over every namespace. */
const EVERYWHERE = "";

/** The options. */
export interface SurroundingsOptions {
  readonly cluster: Pick<Cluster, "follow">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when a change has settled, to review the undecided requests of these namespaces; `undefined`: of all. */
  readonly sweep: (namespaces: ReadonlySet<string> | undefined) => void;
  readonly signal: AbortSignal;
}

/**
 * Watches Namespaces and RBAC. Changes are gathered and reported after {@link SETTLE_MS}; where a resource cannot be watched, all requests are
 * reviewed every {@link SWEEP_MS}.
 */
export class Surroundings {
  readonly #options: SurroundingsOptions;
  /** Resources that cannot be watched now. */
  readonly #unwatched = new Set<string>();
  /** Resources of which that was logged: once for each. */
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
      begin: () =>
        cluster.follow({
          path: collectionPath(place, ""),
          query: {},
          target: () => NOTHING,
          maxBytes: Number.POSITIVE_INFINITY,
          // After a first list requests are reviewed anyway; changes before a later list are not known.
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

/** The namespaces whose requests an object concerns: its own, itself when it is one, else all. */
const placeOf = (plural: string, object: JsonObject): string =>
  plural === "namespaces" ? nameOf(object) : namespaceOf(object) || EVERYWHERE;
