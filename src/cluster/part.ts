/** The parts of a cluster's agent: each does one thing with the agent's data. */
import type { LoadedPolicyReport } from "../config/from-cluster/cluster-document.js";
import type { Clock } from "../data/clock.js";
import type { Cluster } from "../kubernetes/client/index.js";
import type { Logger } from "../telemetry/logger.js";
import type { ClusterState } from "./cluster-state.js";
import type { AgentMetrics } from "./metrics.js";
import type { PolicyFacts } from "./policy-facts.js";
import type { Replicas } from "./replicas.js";
import type { ClusterSettings } from "./settings.js";

/** A part of the agent. */
export interface ClusterPart {
  /** Called when all processes of this replica serve a state, with the reports of the policies that were loaded anew for it. */
  served?(state: ClusterState, reports: readonly LoadedPolicyReport[]): void;
  /** Called with the keys of documents of which only the status has changed in the cluster. */
  statusesChanged?(keys: readonly string[]): void;
  /** Called when this replica begins to lead; it leads until the signal is aborted. Only the leader writes for all replicas. */
  lead?(signal: AbortSignal): void;
  /** Why this replica should not be asked yet, although it serves all policies; undefined when there is no reason. It may lead nevertheless. */
  unready?(): string | undefined;
  /** Ends; resolves when no work is under way any more. */
  stop(): Promise<void>;
}

/** The context of every part. */
export interface PartContext {
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** At least 0, less than 1. */
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: AgentMetrics;
  readonly settings: ClusterSettings;
  readonly replicas: Replicas;
  /** The state that all processes of this replica serve at the moment; undefined before the first one. */
  readonly state: () => ClusterState | undefined;
  /** The status of a document's resource in the cluster, whatever its author. */
  readonly statusOf: (key: string) => unknown;
  /** The facts about each policy; parts record there what the status of policies reports. */
  readonly facts: PolicyFacts;
}

/** Makes a part, or several that use each other. */
export type PartFactory = (context: PartContext) => ClusterPart | readonly ClusterPart[];
