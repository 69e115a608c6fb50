/** `serve --approve`: decides CertificateRequests of the cluster by one of the served policies. */
import { hostname } from "node:os";
import { type ApprovalCount, Approver, SYSTEM_CLOCK } from "../cluster/approver/index.js";
import { type Approving, isApproving, type Ruling } from "../policy/approving.js";
import { EvaluationRun } from "../policy/evaluation-run.js";
import type { Policy } from "../policy/policy.js";
import { ruleInTime } from "../policy/rule-in-time.js";
import type { Evaluator } from "../policy/served/evaluator.js";
import type { PolicySet, ServedPolicy } from "../policy/served/policy-set.js";
import type { Logger } from "../telemetry/logger.js";
import type { Metrics } from "../telemetry/metrics.js";
import { type ClusterAccess, openAccess } from "../world/cluster.js";

/** Options of approving. */
export interface ApprovalOptions {
  /** Id of the policy that decides. */
  readonly id: string;
  readonly access: ClusterAccess | undefined;
  readonly evaluator: Evaluator;
  /** Milliseconds that a review may take without a limit of the policy's entry; Infinity for no limit. */
  readonly policyTimeout: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** A served policy that can decide. */
type Decider = ServedPolicy & { readonly policy: Policy & Approving };

/** The reason why approving cannot start; undefined when it can. A policy that could not be loaded may be repaired: until then nothing is decided. */
export function approvalProblem(
  id: string,
  policies: PolicySet,
  access: ClusterAccess | undefined,
): string | undefined {
  const problem = policies.entries.get(id)?.unavailable === undefined ? deciderProblem(id, policies) : undefined;
  if (problem !== undefined) return problem;
  if (access !== undefined && !("missing" in access)) return undefined;
  return `--approve needs a cluster: ${access?.missing ?? "none is configured"}`;
}

/** The reason why a policy cannot decide; undefined when it can. */
function deciderProblem(id: string, policies: PolicySet): string | undefined {
  const entry = policies.entries.get(id);
  if (entry === undefined) return `--approve names the policy "${id}", which is not there`;
  if (entry.unavailable !== undefined) return `the policy "${id}" of --approve could not be loaded`;
  if (entry.mode === "monitor")
    return `the policy "${id}" of --approve is in monitor mode, in which it decides nothing`;
  if (!isApproving(entry.policy))
    return `the policy "${id}" of --approve is not an entry of CertificateRequestPolicies alone`;
  if (entry.policy.denies) return undefined;
  return `the policy "${id}" of --approve has validationActions without Deny: it only warns, but a written denial is for good`;
}

/** Approves and denies by the currently served policies. */
export class Approval {
  readonly #options: ApprovalOptions;
  readonly #approver: Approver;
  readonly #close: () => Promise<void>;
  #problem: string | undefined;

  private constructor(
    options: ApprovalOptions,
    approver: (approval: Approval) => Approver,
    close: () => Promise<void>,
  ) {
    this.#options = options;
    this.#close = close;
    this.#look();
    this.#approver = approver(this);
  }

  /** Starts approving; undefined when there is no cluster. */
  static start(options: ApprovalOptions): Approval | undefined {
    const { id, access, logger, metrics } = options;
    const log = logger.named("approver");
    // Its own connection: guests' lists must not be closed with this one, nor wait behind its requests.
    const cluster = openAccess(access, SYSTEM_CLOCK.now, (message, level) => log.log(level ?? "warn", message));
    if (cluster === undefined) return undefined;
    const start = (approval: Approval) =>
      new Approver({
        cluster,
        log,
        clock: SYSTEM_CLOCK,
        random: Math.random,
        instance: hostname(),
        decide: (request, signal) => approval.#decide(request, signal),
      });
    const approval = new Approval(options, start, () => cluster.close());
    metrics.approvals(() => approval.counts());
    log.info("approving CertificateRequests", { policy_id: id, pid: process.pid });
    return approval;
  }

  /** Counts of requests. */
  counts(): ApprovalCount[] {
    return this.#approver.counts();
  }

  /** Notes that other policies are served. */
  policiesChanged(): void {
    this.#look();
    this.#approver.policiesChanged();
  }

  /** Stops approving; nothing is decided after that. */
  async stop(): Promise<void> {
    await this.#approver.stop();
    await this.#close();
  }

  /** Logs once why nothing is decided, and once when decisions continue. */
  #look(): void {
    const { id, evaluator, logger } = this.#options;
    const problem = deciderProblem(id, evaluator.policies);
    const before = this.#problem;
    this.#problem = problem;
    const log = logger.named("approver");
    if (problem === before) return;
    if (problem !== undefined)
      log.error("no CertificateRequest is approved or denied until this is mended", { reason: problem });
    else log.info("CertificateRequests are approved and denied again", { policy_id: id });
  }

  async #decide(request: { readonly [key: string]: unknown }, signal: AbortSignal): Promise<Ruling | undefined> {
    const { id, evaluator, policyTimeout, logger } = this.#options;
    const entry = evaluator.policies.entries.get(id);
    if (entry === undefined || !isDecider(entry, evaluator.policies)) return undefined;
    const { now } = SYSTEM_CLOCK;
    const onDefect = (policy: string, error: unknown): void =>
      logger.error("a policy failed unexpectedly", {
        policy_id: policy,
        error: error instanceof Error ? error.stack : String(error),
      });
    const run = new EvaluationRun(now() + (entry.timeout ?? policyTimeout), onDefect, evaluator.turns);
    const abandon = (): void => run.abort();
    signal.addEventListener("abort", abandon, { once: true });
    try {
      return await ruleInTime(entry.policy, request, run, now);
    } finally {
      signal.removeEventListener("abort", abandon);
    }
  }
}

const isDecider = (entry: ServedPolicy, policies: PolicySet): entry is Decider =>
  deciderProblem(entry.id, policies) === undefined;
