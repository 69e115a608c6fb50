/** Runs the audit: policies, and rounds over the cluster with the memory between them. */
import type { ReportedPolicy, Status } from "../../offline/reports/finding.js";
import type { AskOptions } from "./ask-policies.js";
import type { AuditCluster } from "./audit-kinds.js";
import { RESULT_KEPT_MS } from "./audit-limits.js";
import { type RoundOptions, type RoundSummary, runRound } from "./audit-round.js";
import type { AuditedPolicies } from "./audited-policies.js";
import type { AuditedPolicy, LeftOut } from "./audited-policy.js";
import { type ObjectReport, objectReport, type ReportAuthor } from "./object-report.js";
import { PolicyMarks } from "./policy-marks.js";
import { type ReportCounts, ReportWriter } from "./report-writer.js";
import { ResultPatterns } from "./result-patterns.js";
import { SeenObjects } from "./seen-objects.js";

/** Options of an audit. */
export interface AuditOptions extends AskOptions, ReportAuthor {
  readonly cluster: AuditCluster;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Whether reports are written into the cluster. */
  readonly writes: boolean;
  /** The only namespace of objects; `""`: all, and cluster-scoped objects. */
  readonly namespace: string;
  /** Namespaces whose objects are excluded. */
  readonly excluded: Pick<ReadonlySet<string>, "has">;
}

/** Options of a round. */
export interface RunOptions extends Pick<RoundOptions, "pace" | "signal" | "progress"> {
  /** Whether an object is this replica's; default: all are. */
  readonly isOwn?: (uid: string) => boolean;
  /** Receives each object with objections that was evaluated in this round; unchanged objects are not reported again. */
  readonly found?: (report: ObjectReport) => Promise<void> | undefined;
}

/** The result of a round. */
export interface FinishedAudit {
  readonly summary: RoundSummary;
  readonly leftOut: readonly LeftOut[];
  /** Counts of all policies together. */
  readonly counts: Readonly<Record<Status, number>>;
  /** Counts of written reports; absent: none are written. */
  readonly written?: ReportCounts;
  /** Whether everything could be evaluated. */
  readonly isWell: boolean;
}

/** An audit. One round at a time. */
export class AuditRunner {
  readonly #options: AuditOptions;
  readonly #memory = { seen: new SeenObjects(), patterns: new ResultPatterns(), marks: new PolicyMarks() };
  readonly #writer: ReportWriter | undefined;
  #policies: readonly AuditedPolicy[] = [];
  #leftOut: readonly LeftOut[] = [];
  #believedSince: number;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#believedSince = options.now();
    if (options.writes) this.#writer = new ReportWriter(options.cluster, options, this.#memory.seen);
  }

  /** The policies for reports. */
  get reported(): readonly ReportedPolicy[] {
    return this.#policies.map(({ reported }) => reported);
  }

  /** Bytes of remembered objects. */
  get memoryBytes(): number {
    return this.#memory.seen.bytes;
  }

  /** Sets the policies from the next round on. */
  use({ policies, leftOut }: AuditedPolicies): void {
    this.#policies = policies;
    this.#leftOut = leftOut;
  }

  /** Runs a round; never rejects for problems of policies or the cluster. */
  async run({ isOwn = () => true, found, ...options }: RunOptions): Promise<FinishedAudit> {
    const { wall, now, cluster, policyTimeout, onDefect, namespace, excluded } = this.#options;
    const writer = this.#writer;
    const problems: string[] = [];
    if (now() - this.#believedSince > RESULT_KEPT_MS) {
      this.#believedSince = now();
      this.#memory.seen.forgetResults();
    }
    const isWhole = !this.#leftOut.some(({ isProblem }) => isProblem);
    const { pace, signal } = options;
    await writer?.begin({ namespace, isOwn, mayDelete: isWhole, pace, signal });
    const summary = await runRound({
      ...options,
      isOwn,
      cluster,
      policyTimeout,
      onDefect,
      now,
      namespace,
      excluded,
      policies: this.#policies,
      memory: this.#memory,
      sink: {
        take: (object, findings, place) => {
          const report = objectReport(this.#options, object.reference, findings, Math.floor(wall() / 1000));
          const told = report === undefined ? undefined : found?.(report);
          const written = writer?.take(object.reference, report, place);
          if (told === undefined) return written;
          return written === undefined ? told : Promise.all([told, written]).then(() => {});
        },
      },
    });
    const written = await writer?.end(summary.isComplete);
    if (written !== undefined) problems.push(...written.problems);
    const counts: Record<Status, number> = { pass: 0, fail: 0, warn: 0, error: 0, skip: 0 };
    for (const results of summary.results.values()) for (const [status, count] of results) counts[status] += count;
    const all = { ...summary, problems: [...summary.problems, ...problems] };
    return {
      summary: all,
      leftOut: this.#leftOut,
      counts,
      ...(written !== undefined && { written }),
      isWell: all.problems.length === 0 && isWhole,
    };
  }
}
