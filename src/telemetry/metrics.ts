/** The metrics: Kubewarden's under their names (spec kubewarden.md 8.1), and the server's own under `policy_server_`. */
import { Gauge, Registry } from "prom-client";
import { type AuditSample, auditResultsGauge } from "./audit-results.js";
import { GAUGE_HELP, type GaugeName, SAME_EVERYWHERE } from "./gauges.js";
import { Losses, type LossName } from "./losses.js";
import { collectProcessMetrics } from "./process-metrics.js";
import { type SeriesBatch, SeriesTable, type TableOptions, takenInBatches } from "./series.js";
import { describe, type MetricDescription, type ShownMetric, textOf } from "./shown-metric.js";
import { Slices } from "./slices.js";

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

/** The labels among these whose values requesters choose. */
const CHOSEN_LABELS = ["resource_kind", "resource_request_operation", "resource_namespace"];

/** One evaluation with Kubewarden's labels. Raw requests leave out kind, operation, namespace and origin. */
export interface EvaluationSample {
  readonly policy: string;
  readonly mode: string;
  readonly kind: string | undefined;
  readonly operation: string | undefined;
  readonly namespace: string | undefined;
  /** The vanilla response's result, like `mutated` and `code`. */
  readonly accepted: boolean;
  readonly mutated: boolean;
  readonly origin: string | undefined;
  readonly code: number | undefined;
  readonly milliseconds: number;
}

/** The name of approver-policy's metric (spec certificate-request-policy.md 7.5). */
const APPROVALS = "certmanager_approverpolicy_certificaterequests_approval";
const APPROVALS_HELP =
  "CertificateRequests in the cluster by their decision: approved, denied, or unmatched while there is none. Of the process that approves them.";

/** Number of CertificateRequests of a namespace with a status. */
interface ApprovalSample {
  readonly namespace: string;
  readonly status: string;
  readonly count: number;
}

/** A ConfigMap for break-glass; the texts are bounded and printable. `why`: the reason that it gives, or why it is refused. */
export interface BreakGlassSample {
  readonly state: "in_force" | "refused";
  readonly by: string;
  readonly why: string;
}

/** Requests that a policy has not accepted. */
export interface Rejections {
  readonly policy: string;
  /** Whether the policy is in monitor mode, so that they were allowed. */
  readonly monitored: boolean;
  /** Operation, kind and namespace of the requests; empty where there is none. */
  readonly about: readonly string[];
  readonly count: number;
}

/** Prometheus' text in parts, or why there is none: a text is always complete. */
export type MetricsText = { readonly parts: readonly string[] } | { readonly unavailable: string };

/** All metrics of one process, or the sums of all processes. */
export class Metrics {
  /** Gauges and the library's metrics of the process. */
  readonly registry = new Registry();
  readonly #tables: SeriesTable[] = [];
  readonly #shown: ShownMetric[] = [];
  readonly #evaluations: SeriesTable;
  readonly #initializationErrors: SeriesTable;
  readonly #members: SeriesTable;
  readonly #failures: SeriesTable;
  readonly #findings: SeriesTable;
  readonly #requests: SeriesTable;
  readonly #queue: SeriesTable;
  readonly #refused: SeriesTable;
  readonly #reloads: SeriesTable;
  readonly #replaced: SeriesTable;
  readonly #shadows: SeriesTable;
  readonly #certificates: SeriesTable;
  readonly #folded: SeriesTable;
  readonly #losses: Losses;
  #counted = 0;

  /** @param processMetrics whether to measure the process too (memory, event loop, garbage collection) */
  constructor(processMetrics = true) {
    const evaluations = "kubewarden_policy_evaluations_total";
    const latency = "kubewarden_policy_evaluation_latency_milliseconds";
    this.#evaluations = this.#table({
      names: EVALUATION_LABELS,
      bounds: LATENCY_MS,
      chosen: CHOSEN_LABELS,
      folded: (what, events) => this.#fold(what === "count" ? evaluations : latency, events),
    });
    this.#initializationErrors = this.#table({
      names: ["policy_name", "initialization_error"],
      folded: (_, events) => this.#fold(evaluations, events),
    });
    this.#show("counter", evaluations, "Number of policy evaluations.", this.#evaluations, this.#initializationErrors);
    this.#show("histogram", latency, "Policy evaluation latency in milliseconds.", this.#evaluations);
    this.#members = this.#histogram(
      "policy_server_member_evaluation_seconds",
      "Evaluations of group members, by outcome: allow, deny, error or skip.",
      ["policy_name", "outcome"],
    );
    this.#failures = this.#counter(
      "policy_server_evaluation_failures_total",
      "Policies that could not decide, by cause.",
      ["policy_name", "cause"],
    );
    this.#findings = this.#counter(
      "policy_server_policy_findings_total",
      "Failed validations with the action Audit or Warn, by action; those of a group's member as `<group>/<member>`. Requests of the audit scanner are not counted.",
      ["policy_name", "action"],
    );
    this.#requests = this.#histogram(
      "policy_server_http_request_seconds",
      "Requests for a verdict, from their first byte to the answer; status 499: the client did not wait for it.",
      ["route", "status"],
    );
    this.#queue = this.#histogram("policy_server_queue_seconds", "Time that requests waited for a place.", []);
    this.#refused = this.#counter("policy_server_refused_requests_total", "Requests refused for load: full or late.", [
      "reason",
    ]);
    this.#reloads = this.#counter(
      "policy_server_reloads_total",
      "Reloads of the configuration: applied, or rejected because the new one was worse.",
      ["result"],
    );
    this.#certificates = this.#counter(
      "policy_server_certificate_changes_total",
      "Changes of the Secret of certificates that this replica made as leader.",
      ["step"],
    );
    this.#replaced = this.#counter(
      "policy_server_processes_replaced_total",
      "Serving processes that were replaced: they died, or hung and were killed.",
      ["reason"],
    );
    this.#shadows = this.#counter(
      "policy_server_shadow_evaluations_total",
      "Answers that versions in shadow would have given, by result: agreed, would_deny, would_allow, failed, or not_evaluated for lack of time or room.",
      ["policy_name", "result"],
    );
    this.#folded = this.#counter(
      "policy_server_metrics_folded_total",
      "Events counted under `other` because the metric has as many combinations of labels as it may have.",
      ["metric"],
    );
    this.#losses = new Losses((name, help) => this.#counter(name, help, []));
    if (processMetrics) collectProcessMetrics(this.registry);
  }

  /** The descriptions of all metrics, without values. */
  descriptions(): MetricDescription[] {
    // The library declares less of a metric than it has.
    const others = this.registry.getMetricsAsArray() as unknown as readonly Partial<MetricDescription>[];
    return [
      ...this.#shown.map(describe),
      ...others.map(({ name = "", type = "gauge", help = "", labelNames = [] }) => ({ name, type, help, labelNames })),
    ];
  }

  /** Counters and histograms that are fed here. */
  get shown(): readonly ShownMetric[] {
    this.#losses.count();
    return this.#shown;
  }

  /**
   * Everything in Prometheus' text format, made in slices.
   * @param others the other metrics, in the same format; default the registry's
   */
  async text(
    others: () => Promise<string> = () => this.registry.metrics(),
    slices: Slices = new Slices(),
  ): Promise<string[]> {
    return [...(await textOf(this.shown, slices)), await others()];
  }

  /** Yields in slices the counts since the last time, and resets them: for the sums of all processes. */
  async *take(slices: Slices = new Slices()): AsyncGenerator<SeriesBatch> {
    this.#losses.count();
    yield* takenInBatches(this.#tables, slices);
  }

  /** Adds the counts of another process. */
  add({ table, series }: SeriesBatch): void {
    for (const taken of series) this.#tables[table]?.add(taken);
  }

  #table(options: TableOptions): SeriesTable {
    const table = new SeriesTable(options);
    this.#tables.push(table);
    return table;
  }

  #counter(name: string, help: string, names: readonly string[]): SeriesTable {
    const table = this.#table({ names, folded: (_, events) => this.#fold(name, events) });
    this.#show("counter", name, help, table);
    return table;
  }

  /** In seconds. */
  #histogram(name: string, help: string, names: readonly string[]): SeriesTable {
    const folded: TableOptions["folded"] = (what, events) => {
      if (what === "distribution") this.#fold(name, events);
    };
    const table = this.#table({ names, bounds: SECONDS, folded });
    this.#show("histogram", name, help, table);
    return table;
  }

  #show(type: ShownMetric["type"], name: string, help: string, ...tables: readonly SeriesTable[]): void {
    this.#shown.push({ type, name, help, tables });
  }

  #fold(metric: string, events: number): void {
    this.#folded.add({ values: [metric], count: events });
  }

  /** Number of evaluations so far. */
  get evaluations(): number {
    return this.#counted;
  }

  /** Counts a policy evaluation. */
  evaluated(sample: EvaluationSample): void {
    this.#counted += 1;
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
      // The reference records whole milliseconds; fractions keep the sum exact.
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

  /** Counts a failed validation with an action other than Deny. */
  found(policy: string, action: "Audit" | "Warn"): void {
    this.#findings.count([policy, action]);
  }

  /** Counts an answered request. */
  answered(route: string, status: number, milliseconds: number): void {
    this.#requests.observe([route, String(status)], milliseconds / 1000);
  }

  /** Counts a request that had to wait. */
  queued(milliseconds: number): void {
    this.#queue.observe([], milliseconds / 1000);
  }

  /** Counts a request for which there was no place. */
  refused(reason: string): void {
    this.#refused.count([reason]);
  }

  /** Counts the result of a version in shadow. */
  shadowed(policy: string, result: string): void {
    this.#shadows.count([policy, result]);
  }

  /** Counts a reload: `applied`, or `rejected` because the new configuration was worse. */
  reloaded(result: string): void {
    this.#reloads.count([result]);
  }

  /** Counts a serving process that was replaced: `died`, or `hung` and was killed. */
  replaced(reason: "died" | "hung"): void {
    this.#replaced.count([reason]);
  }

  /** Counts a change of the Secret of certificates. */
  certificateChanged(step: string): void {
    this.#certificates.count([step]);
  }

  /** Adds the CertificateRequests that an approver sees; the reader limits the number of namespaces. */
  approvals(read: () => Iterable<ApprovalSample>): void {
    this.registry.registerMetric(
      new Gauge({
        name: APPROVALS,
        help: APPROVALS_HELP,
        labelNames: ["namespace", "status"],
        registers: [],
        aggregator: "sum",
        collect() {
          this.reset();
          for (const { namespace, status, count } of read()) this.set({ namespace, status }, count);
        },
      }),
    );
  }

  /** The requests that policies have not accepted so far, by policy, mode and labels of the request. */
  *rejections(): Iterable<Rejections> {
    for (const { values, count } of this.#evaluations.counts()) {
      const [policy = "", mode, kind, operation, namespace, accepted] = values;
      if (accepted !== "false" || policy === null) continue;
      const about = [operation, kind, namespace].map((value) => value ?? "");
      yield { policy, monitored: mode === "monitor", about, count };
    }
  }

  /** Adds the results of objects in the last background audit, by policies of the configuration. */
  auditResults(read: () => Iterable<AuditSample>): void {
    this.registry.registerMetric(auditResultsGauge(read));
  }

  /** Adds what is known of break-glass; undefined: nothing. */
  breakGlass(read: () => BreakGlassSample | undefined): void {
    this.registry.registerMetric(
      new Gauge({
        name: "policy_server_break_glass",
        help: "1 while break-glass is in force, or asked for and refused: who is said to have written it, and why.",
        labelNames: ["state", "by", "why"],
        registers: [],
        aggregator: "max",
        collect() {
          this.reset();
          const sample = read();
          if (sample !== undefined) this.set({ ...sample }, 1);
        },
      }),
    );
  }

  /** Adds a source of losses: `read` gives their number so far, which only ever increases. */
  losses(name: LossName, read: () => number): void {
    this.#losses.from(name, read);
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
