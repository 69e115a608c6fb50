/** What is counted: Kubewarden's metrics under their names (spec kubewarden.md 8.1), and the server's own under `policy_server_`. */
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { registerCounter, registerHistogram, SeriesTable } from "./series.js";

/** Kubewarden's buckets, and up to the longest time-out a webhook may have (30 s). */
const LATENCY_MS = [0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10_000, 20_000, 30_000];
/** From a CEL policy (tens of microseconds) to the longest time-out. */
const SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const EVALUATION_LABELS = [
  "policy_name",
  "policy_mode",
  "resource_kind",
  "resource_request_operation",
  "resource_namespace",
  "accepted",
  "mutated",
  "request_origin",
  "error_code",
] as const;

/** One evaluation as Kubewarden labels it. Raw requests leave out kind, operation, namespace and origin. */
export interface EvaluationSample {
  readonly policy: string;
  readonly mode: string;
  readonly kind: string | undefined;
  readonly operation: string | undefined;
  readonly namespace: string | undefined;
  /** Of the vanilla response, as are `mutated` and `code`. */
  readonly accepted: boolean;
  readonly mutated: boolean;
  readonly origin: string | undefined;
  readonly code: number | undefined;
  readonly milliseconds: number;
}

/** Values that are asked for when somebody reads the metrics. */
export type GaugeName = keyof typeof GAUGE_HELP;

const GAUGE_HELP = {
  requests_in_flight: "Evaluations under way.",
  requests_queued: "Requests waiting for an evaluation to finish.",
  log_lines_dropped: "Log lines lost since the start because nobody read them fast enough.",
  log_records_dropped:
    "Log records lost since the start because the OTLP collector was too slow, refused them or was away.",
  policies: "Policies and groups that are served.",
  policies_unavailable: "Served policies that could not be loaded and deny every request.",
  certificate_expiry_timestamp_seconds: "When the server's certificate ends, in seconds since 1970.",
} as const;

/** Every gauge there may be. */
export const GAUGES = Object.keys(GAUGE_HELP) as readonly GaugeName[];

/** Values that every process has, not each a part of. */
const SAME_EVERYWHERE: readonly GaugeName[] = [
  "policies",
  "policies_unavailable",
  "certificate_expiry_timestamp_seconds",
];

/** All metrics of one process. */
export class Metrics {
  /** For more metrics of other rooms. */
  readonly registry = new Registry();
  readonly #evaluations = new SeriesTable(EVALUATION_LABELS, LATENCY_MS);
  readonly #initializationErrors = new SeriesTable(["policy_name", "initialization_error"]);
  readonly #members = new SeriesTable(["policy_name", "outcome"], SECONDS);
  readonly #failures = new SeriesTable(["policy_name", "cause"]);
  readonly #requests = new SeriesTable(["route", "status"], SECONDS);
  readonly #queue = new SeriesTable([], SECONDS);
  readonly #refused = new SeriesTable(["reason"]);
  readonly #reloads = new SeriesTable(["result"]);

  /** @param processMetrics whether to measure the process too (memory, event loop, garbage collection) */
  constructor(processMetrics = true) {
    const { registry } = this;
    registerCounter(registry, "kubewarden_policy_evaluations_total", "Number of policy evaluations.", [
      this.#evaluations,
      this.#initializationErrors,
    ]);
    registerHistogram(
      registry,
      "kubewarden_policy_evaluation_latency_milliseconds",
      "Policy evaluation latency in milliseconds.",
      this.#evaluations,
    );
    registerHistogram(
      registry,
      "policy_server_member_evaluation_seconds",
      "Evaluations of group members, by outcome: allow, deny, error or skip.",
      this.#members,
    );
    registerCounter(registry, "policy_server_evaluation_failures_total", "Policies that could not decide, by cause.", [
      this.#failures,
    ]);
    registerHistogram(
      registry,
      "policy_server_http_request_seconds",
      "Requests for a verdict, from their first byte to the answer; status 499: the client did not wait for it.",
      this.#requests,
    );
    registerHistogram(registry, "policy_server_queue_seconds", "Time that requests waited for a place.", this.#queue);
    registerCounter(registry, "policy_server_refused_requests_total", "Requests refused for load: full or late.", [
      this.#refused,
    ]);
    // Every process reloads: together they count as one.
    const help = "Reloads of the configuration: applied, or rejected because the new one was worse.";
    registerCounter(registry, "policy_server_reloads_total", help, [this.#reloads], "max");
    if (processMetrics) collectDefaultMetrics({ register: registry });
  }

  /** Counts a policy evaluation. */
  evaluated(sample: EvaluationSample): void {
    this.#evaluations.observe(
      [
        sample.policy,
        sample.mode,
        sample.kind,
        sample.operation,
        sample.namespace,
        sample.accepted ? "true" : "false",
        sample.mutated ? "true" : "false",
        sample.origin,
        sample.code === undefined ? undefined : String(sample.code),
      ],
      // The reference records whole milliseconds; fractions keep the sum true.
      sample.milliseconds,
    );
  }

  /** Counts a request to a policy that could not be loaded. */
  initializationError(policy: string, error: string): void {
    this.#initializationErrors.count([policy, error]);
  }

  /** Counts a group member's evaluation. */
  memberEvaluated(policy: string, outcome: string, milliseconds: number): void {
    this.#members.observe([policy, outcome], milliseconds / 1000);
  }

  /** Counts a policy that could not decide. */
  failed(policy: string, cause: string): void {
    this.#failures.count([policy, cause]);
  }

  /** Counts an answered request. */
  answered(route: string, status: number, milliseconds: number): void {
    this.#requests.observe([route, String(status)], milliseconds / 1000);
  }

  /** Counts a request that had to wait. */
  queued(milliseconds: number): void {
    this.#queue.observe([], milliseconds / 1000);
  }

  /** Counts a request that found no place. */
  refused(reason: string): void {
    this.#refused.count([reason]);
  }

  /** Counts a reload: `applied`, or `rejected` because the new configuration was worse. */
  reloaded(result: string): void {
    this.#reloads.count([result]);
  }

  /** Adds a value that is read at every scrape. */
  gauge(name: GaugeName, read: () => number): void {
    this.registry.registerMetric(
      new Gauge({
        name: `policy_server_${name}`,
        help: GAUGE_HELP[name],
        registers: [],
        aggregator: SAME_EVERYWHERE.includes(name) ? "max" : "sum",
        collect() {
          this.set(read());
        },
      }),
    );
  }
}
