import type { LogExport } from "../telemetry/otlp/log-export.js";
import type { PushedMetrics } from "../telemetry/otlp/metric-data.js";
import type { Push } from "../telemetry/otlp/metrics-push.js";
import type { DecisionTracer } from "../telemetry/otlp/tracing.js";

/** What a process of `serve` sends over OTLP. The libraries are loaded only when wanted: they take a tenth of a second and 20 MiB. */
export class Exports {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #started: Push[] = [];

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = env;
  }

  async logs(): Promise<LogExport> {
    const { exportLogs } = await import("../telemetry/otlp/log-export.js");
    return this.#keep(exportLogs(this.#env));
  }

  async traces(): Promise<DecisionTracer> {
    const { traceDecisions } = await import("../telemetry/otlp/tracing.js");
    return this.#keep(traceDecisions(this.#env));
  }

  async metrics(read: () => Promise<PushedMetrics>): Promise<Push> {
    const { pushMetrics } = await import("../telemetry/otlp/metrics-push.js");
    return this.#keep(pushMetrics(read, this.#env));
  }

  /** Sends what is left and ends, all at the same time, within STOP_WITHIN_MS. Never rejects. */
  async stop(): Promise<void> {
    await Promise.all(this.#started.map((exporter) => exporter.stop()));
  }

  #keep<T extends Push>(exporter: T): T {
    this.#started.push(exporter);
    return exporter;
  }
}
