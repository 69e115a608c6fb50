/** One round of the audit: every object that background policies match is evaluated if something has changed. */

import { ListError, objectPages } from "../../kubernetes/client/object-pages.js";
import type { Status } from "../../offline/reports/finding.js";
import { type AskOptions, askPolicies, type Findings, PolicyIndex } from "./ask-policies.js";
import { type AuditCluster, type AuditedKind, auditedKinds } from "./audit-kinds.js";
import { MAX_PROBLEMS, OBJECTS_AT_A_TIME } from "./audit-limits.js";
import type { AuditedPolicy } from "./audited-policy.js";
import { NamespaceLabels } from "./namespaces.js";
import { AuditedObject } from "./object-request.js";
import type { Pace } from "./pace.js";
import type { PolicyMarks } from "./policy-marks.js";
import type { ResultPatterns } from "./result-patterns.js";
import type { SeenObjects } from "./seen-objects.js";
import { combined, FIRST_SEED, hashText, SECOND_SEED } from "./text-hash.js";

/** Receives findings, one object after the other. */
export interface ResultSink {
  /** @param place the object's place among the remembered ones; -1: not remembered */
  take(object: AuditedObject, findings: Findings, place: number): void | Promise<void>;
}

/** State that is kept from round to round. */
export interface AuditMemory {
  readonly seen: SeenObjects;
  readonly patterns: ResultPatterns;
  readonly marks: PolicyMarks;
}

/** Options of a round. */
export interface RoundOptions extends AskOptions {
  readonly cluster: AuditCluster;
  readonly policies: readonly AuditedPolicy[];
  /** The only namespace of objects; `""`: all, and cluster-scoped objects. */
  readonly namespace: string;
  /** Namespaces whose objects are excluded, as by the webhooks. */
  readonly excluded: Pick<ReadonlySet<string>, "has">;
  /** Whether the object is this replica's, by its uid. */
  readonly isOwn: (uid: string) => boolean;
  readonly memory: AuditMemory;
  readonly sink: ResultSink;
  readonly pace: Pace;
  /** Receives the number of processed objects and an estimate of the total, from time to time. */
  readonly progress?: (done: number, total: number) => void;
  /** Ends the round before its time. */
  readonly signal: AbortSignal;
}

/** The result of a round. */
export interface RoundSummary {
  /** Objects that were listed. */
  readonly objects: number;
  /** Evaluated objects among them; all others have not changed. */
  readonly evaluated: number;
  /** Numbers of objects by policy and status, including those that were not evaluated. */
  readonly results: ReadonlyMap<string, ReadonlyMap<Status, number>>;
  /** Problems of objects that could not be evaluated; at most {@link MAX_PROBLEMS} of them. */
  readonly problems: readonly string[];
  /** The number of further ones. */
  readonly moreProblems: number;
  /** Whether all objects were listed: otherwise a missing one does not count as deleted. */
  readonly isComplete: boolean;
  readonly milliseconds: number;
}

/** Runs a round; never rejects for problems of policies, kinds or the cluster. */
export const runRound = (options: RoundOptions): Promise<RoundSummary> => new Round(options).run();

/** One round (disposable). */
class Round {
  readonly #options: RoundOptions;
  readonly #problems: string[] = [];
  #moreProblems = 0;
  #objects = 0;
  #evaluated = 0;
  /** Objects of pages so far, including those of other replicas; and their total, if known. */
  #passed = 0;
  #total = 0;
  #isComplete = true;
  /** Counts of objects that are not remembered. */
  readonly #loose = new Map<string, Map<Status, number>>();

  constructor(options: RoundOptions) {
    this.#options = options;
  }

  async run(): Promise<RoundSummary> {
    const { now, cluster, policies, namespace, memory } = this.#options;
    const began = now();
    memory.seen.begin();
    memory.patterns.begin();
    const { kinds, problems } = await auditedKinds(cluster, policies, namespace);
    for (const problem of problems) this.#problem(problem);
    const namespaces = await NamespaceLabels.read(cluster);
    if (this.#options.progress !== undefined) this.#total = await this.#count(kinds);
    for (const kind of kinds) {
      try {
        await this.#kind(kind, namespaces);
      } catch (error) {
        this.#problem(messageOf(error));
      }
      if (this.#options.signal.aborted) {
        this.#isComplete = false;
        break;
      }
    }
    const results = this.#results();
    if (this.#isComplete) {
      memory.seen.forgetOthers();
      memory.patterns.forgetOthers();
    }
    return {
      objects: this.#objects,
      evaluated: this.#evaluated,
      results,
      problems: this.#problems,
      moreProblems: this.#moreProblems,
      isComplete: this.#isComplete,
      milliseconds: now() - began,
    };
  }

  #problem(message: string): void {
    this.#isComplete = false;
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push(message);
    else this.#moreProblems += 1;
  }

  /** The number of objects: lists report how many follow a page. Problems of listing are reported later. */
  async #count(kinds: readonly AuditedKind[]): Promise<number> {
    let total = 0;
    for (const kind of kinds) {
      try {
        for await (const { items, left = 0 } of objectPages(this.#options.cluster, kind, this.#options.namespace)) {
          total += items.length + left;
          break;
        }
      } catch (error) {
        if (!(error instanceof ListError)) throw error;
      }
    }
    return total;
  }

  async #kind(kind: AuditedKind, namespaces: NamespaceLabels): Promise<void> {
    const { cluster, namespace, memory, pace, excluded, isOwn, signal, progress } = this.#options;
    const index = new PolicyIndex(kind, namespaces);
    const marks = memory.marks.markOf(kind.policies);
    const always = kind.policies.some(({ looksElsewhere }) => looksElsewhere);
    let waiting: Promise<void>[] = [];
    try {
      for await (const { items } of objectPages(cluster, kind, namespace)) {
        for (const item of items) {
          const turn = pace.step();
          if (turn !== undefined) await turn;
          if (signal.aborted) break;
          const object = new AuditedObject(kind, item);
          const { uid, namespace: within } = object.reference;
          if (uid === "" || excluded.has(within) || !isOwn(uid)) continue;
          this.#objects += 1;
          const answer = this.#object(index, object, marks, always, namespaces);
          if (answer === undefined) continue;
          // It is awaited only after the next page has come.
          waiting.push(answer.catch((error: unknown) => this.#problem(messageOf(error))));
          if (waiting.length < OBJECTS_AT_A_TIME) continue;
          await Promise.all(waiting);
          waiting = [];
        }
        this.#passed += items.length;
        progress?.(this.#passed, this.#total);
        if (signal.aborted) break;
      }
    } finally {
      // Evaluations under way belong to this round, even if the next page can't be read.
      await Promise.all(waiting);
    }
  }

  #object(
    index: PolicyIndex,
    object: AuditedObject,
    mark: number,
    always: boolean,
    namespaces: NamespaceLabels,
  ): Promise<void> | undefined {
    const { memory } = this.#options;
    const { seen, patterns } = memory;
    const { uid, resourceVersion, namespace } = object.reference;
    const labels = namespaces.hashOf(namespace);
    const mayKeep = !always && labels !== undefined && resourceVersion !== "";
    const circumstances = combined(mark, labels ?? 0);
    const stateA = combined(hashText(resourceVersion, FIRST_SEED), circumstances);
    const stateB = combined(hashText(resourceVersion, SECOND_SEED), circumstances);
    const place = seen.find(uid);
    if (place >= 0 && mayKeep && seen.isIn(place, stateA, stateB)) {
      seen.meet(place);
      patterns.count(seen.patternOf(place));
      return undefined;
    }
    this.#evaluated += 1;
    const answer = askPolicies(index.of(namespace), object, namespaces, this.#options);
    const conclude = (findings: Findings): void | Promise<void> => {
      const pattern = this.#tally(findings);
      const at = seen.add(uid);
      if (at >= 0) {
        seen.meet(at);
        seen.evaluated(at, stateA, stateB, mayKeep ? pattern : 0);
      }
      return this.#options.sink.take(object, findings, at);
    };
    const concluded = answer instanceof Promise ? answer.then(conclude) : conclude(answer);
    return concluded instanceof Promise ? concluded : undefined;
  }

  /** @returns the number of the results' pattern; 0: none, they are counted separately */
  #tally(findings: Findings): number {
    const { patterns } = this.#options.memory;
    const pattern = patterns.numberOf(findings.map(({ policy, finding }) => [policy.served.id, finding.status]));
    if (pattern !== 0) patterns.count(pattern);
    else for (const { policy, finding } of findings) addTo(this.#loose, policy.served.id, finding.status, 1);
    return pattern;
  }

  #results(): ReadonlyMap<string, ReadonlyMap<Status, number>> {
    const results = new Map<string, Map<Status, number>>();
    for (const { served } of this.#options.policies) results.set(served.id, new Map());
    for (const [id, counts] of this.#loose) for (const [status, count] of counts) addTo(results, id, status, count);
    for (const { results: each, objects } of this.#options.memory.patterns.counted()) {
      for (const [id, status] of each) addTo(results, id, status, objects);
    }
    return results;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function addTo(results: Map<string, Map<Status, number>>, id: string, status: Status, count: number): void {
  let counts = results.get(id);
  if (counts === undefined) {
    counts = new Map();
    results.set(id, counts);
  }
  counts.set(status, (counts.get(status) ?? 0) + count);
}
