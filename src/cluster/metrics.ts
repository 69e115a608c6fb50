import type { GaugeName } from "../telemetry/gauges.js";
import type { Rejections } from "../telemetry/metrics.js";

/** Where the agent and its parts put what can be measured of them, and what they know of those who serve. */
export interface AgentMetrics {
  /** Adds a value that is read at every scrape. */
  gauge(name: GaugeName, read: () => number): void;
  /** Adds what objects came to in the last background audit. */
  auditResults(
    read: () => Iterable<{ readonly policy: string; readonly result: string; readonly objects: number }>,
  ): void;
  /** Counts a change of the Secret of certificates. */
  certificateChanged(step: string): void;
  /** What policies have not accepted so far in all processes of this replica; what some processes don't say is missing. Never rejects. */
  rejections(): Promise<Iterable<Rejections>>;
}
