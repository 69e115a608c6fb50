import type { GaugeName } from "../telemetry/gauges.js";
import type { BreakGlassSample, Rejections } from "../telemetry/metrics.js";

/** The metrics of the agent and its parts, and the counters of the serving processes. */
export interface AgentMetrics {
  /** Adds a value that is read at every scrape. */
  gauge(name: GaugeName, read: () => number): void;
  /** Adds the results of objects in the last background audit. */
  auditResults(
    read: () => Iterable<{ readonly policy: string; readonly result: string; readonly objects: number }>,
  ): void;
  /** Adds what is known of break-glass; undefined: nothing. */
  breakGlass(read: () => BreakGlassSample | undefined): void;
  /** Counts a change of the Secret of certificates. */
  certificateChanged(step: string): void;
  /** The rejections of policies so far in all processes of this replica; those of processes that do not answer are missing. Never rejects. */
  rejections(): Promise<Iterable<Rejections>>;
}
