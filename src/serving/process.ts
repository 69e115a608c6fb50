/**
 * One process that answers requests: loads the policies, serves them, and takes over new ones whole. It decides nothing by itself: when to reload
 * and when to stop comes from signals (alone) or from the primary process (one of many).
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
import { smallYoungGeneration, type YoungGeneration } from "./heap.js";
import type { Prepared, ProblemReport } from "./messages.js";
import { roomForConnections } from "./open-files.js";
import { openTls, type ProcessTls } from "./process-tls.js";
import { describeChange, newlyUnavailable, newlyWithoutCluster } from "./reload-changes.js";
import type { ServeSettings } from "./settings.js";
import { StartError } from "./start-problem.js";

/** What a process is made of. */
export interface ServingOptions {
  readonly settings: ServeSettings;
  readonly source: PolicySource;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Whether this process has the readiness port. */
  readonly probes: boolean;
  /** The first set's number; default 1. */
  readonly generation?: number;
  /** Whether it takes the place of one that has ended, in a server that has been complete before; default false. */
  readonly successor?: boolean;
  /** Told when preparing an empty delta would bring other policies of the cluster than those that were prepared last. */
  readonly loadWanted?: () => void;
  /** Who says what is wrong with the policies; absent: the log of this process. */
  readonly report?: (report: ProblemReport) => void;
  /** Why nobody should be sent here yet; see the probes' options. */
  readonly unready?: () => string | undefined;
  /** Tells everything that the cluster holds, unless that is the version which is known (0: none), or nothing is known yet; absent: it is told later. */
  readonly begin?: (known: number) => Promise<ClusterDelta | undefined>;
  /** What there is already of certificates that are handed over. */
  readonly certificate?: CertificatePair;
  /** Takes decisions besides the log. */
  readonly tracer?: DecisionSink | undefined;
  /** Takes requests with their answers. */
  readonly recorder?: RequestRecorder | undefined;
  /** Cuts every connection when aborted. */
  readonly cut: AbortSignal;
  /** Told the port when requests are answered. */
  readonly began?: ((port: number) => void) | undefined;
  /** Takes the drafts of the page; absent: the page is for reading. */
  readonly playground?: Playground | undefined;
  /** Who answers `GET /metrics`; absent: this process about itself. */
  readonly metricsText?: () => Promise<MetricsText>;
  /** Who knows what all processes have counted of versions in shadow; absent: this process about itself. */
  readonly shadows?: () => Promise<ShadowRows>;
}

/** How often a process that begins loads what has changed meanwhile: changes that never end must not keep it from answering. */
const MOST_BEGINNINGS = 5;

/** Loaded with `--approve` only. */
type ApprovingModule = typeof import("./approval.js");

/** What a serving process holds. */
interface ServingParts {
  readonly evaluator: Evaluator;
  readonly server: RunningServer;
  readonly tls: ProcessTls | undefined;
  readonly webhooks: readonly Webhook[];
  readonly approving: ApprovingModule | undefined;
  readonly young: YoungGeneration | undefined;
}

/** A process that serves. */
export class ServingProcess {
  readonly #options: ServingOptions;
  readonly #server: RunningServer;
  readonly #evaluator: Evaluator;
  readonly #tls: ProcessTls | undefined;
  readonly #approving: ApprovingModule | undefined;
  #approval: Approval | undefined;
  readonly #webhooks: readonly Webhook[];
  readonly #young: YoungGeneration | undefined;
  /** What became of all policies that the cluster had when this process began; absent: it knew of none. */
  readonly reports: readonly LoadedPolicyReport[] | undefined;
  #files: readonly string[];
  /** What the served policies lack. */
  #withoutCluster: WithoutCluster | undefined;
  #prepared: LoadResult | undefined;
  /** To load anew. What an earlier one loads that was given up meanwhile counts no more. */
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
   * Loads and begins to answer.
   * @throws StartError, TlsMaterialError, or the system's error for a port that can't be had
   */
  static async start(options: ServingOptions): Promise<ServingProcess> {
    const { settings, source, logger, metrics } = options;
    // Before policies are loaded: the room that needs would be given back by nobody.
    const young = smallYoungGeneration(process.execArgv, process.env.NODE_OPTIONS);
    const tls = await openTls(options);
    if (source.cluster !== undefined) source.cluster.wanted = options.loadWanted ?? (() => {});
    const generation = options.generation ?? 1;
    const own = await source.load(generation);
    // Who refuses to start says everything once, in its refusal.
    refuseUnusable(own, settings.strict);
    reportProblems(options, own, generation);
    own.fromCluster?.taken();
    const loaded = (await loadCluster(options, generation)) ?? own;
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
      readiness_port: server.readinessPort,
      policies: served(loaded.policies).length,
      unavailable: broken(loaded.policies).length,
      pid: process.pid,
    });
    options.began?.(server.port);
    return new ServingProcess(options, loaded, { evaluator, server, tls, webhooks, approving, young });
  }

  /** What this process has counted of versions in shadow. */
  get shadows(): ShadowTally {
    return this.#evaluator.shadows.tally;
  }

  /** Files and folders to look after: those of the served policies, and of the last ones that were kept out. */
  get files(): readonly string[] {
    return this.#files;
  }

  /**
   * Loads policies anew beside the served ones, without serving them yet: with a delta those that have changed in the cluster, without one those of the
   * files. Never rejects.
   * @returns not ok when files' new ones are worse: the file can't be used, a policy that answers now would not any more, or one would begin to
   * need a cluster that nobody has
   */
  async prepare(generation = this.#evaluator.policies.generation + 1, delta?: ClusterDelta): Promise<Prepared> {
    const { source, logger } = this.#options;
    this.#attempts += 1;
    const attempt = this.#attempts;
    let loaded: LoadResult | undefined;
    try {
      loaded = await (delta === undefined ? source.load(generation) : source.cluster?.load(delta, generation));
    } catch (error) {
      // Loading reports what is wrong with files; whatever else goes wrong must not end a process that serves.
      logger.error("reload failed unexpectedly", { error: error instanceof Error ? error.stack : String(error) });
      return { ok: false };
    }
    if (loaded === undefined) return { ok: false, needs: "whole" };
    if (attempt !== this.#attempts) return { ok: false };
    reportProblems(this.#options, loaded, generation);
    // Whatever was read is looked after from now on, so that mending it is noticed.
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

  /** Serves what was prepared, in one step; requests under way finish on what they began with. */
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
    // What is decided under way counts for nothing then: not for every change of some other policy.
    if (approve !== undefined && before.entries.get(approve)?.policy !== loaded.policies.entries.get(approve)?.policy)
      this.#approval?.policiesChanged();
    loaded.fromCluster?.taken();
    logger.info("reloaded policies", {
      generation: loaded.policies.generation,
      ...describeChange(before, loaded.policies),
    });
  }

  /** Approves CertificateRequests until it stops, when the settings want it: of several processes only one is to be told. */
  approve(): void {
    const { settings, source, logger, metrics } = this.#options;
    const approving = this.#approving;
    if (settings.approve === undefined || approving === undefined || this.#approval !== undefined || this.#stopping)
      return;
    const { access, policyTimeout } = source;
    const common = { id: settings.approve, access, policyTimeout, logger, metrics };
    this.#approval = approving.Approval.start({ ...common, evaluator: this.#evaluator });
  }

  /** Forgets what was prepared. */
  discard(): void {
    this.#prepared = undefined;
    this.#attempts += 1;
  }

  /** Serves a certificate that is handed over to new connections. One that can't be used is refused: what was served stays. */
  secure(pair: CertificatePair): void {
    try {
      this.#tls?.take(pair);
    } catch (error) {
      this.#options.logger.error("a certificate can't be used: what was served stays", {
        reason: error instanceof Error ? error.message : String(error),
      });
    }
  }

  /** Stops answering: see {@link RunningServer.stop}. */
  async stop(delay: number, grace: number): Promise<void> {
    this.#stopping = true;
    this.#tls?.close();
    // Another replica goes on with what is left.
    await Promise.all([this.#approval?.stop(), this.#server.stop({ delay, grace })]);
    await this.#options.playground?.close();
    this.#young?.close();
    for (const webhook of this.#webhooks) webhook.close();
  }
}

/**
 * Loads what the cluster holds, and what has changed meanwhile: whoever begins must not answer by what others have left behind. What is wrong with the
 * cluster's policies stops no server, however strict it is.
 */
async function loadCluster(options: ServingOptions, generation: number): Promise<LoadResult | undefined> {
  let loaded: LoadResult | undefined;
  let known = 0;
  for (let times = 0; times < MOST_BEGINNINGS; times++) {
    const delta = await options.begin?.(known);
    if (delta === undefined) break;
    known = delta.version;
    loaded = await options.source.cluster?.load(delta, generation);
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

/** The page; files that only it needs are loaded when somebody opens it. */
function pageOf({ settings, playground }: ServingOptions, policies: () => PolicySet): readonly AddedRoutes[] {
  const { page, address } = settings;
  return page === "off" ? [] : [pageRoutes({ policies, address, ...(playground && { playground }) })];
}

/** Only when everything begins: what a successor of a process finds in changed files ends no process, but pauses approvals. */
function refuseApproval(
  { settings, source, successor = false }: ServingOptions,
  loaded: LoadResult,
  approving: ApprovingModule | undefined,
): void {
  if (settings.approve === undefined || approving === undefined || successor) return;
  // It may be one of the cluster's, which come when this process is there.
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

/** As metrics write them. */
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
