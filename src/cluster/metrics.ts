import type { GaugeName } from "../telemetry/metrics.js";

/** Where the agent and its parts put what can be measured of them. */
export interface AgentMetrics {
  /** Adds a value that is read at every scrape. */
  gauge(name: GaugeName, read: () => number): void;
  /** Counts a change of the Secret of certificates. */
  certificateChanged(step: string): void;
}
