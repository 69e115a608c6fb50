/**
 * The agent's part for versions in shadow: every replica announces its counts; the leader notes in each policy which version is in force,
 * and promotes those whose time has come.
 */
import type { ClusterDocument } from "../../config/from-cluster/cluster-document.js";
import { type RolledOut, Rollouts } from "../../config/from-cluster/rollouts.js";
import type { Clock } from "../../data/clock.js";
import { reasonOf } from "../../kubernetes/client/errors.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import type { ShadowExample, ShadowRow } from "../../policy/served/shadow/tally.js";
import type { Logger } from "../../telemetry/logger.js";
import type { ClusterState } from "../cluster-state.js";
import type { ClusterPart } from "../part.js";
import type { Replicas } from "../replicas.js";
import type { ShadowSource } from "../serving.js";
import { annotate } from "./annotator.js";
import { type Duty, dutyOf } from "./duty.js";
import { factText, SHADOW_FACT } from "./fact.js";
import type { Progress } from "./record.js";
import { ReplicaCounts } from "./replica-counts.js";

/** Most examples in a status: the latest; `GET /policies` has more. */
const SHOWN_EXAMPLES = 3;

/**
 * The status' text, a few lines.
 * @param examples examples of this replica
 * @param outlook the time of the promotion
 */
function shadowWords(
  { rollout: { note, shadow, enforcedNamespaces, problems } }: RolledOut,
  { record, counts }: Progress,
  examples: readonly ShadowExample[],
  outlook: string | undefined,
): string {
  const generation = shadow?.document.generation ?? 0;
  const inForce = note.generation === 0 ? "none is in force" : `generation ${note.generation} is in force`;
  const { agreed, wouldDeny, wouldAllow, failed, notEvaluated } = counts;
  const gone = record.denied === 0 ? "" : ` Denials that replicas counted that have gone: ${record.denied}.`;
  const lines = [
    `generation ${generation} is in shadow since ${new Date(record.since).toISOString()}; ${inForce}.`,
    `Would deny: ${wouldDeny}, would allow: ${wouldAllow}, failed: ${failed}, agreed: ${agreed}, not evaluated: ${notEvaluated}.${gone}`,
    ...(enforcedNamespaces.length > 0 ? [`In force in ${enforcedNamespaces.join(", ")}.`] : []),
    ...(outlook === undefined ? [] : [`${outlook[0]?.toUpperCase()}${outlook.slice(1)}.`]),
    ...problems.map(({ path, message }) => `${path.at(-1)}: ${message}.`),
    ...examples.slice(-SHOWN_EXAMPLES).map(exampleWords),
  ];
  return lines.join("\n");
}

function exampleWords({ at, result, operation, kind, namespace, name, message }: ShadowExample): string {
  const what = [operation, kind, namespace === undefined ? name : `${namespace}/${name ?? ""}`]
    .filter(Boolean)
    .join(" ");
  const would = result === "wouldAllow" ? "would allow" : result === "failed" ? "failed at" : "would deny";
  return `${new Date(at).toISOString()} ${would} ${what}${message === undefined ? "" : `: ${message}`}`;
}

/** Interval in milliseconds of reading counts: that of renewing Leases. */
export const LOOK_MS = 10_000;
/** Least milliseconds between two changes of a status that are only about counts. */
export const STATUS_MS = 60_000;
/** Milliseconds within which a note must come back as a change of the policy; after that it is written again. */
const COMES_BACK_MS = 30_000;
/** Milliseconds for writing the final announcement into the Lease, which is deleted after that. */
export const LAST_WORD_MS = 1000;

/** The store of facts for the status of policies. */
export interface ShadowFacts {
  /** undefined: nothing is in shadow. */
  setShadow(key: string, fact: { readonly message: string; readonly activeGeneration?: number } | undefined): void;
}

/** The options. */
export interface ShadowPartOptions {
  readonly cluster: Pick<Cluster, "http" | "discovery">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly replicas: Replicas;
  readonly facts: ShadowFacts;
  readonly source: ShadowSource;
  /** Identifies this process. */
  readonly instance: string;
}

/** Manages versions in shadow. */
export class ShadowPart implements ClusterPart {
  readonly #options: ShadowPartOptions;
  readonly #rollouts = new Rollouts();
  readonly #counts = new ReplicaCounts();
  readonly #forget: () => void;
  readonly #stopping = new AbortController();
  /** The written notes, until they come back as another document. */
  readonly #written = new Map<string, { readonly document: ClusterDocument; readonly at: number }>();
  /** When and with which text each status was last updated. */
  readonly #shown = new Map<
    string,
    { readonly at: number; readonly outlook: string | undefined; readonly version: string }
  >();
  readonly #failed = new Map<string, string>();
  #rows: readonly ShadowRow[] = [];
  /** Whether not all processes have reported their latest counts. */
  #isStale = false;
  #leading: AbortSignal | undefined;
  #next: (() => void) | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #told = false;

  constructor(options: ShadowPartOptions) {
    this.#options = options;
    this.#counts.see(options.replicas.live);
    this.#forget = options.replicas.changed(() => this.#counts.see(options.replicas.live));
  }

  /** Versions of all policies, from the leader's view. */
  get rolledOut(): ReadonlyMap<string, RolledOut> {
    return this.#rollouts.rolledOut;
  }

  served({ documents }: ClusterState): void {
    this.#rollouts.update(documents);
    for (const maps of [this.#written, this.#shown, this.#failed])
      for (const key of maps.keys()) if (!documents.has(key)) maps.delete(key);
    for (const key of this.#shown.keys()) if (this.#shadowOf(key) === undefined) this.#hide(key);
    this.#look();
  }

  lead(signal: AbortSignal): void {
    this.#leading = signal;
    this.#shown.clear();
    this.#look();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#next?.();
    await this.#looking;
    this.#forget();
    if (!this.#told) return;
    await this.#count();
    this.#tell(true);
    await new Promise<void>((resolve) => this.#options.clock.after(LAST_WORD_MS, resolve));
  }

  /** Works now, and again at intervals. Without a rollout nothing is done. */
  #look(): void {
    this.#next?.();
    this.#next = undefined;
    if (this.#stopping.signal.aborted) return;
    if (this.#looking !== undefined) {
      this.#again = true;
      return;
    }
    if (this.#rollouts.rolledOut.size === 0 && !this.#told) return;
    this.#looking = this.#lookOnce().then(() => {
      this.#looking = undefined;
      if (this.#again) {
        this.#again = false;
        this.#look();
      } else if (this.#rollouts.rolledOut.size > 0 && !this.#stopping.signal.aborted)
        this.#next = this.#options.clock.after(LOOK_MS, () => this.#look());
    });
  }

  /** One round. Never rejects. */
  async #lookOnce(): Promise<void> {
    await this.#count();
    this.#tell(false);
    this.#counts.see(this.#options.replicas.live);
    const leading = this.#leading;
    if (leading === undefined) return;
    for (const [key, rolledOut] of this.#rollouts.rolledOut) {
      if (leading.aborted || this.#stopping.signal.aborted) return;
      await this.#keep(key, rolledOut, leading);
    }
  }

  /** Reads this replica's counts of versions that are in shadow now. */
  async #count(): Promise<void> {
    const versions = new Set(Array.from(this.#rollouts.rolledOut.values(), ({ rollout }) => rollout.shadow?.version));
    versions.delete(undefined);
    const rows = versions.size === 0 ? [] : await this.#options.source.rows();
    // Incomplete counts are not announced: others keep the former ones, and know that there may be more.
    this.#isStale = "unavailable" in rows;
    if (!("unavailable" in rows)) this.#rows = rows.filter(({ version }) => versions.has(version));
  }

  /** Announces. @param isLast whether counting has ended: an incomplete final announcement does not count as one */
  #tell(isLast: boolean): void {
    const isStale = this.#isStale;
    const { replicas, instance, source } = this.#options;
    if (this.#rows.length === 0 && !this.#told) return;
    this.#told = true;
    replicas.announce(
      SHADOW_FACT,
      factText({ instance, lost: source.lost, isEnded: isLast && !isStale, isStale }, this.#rows),
    );
  }

  async #keep(key: string, rolledOut: RolledOut, signal: AbortSignal): Promise<void> {
    const { clock, cluster, log } = this.#options;
    const { document } = rolledOut;
    const known = {
      of: (version: string) => this.#counts.of(version),
      isLoaded: (version: string) => this.#rows.some((row) => row.version === version && !row.isBroken),
    };
    const duty = dutyOf(rolledOut, known, clock.wall());
    this.#show(key, rolledOut, duty);
    const written = this.#written.get(key);
    const isOnItsWay = written?.document === document && clock.now() - written.at < COMES_BACK_MS;
    if (duty.notes === undefined || isOnItsWay) return;
    try {
      const result = await annotate(
        cluster,
        document,
        duty.notes,
        signal,
        duty.isByClock === true ? clock.wall() : undefined,
      );
      this.#failed.delete(key);
      if (result === "stale") return;
      this.#written.set(key, { document, at: clock.now() });
      if (duty.log) log.info(duty.log.message, { policy: key, ...duty.log.fields });
    } catch (error) {
      if (!signal.aborted) this.#say(key, reasonOf(error));
    }
  }

  #say(key: string, reason: string): void {
    if (this.#failed.get(key) === reason) return;
    this.#failed.set(key, reason);
    this.#options.log.error("a policy's rollout cannot be noted in it: the version in force stays", {
      policy: key,
      reason,
    });
  }

  #shadowOf(key: string): string | undefined {
    return this.#rollouts.rolledOut.get(key)?.rollout.shadow?.version;
  }

  #hide(key: string): void {
    this.#shown.delete(key);
    this.#options.facts.setShadow(key, undefined);
  }

  /** Updates the status. Counts change with each request and are shown at intervals, other changes at once. */
  #show(key: string, rolledOut: RolledOut, { progress, outlook }: Duty): void {
    const { clock, facts } = this.#options;
    const version = rolledOut.rollout.shadow?.version;
    if (version === undefined || progress === undefined) return;
    const before = this.#shown.get(key);
    const kind = outlook?.replace(/\d+/g, "");
    const isNews = before?.version !== version || before.outlook !== kind;
    if (!isNews && clock.now() - before.at < STATUS_MS) return;
    this.#shown.set(key, { at: clock.now(), outlook: kind, version });
    const examples = this.#rows.find((row) => row.version === version)?.examples ?? [];
    const { generation } = rolledOut.rollout.note;
    const message = shadowWords(rolledOut, progress, examples, outlook);
    facts.setShadow(key, { message, ...(generation > 0 && { activeGeneration: generation }) });
  }
}
