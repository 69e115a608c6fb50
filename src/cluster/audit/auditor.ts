/** The audit in a pod: rounds from time to time, and soon after policies have changed. */
import type { ClusterDelta } from "../../config/from-cluster/index.js";
import type { Clock } from "../../data/clock.js";
import { CHANGE_DELAY_MS, FILE_LOOK_MS, LONGEST_CHANGE_DELAY_MS } from "./audit-limits.js";
import type { AuditRunner, FinishedAudit } from "./audit-runner.js";
import type { AuditedPolicies } from "./audited-policies.js";
import type { FromAuditor, RoundReport, ToAuditor } from "./messages.js";
import type { Pace } from "./pace.js";
import { combined, hashText } from "./text-hash.js";

// The choice of the replica for an object: one of the live ones, by the object's uid.

/**
 * Whether an object is this replica's. All replicas that see the same ones agree; when one comes or goes, only its objects move.
 * @param live names of all
 * @param own one of them; an unknown replica audits everything: twice is better than never
 */
export function shardOf(live: readonly string[], own: string): (uid: string) => boolean {
  const mine = hashText(own);
  const others = live.filter((name) => name !== own).map((name) => hashText(name));
  if (!live.includes(own) || others.length === 0) return () => true;
  return (uid) => {
    const object = hashText(uid);
    const weight = combined(object, mine);
    return others.every((other) => {
      const theirs = combined(object, other);
      return weight > theirs || (weight === theirs && mine > other);
    });
  };
}

/** The source of its policies. */
export interface AuditorPolicies {
  /** Applies changes of the cluster; false: something is missing. */
  take(delta: ClusterDelta): boolean;
  /** Whether files of policies have changed since they were loaded. */
  filesChanged(): boolean;
  /** Reads and loads changes; never rejects. */
  load(): Promise<AuditedPolicies>;
}

/** Options of an auditor. */
export interface AuditorOptions {
  readonly clock: Clock;
  readonly policies: AuditorPolicies;
  readonly runner: Pick<AuditRunner, "use" | "run">;
  /** Milliseconds between rounds. */
  readonly interval: number;
  readonly pace: Pace;
  readonly tell: (message: FromAuditor) => void;
}

/** Runs audits until it is stopped. */
export class Auditor {
  readonly #options: AuditorOptions;
  readonly #ended = new AbortController();
  #isOwn: (uid: string) => boolean = () => true;
  #busy = false;
  /** Whether it knows any policies. */
  #begun = false;
  /** Cancels the next round. */
  #cancel: (() => void) | undefined;
  /** Monotonic milliseconds before which no round begins: rounds take half of the time at most, however often policies change. */
  #notBefore = Number.NEGATIVE_INFINITY;
  #round: Promise<void> | undefined;
  /** Time of the first change of policies or replicas since the last round, in monotonic milliseconds. */
  #changedAt: number | undefined;
  /** Kinds of policies that can't be read. */
  #unread: readonly string[] = [];
  #cancelLook: () => void = () => {};

  constructor(options: AuditorOptions) {
    this.#options = options;
  }

  /** Whether the serving processes get requests. */
  get isBusy(): boolean {
    return this.#busy;
  }

  /** Requests its state. */
  start(): void {
    this.#options.tell({ type: "wants-all" });
    this.#lookAtFiles();
  }

  hear(message: ToAuditor): void {
    switch (message.type) {
      case "policies":
        if (!this.#options.policies.take(message.delta)) this.#options.tell({ type: "wants-all" });
        else {
          this.#begun = true;
          this.#soon();
        }
        return;
      case "unread":
        this.#unread = message.resources;
        this.#soon();
        return;
      case "replicas":
        this.#isOwn = shardOf(message.live, message.own);
        this.#soon();
        return;
      case "busy":
        this.#busy = message.busy;
        return;
      case "stop":
        void this.stop();
    }
  }

  /** Stops the auditor; resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#ended.abort();
    this.#cancel?.();
    this.#cancelLook();
    await this.#round;
  }

  /** Schedules a round for when the changes are likely to be complete; permanent changes don't delay it forever. */
  #soon(): void {
    if (!this.#begun) return;
    const now = this.#options.clock.now();
    this.#changedAt ??= now;
    if (this.#round !== undefined) return;
    this.#schedule(Math.max(0, Math.min(CHANGE_DELAY_MS, this.#changedAt + LONGEST_CHANGE_DELAY_MS - now)));
  }

  #lookAtFiles(): void {
    if (this.#ended.signal.aborted) return;
    this.#cancelLook = this.#options.clock.after(FILE_LOOK_MS, () => {
      if (this.#round === undefined && this.#begun && this.#options.policies.filesChanged()) this.#soon();
      this.#lookAtFiles();
    });
  }

  #schedule(wait: number): void {
    const { clock } = this.#options;
    this.#cancel?.();
    if (this.#ended.signal.aborted) return;
    this.#cancel = clock.after(Math.max(wait, this.#notBefore - clock.now()), () => {
      this.#changedAt = undefined;
      this.#round = this.#run().finally(() => {
        this.#round = undefined;
        if (this.#changedAt === undefined) this.#schedule(this.#options.interval);
        else this.#soon();
      });
    });
  }

  async #run(): Promise<void> {
    const { clock, policies, runner, pace, tell } = this.#options;
    const began = clock.now();
    const { policies: asked, leftOut } = await policies.load();
    const unread = this.#unread.map((resource) => ({
      id: "of the cluster",
      reason: `${resource} cannot be read`,
      isProblem: true,
    }));
    runner.use({ policies: asked, leftOut: [...unread, ...leftOut] });
    const finished = await runner.run({ pace, signal: this.#ended.signal, isOwn: this.#isOwn });
    this.#notBefore = 2 * clock.now() - began;
    if (!this.#ended.signal.aborted) tell({ type: "round", report: reportOf(finished, clock.wall()) });
  }
}

function reportOf({ summary, leftOut, written }: FinishedAudit, ended: number): RoundReport {
  const { objects, evaluated, milliseconds, isComplete, problems, moreProblems } = summary;
  const results = [...summary.results].flatMap(([policy, counts]) =>
    [...counts].map(([result, count]) => ({ policy, result, objects: count })),
  );
  return {
    objects,
    evaluated,
    milliseconds,
    ended,
    isComplete,
    results,
    problems: moreProblems > 0 ? [...problems, `${moreProblems} more problems`] : problems,
    leftOut: leftOut.filter(({ isProblem }) => isProblem).map(({ id, reason }) => ({ policy: id, reason })),
    ...(written && {
      reports: { applied: written.applied, deleted: written.deleted, unchanged: written.unchanged },
    }),
  };
}
