/**
 * A serving process: loads the policies, serves them, and swaps in new ones as a whole. Signals (of a single process) or the primary process (of
 * several) decide when it reloads and stops.
 */

import type { CertificatePair } from "../cluster/certificates/certificates.js";
import { problemLine } from "../config/documents/problem-line.js";
import type { ClusterDelta, LoadedPolicyReport } from "../config/from-cluster/cluster-document.js";
import { counted } from "../data/counted.js";
import { createWebhooks } from "../loader/index.js";
import type { LoadResult, PolicySource, WithoutCluster } from "../loader/policy-source.js";
import type { Playground } from "../page/playground.js";
import { pageRoutes } from "../page/routes.js";
import { createEvaluator, type Evaluator } from "../policy/served/evaluator.js";
import type { PolicySet } from "../policy/served/policy-set.js";
import type { ShadowResult, ShadowRows, ShadowTally } from "../policy/served/shadow/tally.js";
import type { Webhook } from "../policy/webhook.js";
import type { AddedRoutes } from "../server/added-routes.js";
import { type RunningServer, startServer } from "../server/server.js";
import type { DecisionSink } from "../telemetry/decision.js";
import type { Logger } from "../telemetry/logger.js";
import type { Metrics, MetricsText } from "../telemetry/metrics.js";
import type { RequestRecorder } from "../telemetry/recording/index.js";
import type { Approval } from "./approval.js";
import { inGrowingHeap, smallYoungGeneration, type YoungGeneration } from "./heap.js";
import type { Prepared, ProblemReport } from "./messages.js";
import { roomForConnections } from "./open-files.js";
import { openTls, type ProcessTls } from "./process-tls.js";
import { describeChange, newlyUnavailable, newlyWithoutCluster } from "./reload-changes.js";
import type { ServeSettings } from "./settings.js";
import { StartError } from "./start-problem.js";
import { urlOf } from "./url.js";

/** Options of a serving process. */
export interface ServingOptions {
  readonly settings: ServeSettings;
  readonly source: PolicySource;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Whether this process has the readiness port. */
  readonly probes: boolean;
  /** The generation of the first set; default 1. */
  readonly generation?: number;
  /** Whether it replaces an ended process of a server whose processes have all served before; default false. */
  readonly successor?: boolean;
  /** Called when preparing an empty delta would bring other policies of the cluster than those that were prepared last. */
  readonly loadWanted?: () => void;
  /** Receives problems of the policies; absent: the log of this process. */
  readonly report?: (report: ProblemReport) => void;
  /** The reason why this process should not get requests yet; see the probes' options. */
  readonly unready?: () => string | undefined;
  /** Resolves with the cluster's whole state, unless that is the known version (0: none), or none is known yet; absent: it is passed in later. */
  readonly begin?: (known: number) => Promise<ClusterDelta | undefined>;
  /** The certificate from the Secret, if there is one already. */
  readonly certificate?: CertificatePair;
  /** Receives decisions, beside the log. */
  readonly tracer?: DecisionSink | undefined;
  /** Records requests with their answers. */
  readonly recorder?: RequestRecorder | undefined;
  /** Cuts every connection when aborted. */
  readonly cut: AbortSignal;
  /** Receives the port when requests are answered. */
  readonly began?: ((port: number) => void) | undefined;
  /** Evaluates drafts of the page; absent: the page is read-only. */
  readonly playground?: Playground | undefined;
  /** The text of `GET /metrics`; absent: this process' own. */
  readonly metricsText?: () => Promise<MetricsText>;
  /** Counts of versions in shadow of all processes; absent: this process' own. */
  readonly shadows?: () => Promise<ShadowRows>;
}

/** Most loads of changes at the start of a process: changes that never end must not keep it from answering. */
const MOST_BEGINNINGS = 5;

/** Loaded with `--approve` only. */
type ApprovingModule = typeof import("./approval.js");

/** The parts of a serving process. */
interface ServingParts {
  readonly evaluator: Evaluator;
  readonly server: RunningServer;
  readonly tls: ProcessTls | undefined;
  readonly webhooks: readonly Webhook[];
  readonly approving: ApprovingModule | undefined;
  readonly young: YoungGeneration | undefined;
}

/** A serving process. */
export class ServingProcess {
  readonly #options: ServingOptions;
  readonly #server: RunningServer;
  readonly #evaluator: Evaluator;
  readonly #tls: ProcessTls | undefined;
  readonly #approving: ApprovingModule | undefined;
  #approval: Approval | undefined;
  readonly #webhooks: readonly Webhook[];
  readonly #young: YoungGeneration | undefined;
  /** States of all policies that the cluster had when this process started; absent: it knew of none. */
  readonly reports: readonly LoadedPolicyReport[] | undefined;
  #files: readonly string[];
  /** The policies that lack a cluster, among those served. */
  #withoutCluster: WithoutCluster | undefined;
  #prepared: LoadResult | undefined;
  /** Number of the last load: results of earlier ones, abandoned meanwhile, are discarded. */
  #attempts = 0;
  #stopping = false;

  private constructor(options: ServingOptions, loaded: LoadResult, parts: ServingParts) {
    this.#options = options;
    this.#files = loaded.files;
    this.reports = loaded.fromCluster?.reports;
    this.#withoutCluster = loaded.withoutCluster;
    this.#evaluator = parts.evaluator;
    this.#server = parts.server;
    this.#tls = parts.tls;
    this.#webhooks = parts.webhooks;
    this.#approving = parts.approving;
    this.#young = parts.young;
  }

  /**
   * Loads the policies and begins to answer.
   * @throws StartError, TlsMaterialError, or the system's error for a port that is not available
   */
  static async start(options: ServingOptions): Promise<ServingProcess> {
    const { settings, source, logger, metrics } = options;
    // Before policies are loaded: memory that loading takes would not be returned.
    const young = smallYoungGeneration(process.execArgv, process.env.NODE_OPTIONS);
    const tls = await openTls(options);
    if (source.cluster !== undefined) source.cluster.wanted = options.loadWanted ?? (() => {});
    const generation = options.generation ?? 1;
    const own = await source.load(generation);
    // A refusal to start lists all problems: they are logged once.
    refuseUnusable(own, settings.strict);
    reportProblems(options, own, generation);
    own.fromCluster?.taken();
    const loaded = (await loadCluster(options, generation, young)) ?? own;
    const approving = settings.approve === undefined ? undefined : await import("./approval.js");
    refuseApproval(options, loaded, approving);
    loaded.fromCluster?.taken();
    const evaluator = createEvaluator(loaded.policies, {
      policyTimeout: source.policyTimeout,
      ...(settings.alwaysAcceptNamespace !== undefined && { alwaysAcceptNamespace: settings.alwaysAcceptNamespace }),
      onDefect: (policy, error) =>
        logger.error("a policy failed unexpectedly", {
          policy_id: policy,
          error: error instanceof Error ? error.stack : String(error),
        }),
      onShadow: (policy, result) => metrics.shadowed(policy, RESULT_LABELS[result]),
    });
    metrics.gauge("policies_in_shadow", () => inShadow(evaluator.policies));
    metrics.gauge("policies", () => served(evaluator.policies).length);
    metrics.gauge("policies_unavailable", () => broken(evaluator.policies).length);
    const maxConnections = roomForConnections();
    const webhooks = createWebhooks();
    const server = await startServer({
      evaluator,
      webhooks,
      metrics,
      logger,
      address: settings.address,
      port: settings.port,
      bodyLimit: settings.bodyLimit,
      bodyMemory: settings.bodyMemory,
      profiles: settings.profiles,
      added: pageOf(options, () => evaluator.policies),
      ...(maxConnections !== undefined && { maxConnections }),
      gate: { concurrency: settings.concurrency, queue: settings.queue },
      ...(options.probes && { readinessPort: settings.readinessPort }),
      ...(tls && { tls: tls.initial, clientNames: settings.clientNames }),
      ...(options.tracer && { tracer: options.tracer }),
      ...(options.recorder && { recorder: options.recorder }),
      ...(young && { answered: young.answered }),
      ...(options.metricsText && { metricsText: options.metricsText }),
      ...(options.shadows && { shadows: options.shadows }),
      ...(options.unready && { unready: options.unready }),
    });
    options.cut.addEventListener("abort", () => void server.stop({ delay: 0, grace: 0 }));
    await tls?.follow(server);
    logger.info("serving policies", {
      address: settings.address,
      port: server.port,
      url: urlOf(settings, server.port),
      readiness_port: server.readinessPort,
      policies: served(loaded.policies).length,
      unavailable: broken(loaded.policies).length,
      pid: process.pid,
    });
    options.began?.(server.port);
    return new ServingProcess(options, loaded, { evaluator, server, tls, webhooks, approving, young });
  }

  /** Counts of versions in shadow of this process. */
  get shadows(): ShadowTally {
    return this.#evaluator.shadows.tally;
  }

  /** Files and folders to watch: those of the served policies, and of the last rejected ones. */
  get files(): readonly string[] {
    return this.#files;
  }

  /**
   * Loads policies anew beside the served ones, without serving them yet: with a delta those that changed in the cluster, without one those of the
   * files. Never rejects.
   * @returns not ok when the files' new policies are worse: the file can't be used, a policy that answers now no longer would, or one would need a
   * cluster that is missing
   */
  async prepare(generation = this.#evaluator.policies.generation + 1, delta?: ClusterDelta): Promise<Prepared> {
    const { source, logger } = this.#options;
    this.#attempts += 1;
    const attempt = this.#attempts;
    let loaded: LoadResult | undefined;
    try {
      loaded = await (delta === undefined
        ? source.load(generation)
        : loadDelta(source, delta, generation, this.#young));
    } catch (error) {
      // Loading reports problems of files; any other failure must not end a serving process.
      logger.error("reload failed unexpectedly", { error: error instanceof Error ? error.stack : String(error) });
      return { ok: false };
    }
    if (loaded === undefined) return { ok: false, needs: "whole" };
    if (attempt !== this.#attempts) return { ok: false };
    reportProblems(this.#options, loaded, generation);
    // All files that were read are watched from now on, so that a repair is noticed.
    this.#files = [...new Set([...loaded.files, ...this.#files])];
    const reason = this.#whyWorse(loaded);
    if (reason === undefined) {
      this.#prepared = loaded;
      const { fromCluster } = loaded;
      return { ok: true, ...(fromCluster && { reports: fromCluster.reports }) };
    }
    logger.error("reload kept out: the policies that served before go on serving", { reason });
    return { ok: false };
  }

  #whyWorse({ fatal, policies, withoutCluster, fromCluster }: LoadResult): string | undefined {
    if (fatal !== undefined) return fatal;
    const lost = newlyUnavailable(this.#evaluator.policies, policies, fromCluster?.has);
    if (lost.length > 0) return `policies that are served now could not be loaded: ${lost.join(", ")}`;
    return newlyWithoutCluster(this.#withoutCluster, withoutCluster);
  }

  /** Serves the prepared policies, in one step; requests under way finish with the old ones. */
  swap(): void {
    const loaded = this.#prepared;
    if (loaded === undefined) return;
    const { logger } = this.#options;
    const before = this.#evaluator.policies;
    this.#prepared = undefined;
    this.#files = loaded.files;
    this.#withoutCluster = loaded.withoutCluster;
    this.#evaluator.use(loaded.policies);
    const { approve } = this.#options.settings;
    // A change discards the decisions under way: only changes of the approving policy should.
    if (approve !== undefined && before.entries.get(approve)?.policy !== loaded.policies.entries.get(approve)?.policy)
      this.#approval?.policiesChanged();
    loaded.fromCluster?.taken();
    logger.info("reloaded policies", {
      generation: loaded.policies.generation,
      ...describeChange(before, loaded.policies),
    });
  }

  /** Approves CertificateRequests until the process stops, if the settings ask for it: one of several processes does. */
  approve(): void {
    const { settings, source, logger, metrics } = this.#options;
    const approving = this.#approving;
    if (settings.approve === undefined || approving === undefined || this.#approval !== undefined || this.#stopping)
      return;
    const { access, policyTimeout } = source;
    const common = { id: settings.approve, access, policyTimeout, logger, metrics };
    this.#approval = approving.Approval.start({ ...common, evaluator: this.#evaluator });
  }

  /** Discards the prepared policies. */
  discard(): void {
    this.#prepared = undefined;
    this.#attempts += 1;
  }

  /** Uses a certificate for new connections. An unusable one is refused: the old one stays. */
  secure(pair: CertificatePair): void {
    try {
      this.#tls?.take(pair);
    } catch (error) {
      this.#options.logger.error("a certificate can't be used: what was served stays", {
        reason: error instanceof Error ? error.message : String(error),
      });
    }
  }

  /** Stops serving: see {@link RunningServer.stop}. */
  async stop(delay: number, grace: number): Promise<void> {
    this.#stopping = true;
    this.#tls?.close();
    // Another replica continues with the rest.
    await Promise.all([this.#approval?.stop(), this.#server.stop({ delay, grace })]);
    await this.#options.playground?.close();
    this.#young?.close();
    for (const webhook of this.#webhooks) webhook.close();
  }
}

/** Loads what a delta brings; a whole state in a heap that may grow. */
function loadDelta(
  { cluster }: ServingOptions["source"],
  delta: ClusterDelta,
  generation: number,
  young: YoungGeneration | undefined,
): Promise<LoadResult | undefined> {
  const load = async () => cluster?.load(delta, generation);
  return delta.base === 0 ? inGrowingHeap(young, load) : load();
}

/**
 * Loads the cluster's policies, and changes that came meanwhile: a new process must not answer by an older state than the others. Problems of the
 * cluster's policies stop no server, not even a strict one.
 */
async function loadCluster(
  options: ServingOptions,
  generation: number,
  young: YoungGeneration | undefined,
): Promise<LoadResult | undefined> {
  let loaded: LoadResult | undefined;
  let known = 0;
  for (let times = 0; times < MOST_BEGINNINGS; times++) {
    const delta = await options.begin?.(known);
    if (delta === undefined) break;
    known = delta.version;
    loaded = await loadDelta(options.source, delta, generation, young);
    if (loaded === undefined) break;
    reportProblems(options, loaded, generation);
    loaded.fromCluster?.taken();
  }
  return loaded;
}

function refuseUnusable(loaded: LoadResult, strict: boolean): void {
  if (loaded.fatal !== undefined) throw new StartError(loaded.fatal);
  if (strict && loaded.withoutCluster !== undefined) throw new StartError(loaded.withoutCluster.refusal);
  if (!strict || loaded.errors === 0) return;
  const lines = loaded.problems.map(problemLine).join("\n");
  throw new StartError(
    `${loaded.file} has ${counted(loaded.errors, "error")}, and --strict refuses to start with any:\n${lines}`,
  );
}

/** The page; its own files are loaded when it is first opened. */
function pageOf({ settings, playground }: ServingOptions, policies: () => PolicySet): readonly AddedRoutes[] {
  const { page, address } = settings;
  return page === "off" ? [] : [pageRoutes({ policies, address, ...(playground && { playground }) })];
}

/** Refuses to start when approving can't. Only at the start of the server: changed files that a successor finds pause approvals, and end no process. */
function refuseApproval(
  { settings, source, successor = false }: ServingOptions,
  loaded: LoadResult,
  approving: ApprovingModule | undefined,
): void {
  if (settings.approve === undefined || approving === undefined || successor) return;
  // It may be one of the cluster's, which are loaded later.
  if (source.cluster !== undefined && !loaded.policies.entries.has(settings.approve)) return;
  const problem = approving.approvalProblem(settings.approve, loaded.policies, source.access);
  if (problem !== undefined) throw new StartError(problem);
}

function served(policies: PolicySet): string[] {
  return [...policies.entries.keys()].filter((id) => !id.includes("/"));
}

function inShadow(policies: PolicySet): number {
  return [...policies.entries.values()].filter(({ shadow }) => shadow !== undefined).length;
}

/** Labels of results in metrics. */
const RESULT_LABELS: Readonly<Record<ShadowResult, string>> = {
  agreed: "agreed",
  wouldDeny: "would_deny",
  wouldAllow: "would_allow",
  failed: "failed",
  notEvaluated: "not_evaluated",
};

function broken(policies: PolicySet): string[] {
  return served(policies).filter((id) => policies.entries.get(id)?.unavailable !== undefined);
}

function reportProblems({ report, logger }: ServingOptions, loaded: LoadResult, generation: number): void {
  const problems = loaded.problems.map((problem) => {
    const level: "error" | "warn" = problem.severity === "error" ? "error" : "warn";
    return { level, line: problemLine(problem) };
  });
  if (report !== undefined) report({ generation, problems });
  else for (const { level, line } of problems) logger.log(level, line);
}
