/**
 * The agent of a cluster: reads the cluster's policies, has them served, informs other replicas, and does the leader's work while this replica leads. It never
 * delays a request.
 */
import { randomBytes } from "node:crypto";
import type { ClusterDocument, LoadedPolicyReport, PolicySetRoute } from "../config/from-cluster/cluster-document.js";
import type { Clock } from "../data/clock.js";
import type { Cluster } from "../kubernetes/client/index.js";
import type { Logger } from "../telemetry/logger.js";
import type { ClusterState } from "./cluster-state.js";
import { Contact } from "./contact.js";
import { Election } from "./leader/election.js";
import { forServer } from "./lease.js";
import type { AgentMetrics } from "./metrics.js";
import type { ClusterPart, PartContext, PartFactory } from "./part.js";
import { PolicyFacts } from "./policy-facts.js";
import { announcementsOf } from "./replicas/announcements.js";
import { ReplicaLeases } from "./replicas/replica-leases.js";
import { HINDERED } from "./replicas.js";
import type { Serving } from "./serving.js";
import type { ClusterSettings } from "./settings.js";
import { Sources } from "./sources/sources.js";
import { StateFeed } from "./state-feed.js";

/** The options of an agent. */
export interface AgentOptions {
  /** A client of the cluster; it is closed with the agent. */
  readonly cluster: Cluster;
  /** A second client, with connections of its own, for the election. */
  readonly elections: Pick<Cluster, "http" | "close">;
  readonly clock: Clock;
  /** At least 0, less than 1. */
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: AgentMetrics;
  readonly settings: ClusterSettings;
  readonly serving: Omit<Serving, "shadows">;
  readonly parts: readonly PartFactory[];
  /**
   * Derives the sets of policies that webhooks ask about together from the documents; default none.
   * @param refused keys of documents that are not served
   */
  readonly setsOf?: (
    documents: ReadonlyMap<string, ClusterDocument>,
    refused: ReadonlySet<string>,
  ) => readonly PolicySetRoute[];
}

/** Most characters of a replica's problem that others are told: it may name many kinds, and is part of each one's status. */
const MOST_CHARACTERS = 300;

/** A running agent. */
export class Agent {
  readonly #options: AgentOptions;
  readonly #sources: Sources;
  readonly #feed: StateFeed;
  readonly #replicas: ReplicaLeases;
  readonly #facts = new PolicyFacts();
  readonly #parts: readonly ClusterPart[];
  #state: ClusterState | undefined;
  #election: Election | undefined;
  #leading: AbortSignal | undefined;
  #stopping = false;

  constructor(options: AgentOptions) {
    this.#options = options;
    const { cluster, clock, log, settings, serving, metrics, random } = options;
    const contact = new Contact(clock, log);
    this.#replicas = new ReplicaLeases({
      ...{ cluster, clock, log, contact, settings },
      becameKnown: () => this.#takePart(),
    });
    const context: PartContext = {
      ...{ cluster, clock, random, log, metrics, settings, replicas: this.#replicas, facts: this.#facts },
      state: () => this.#state,
      statusOf: (key) => this.#sources.item(key)?.status,
    };
    this.#parts = options.parts.flatMap((make) => make(context));
    this.#sources = new Sources({
      ...{ cluster, clock, log, contact, settings },
      changed: (documents, statuses) => {
        this.#feed.changed(documents);
        this.#tell((part) => part.statusesChanged?.(statuses));
      },
      moved: () => {
        this.#feed.look();
        this.#sayWhatHinders();
      },
    });
    this.#feed = new StateFeed({
      ...{ clock, log, serving, sources: this.#sources },
      setsOf: (documents) => options.setsOf?.(documents, this.#facts.refused) ?? [],
      served: (state, reports) => this.#served(state, reports),
    });
    metrics.gauge("cluster_contact_timestamp_seconds", () => contact.timestamp);
    metrics.gauge("cluster_sources_unread", () => this.#sources.unread.length);
    metrics.gauge("cluster_documents", () => this.#state?.documents.size ?? 0);
    metrics.gauge("cluster_replicas", () => this.#replicas.live.length);
    metrics.gauge("cluster_leader", () => (this.#election?.leading === true ? 1 : 0));
  }

  /** Why this replica should not be asked yet; undefined when it serves all policies of the cluster, and its parts have what they need. */
  get unready(): string | undefined {
    if (this.#incomplete !== undefined) return this.#incomplete;
    for (const part of this.#parts) {
      const why = part.unready?.();
      if (why !== undefined) return why;
    }
    return undefined;
  }

  /** Why this replica does not serve all policies of the cluster; undefined once it has served them. */
  get #incomplete(): string | undefined {
    if (this.#state === undefined) {
      const unread = this.#sources.unread.map(({ resource, why }) => `${resource}: ${why}`);
      return unread.length === 0 ? "the cluster's policies are being loaded" : `not read yet: ${unread.join("; ")}`;
    }
    if (this.#options.settings.readyWithoutSources || this.#wasReady) return undefined;
    const { unread } = this.#state;
    if (unread.length > 0) {
      const why = this.#sources.unread.map(({ resource, why }) => `${resource}: ${why}`);
      return `cannot be read: ${why.join("; ") || unread.join(", ")}`;
    }
    this.#wasReady = true;
    return undefined;
  }

  #wasReady = false;

  /** Must be called when a policy was loaded anew without a change in the cluster, or is loaded but not yet served by all processes. */
  loaded(reports: readonly LoadedPolicyReport[]): void {
    if (reports.length === 0) return;
    this.#note(reports);
    const state = this.#state;
    if (state === undefined) return;
    this.#announce(state);
    this.#tell((part) => part.served?.(state, reports));
  }

  /** Stops leading, so that another replica may lead while this one still serves requests that it has begun. */
  async stepDown(): Promise<void> {
    this.#stopping = true;
    await this.#election?.stop();
  }

  /** Ends everything. Must be called when this replica no longer serves. */
  async stop(): Promise<void> {
    await this.stepDown();
    this.#feed.stop();
    this.#sources.stop();
    await Promise.all(this.#parts.map((part) => part.stop()));
    await this.#replicas.stop();
    await Promise.all([this.#options.cluster.close(), this.#options.elections.close()]);
  }

  #served(state: ClusterState, reports: readonly LoadedPolicyReport[]): void {
    const { log } = this.#options;
    const first = this.#state === undefined;
    this.#state = state;
    this.#facts.keepOnly(state.documents);
    this.#note(reports);
    this.#announce(state);
    this.#sayWhatHinders();
    const { version, documents } = state;
    const broken = reports.filter((report) => report.state !== "loaded").map(({ id }) => id);
    const fields = { version, documents: documents.size, loaded: reports.length - broken.length };
    if (first) log.info("the cluster's policies are served", { ...fields, broken });
    else log.info("policies have changed in the cluster", { ...fields, broken });
    this.#tell((part) => part.served?.(state, reports));
    this.#takePart();
  }

  #note(reports: readonly LoadedPolicyReport[]): void {
    const before = [...this.#facts.refused].sort().join();
    this.#facts.loaded(reports);
    // A policy that is not served is in no webhook, and in no set.
    if ([...this.#facts.refused].sort().join() !== before) this.#feed.look();
  }

  /** Announces why this replica is not ready: others wait for it, and report the reason. */
  #sayWhatHinders(): void {
    this.#replicas.announce(HINDERED, (this.#incomplete ?? "").slice(0, MOST_CHARACTERS));
  }

  /** Announces the served state, for which others wait. */
  #announce(state: ClusterState): void {
    const { routes, loaded } = announcementsOf(state, this.#facts);
    this.#replicas.announce("routes", routes.join(","));
    this.#replicas.announce("loaded", loaded.join(","));
  }

  /** Takes part in elections once all policies and replicas are known: a leader without them would write wrong objects. */
  #takePart(): void {
    if (this.#election !== undefined || this.#stopping) return;
    if (this.#incomplete !== undefined || !this.#replicas.known) return;
    const { cluster, elections, clock, random, log, settings } = this.#options;
    this.#election = new Election({
      ...{ http: elections.http, outage: cluster.http.outage, clock, random, log },
      namespace: settings.namespace,
      name: forServer("policy-server-leader", settings.policyServer),
      identity: `${settings.replica}_${randomBytes(4).toString("hex")}`,
      lead: (signal) => {
        this.#leading = signal;
        this.#replicas.sweep(signal);
        this.#tell((part) => part.lead?.(signal));
      },
    });
  }

  /** Calls all parts: an error in one of them must not affect the others. */
  #tell(what: (part: ClusterPart) => void): void {
    for (const part of this.#parts) {
      try {
        what(part);
      } catch (error) {
        this.#options.log.error("a part of the agent failed unexpectedly", {
          error: error instanceof Error ? error.stack : String(error),
        });
      }
    }
  }

  /** Whether this replica leads. */
  get leads(): boolean {
    return this.#leading !== undefined && !this.#leading.aborted;
  }
}
