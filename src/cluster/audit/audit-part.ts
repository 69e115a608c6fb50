/** The background audit of a replica: a separate process, which receives the agent's state and sends its findings. */

import type { ClusterDelta, ClusterDocument } from "../../config/from-cluster/cluster-document.js";
import type { ClusterState } from "../cluster-state.js";
import type { ClusterPart, PartContext } from "../part.js";
import type { FromAuditor, RoundReport, ToAuditor } from "./messages.js";

/** The used part of the other process. */
export interface AuditorProcess {
  send(message: ToAuditor): void;
  /** Ends it; resolves when it has. */
  end(): Promise<void>;
}

/** Starts an auditor. `ended`: called once when it has ended, for any reason. */
export type StartAuditor = (hear: (message: FromAuditor) => void, ended: (how: string) => void) => AuditorProcess;

/** Milliseconds between two checks for requests. */
const LOOK_EVERY_MS = 1_000;
/** The first pause before an ended auditor is replaced, and the longest: no request depends on it. */
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 300_000;
/** Lifetime of an auditor whose end does not have a lasting cause. */
const STEADY_MS = 600_000;
/** Characters of documents in one message, which is written on the main thread: some milliseconds of it. */
const CHARACTERS_AT_A_TIME = 1_000_000;

/** Runs audits while the agent works. */
export class AuditPart implements ClusterPart {
  readonly #context: PartContext;
  readonly #startAuditor: StartAuditor;
  readonly #evaluations: () => number;
  readonly #forget: () => void;
  #process: AuditorProcess | undefined;
  #startedAt = 0;
  #pause = FIRST_PAUSE_MS;
  #cancelStart: (() => void) | undefined;
  #cancelLook: (() => void) | undefined;
  #cancelRest: (() => void) | undefined;
  #stopping = false;
  /** The state that the auditor knows. */
  #told: { readonly version: number; readonly documents: ReadonlyMap<string, ClusterDocument> } | undefined;
  #unread = "";
  #live = "";
  #counted = 0;
  #busy: boolean | undefined;
  #last: RoundReport | undefined;

  /** @param evaluations number of evaluations for requests so far */
  constructor(context: PartContext, startAuditor: StartAuditor, evaluations: () => number) {
    this.#context = context;
    this.#startAuditor = startAuditor;
    this.#evaluations = evaluations;
    const { replicas, metrics } = context;
    this.#forget = replicas.changed(() => this.#tellReplicas());
    metrics.gauge("audit_objects", () => this.#last?.objects ?? 0);
    metrics.gauge("audit_evaluated_objects", () => this.#last?.evaluated ?? 0);
    metrics.gauge("audit_duration_seconds", () => (this.#last?.milliseconds ?? 0) / 1000);
    metrics.gauge("audit_timestamp_seconds", () => (this.#last?.ended ?? 0) / 1000);
    metrics.gauge("audit_problems", () => (this.#last?.problems.length ?? 0) + (this.#last?.leftOut.length ?? 0));
    metrics.auditResults(() => this.#last?.results ?? []);
  }

  served(state: ClusterState): void {
    if (this.#stopping) return;
    if (this.#process === undefined && this.#cancelStart === undefined) this.#start();
    else this.#tellPolicies(state);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#forget();
    this.#cancelStart?.();
    this.#cancelLook?.();
    this.#cancelRest?.();
    await this.#process?.end();
  }

  #start(): void {
    const { clock, log } = this.#context;
    this.#cancelStart = undefined;
    this.#startedAt = clock.now();
    this.#told = undefined;
    try {
      this.#process = this.#startAuditor(
        (message) => this.#hear(message),
        (how) => this.#ended(how),
      );
    } catch (error) {
      this.#ended(error instanceof Error ? error.message : String(error));
      return;
    }
    log.debug("the audit has begun in a process of its own");
    this.#look();
  }

  #ended(how: string): void {
    const { clock, log } = this.#context;
    this.#process = undefined;
    this.#cancelLook?.();
    if (this.#stopping || this.#cancelStart !== undefined) return;
    if (clock.now() - this.#startedAt >= STEADY_MS) this.#pause = FIRST_PAUSE_MS;
    log.error("the process that audits has ended and is replaced", { how, pause_ms: this.#pause });
    this.#cancelStart = clock.after(this.#pause, () => this.#start());
    this.#pause = Math.min(2 * this.#pause, LAST_PAUSE_MS);
  }

  #hear(message: FromAuditor): void {
    if (message.type === "wants-all") {
      this.#told = undefined;
      this.#unread = "";
      this.#live = "";
      this.#busy = undefined;
      this.#tellBusy();
      this.#tellReplicas();
      const state = this.#context.state();
      if (state !== undefined) this.#tellPolicies(state);
      return;
    }
    this.#say(message.report);
  }

  /** Logs a round's report; repeated problems are not logged again. */
  #say(report: RoundReport): void {
    const { log, cluster } = this.#context;
    const level = cluster.http.outage.settling ? "info" : "warn";
    const known = new Set([...(this.#last?.problems ?? []), ...(this.#last?.leftOut ?? []).map(lineOf)]);
    this.#last = report;
    const lines = [...report.problems, ...report.leftOut.map(lineOf)];
    for (const line of lines) if (!known.has(line)) log.log(level, `audit: ${line}`);
    const failing = report.results.filter(({ result }) => result === "fail" || result === "error");
    log.info("audited the cluster's objects", {
      objects: report.objects,
      evaluated: report.evaluated,
      milliseconds: Math.round(report.milliseconds),
      findings: failing.reduce((sum, { objects }) => sum + objects, 0),
      complete: report.isComplete,
      ...(report.reports && { reports_written: report.reports.applied, reports_deleted: report.reports.deleted }),
    });
  }

  #tellPolicies({ version, documents, unread }: ClusterState): void {
    if (this.#process === undefined) return;
    // Before the policies: missing ones must not count as deleted.
    if (unread.join() !== this.#unread) {
      this.#unread = unread.join();
      this.#process.send({ type: "unread", resources: unread });
    }
    const told = this.#told;
    const news = [...documents.values()].filter((each) => told?.documents.get(each.key) !== each);
    const removed = [...(told?.documents.keys() ?? [])].filter((key) => !documents.has(key));
    if (told !== undefined && news.length === 0 && removed.length === 0) return;
    const put = firstOf(news);
    const known = new Map(told?.documents);
    for (const key of removed) known.delete(key);
    for (const document of put) known.set(document.key, document);
    const delta: ClusterDelta = { version, base: told?.version ?? 0, put, removed, sets: [] };
    this.#told = { version, documents: known };
    this.#process.send({ type: "policies", delta });
    if (put.length < news.length) this.#tellRest();
  }

  /** Sends the rest in another turn. */
  #tellRest(): void {
    this.#cancelRest?.();
    this.#cancelRest = this.#context.clock.after(0, () => {
      const state = this.#context.state();
      if (state !== undefined) this.#tellPolicies(state);
    });
  }

  #tellReplicas(): void {
    const { replicas, settings } = this.#context;
    const live = replicas.live.map(({ name }) => name);
    const text = live.join(" ");
    // Replicas update their state all the time.
    if (this.#process === undefined || text === this.#live) return;
    this.#live = text;
    this.#process.send({ type: "replicas", live, own: settings.replica });
  }

  #look(): void {
    this.#tellBusy();
    this.#cancelLook = this.#context.clock.after(LOOK_EVERY_MS, () => this.#look());
  }

  #tellBusy(): void {
    const evaluations = this.#evaluations();
    const busy = evaluations !== this.#counted;
    this.#counted = evaluations;
    if (busy === this.#busy || this.#process === undefined) return;
    this.#busy = busy;
    this.#process.send({ type: "busy", busy });
  }
}

/** As many documents as fit into a message, and at least one. */
function firstOf(documents: readonly ClusterDocument[]): readonly ClusterDocument[] {
  let characters = 0;
  const end = documents.findIndex(({ text }) => {
    characters += text.length;
    return characters > CHARACTERS_AT_A_TIME;
  });
  return end < 0 ? documents : documents.slice(0, Math.max(1, end));
}

const lineOf = ({ policy, reason }: RoundReport["leftOut"][number]): string =>
  `the policy ${policy} is not asked: ${reason}`;
