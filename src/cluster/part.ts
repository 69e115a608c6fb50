/** What the agent of a cluster is made of: each part does one thing with what the agent knows. */
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
  /** All processes of this replica serve this state; what became of the policies that were loaded anew for it. */
  served?(state: ClusterState, reports: readonly LoadedPolicyReport[]): void;
  /** Of these documents the status is another in the cluster, and nothing else. */
  statusesChanged?(keys: readonly string[]): void;
  /** This replica leads from now on, until the signal is aborted. Nothing is written for all replicas by one that does not lead. */
  lead?(signal: AbortSignal): void;
  /** Why this replica should not be asked yet, although it serves all policies; undefined: nothing is in the way. It may lead nevertheless. */
  unready?(): string | undefined;
  /** Ends; resolves when nothing is under way any more. */
  stop(): Promise<void>;
}

/** What every part gets. */
export interface PartContext {
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** At least 0, less than 1. */
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: AgentMetrics;
  readonly settings: ClusterSettings;
  readonly replicas: Replicas;
  /** What all processes of this replica serve at the moment; undefined before the first state. */
  readonly state: () => ClusterState | undefined;
  /** The status that a document's resource has in the cluster; whatever anybody wrote. */
  readonly statusOf: (key: string) => unknown;
  /** What is known of each policy; parts say there what the status of policies shall tell. */
  readonly facts: PolicyFacts;
}

/** Makes a part, or several that know each other. */
export type PartFactory = (context: PartContext) => ClusterPart | readonly ClusterPart[];
