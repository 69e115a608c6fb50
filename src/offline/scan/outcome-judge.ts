/** Evaluates policies of other kinds on resources: one finding each, from its outcome. */
import { admissionQuestion, rawQuestion } from "../../admission/decode.js";
import { isObject, type JsonObject } from "../../kubernetes/object.js";
import { evaluateInTime } from "../../policy/evaluate-in-time.js";
import { EvaluationRun, hasJudged } from "../../policy/evaluation-run.js";
import type { Outcome, Review } from "../../policy/index.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";
import type { Finding, ReportedPolicy } from "../reports/finding.js";
import { asWritten } from "./as-written.js";
import { type Judge, type Mutated, type Mutator, type ResourceSubject, type Subject, withObject } from "./judge.js";

/** A policy, with its description in reports. */
export interface JudgingPolicy {
  readonly served: ServedPolicy;
  readonly reported: ReportedPolicy;
  /** Whether it matches the subject. */
  isFor(subject: Subject): boolean;
  /** The finding of its outcome in reports; `undefined`: none. */
  finding(outcome: Outcome): Omit<Finding, "policy"> | undefined;
}

/** Common options of all policies. */
export interface OutcomeJudgeOptions {
  /** Milliseconds that an evaluation may take without a limit of its policy. */
  readonly policyTimeout: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Called when a policy breaks its contract. */
  readonly onDefect: (policy: string, error: unknown) => void;
}

/** Evaluates one policy after the other: guests of one resource need not wait for each other's threads. */
export class OutcomeJudge implements Judge, Mutator {
  readonly policies: readonly ReportedPolicy[];
  readonly #judging: readonly JudgingPolicy[];
  readonly #options: OutcomeJudgeOptions;

  constructor(judging: readonly JudgingPolicy[], options: OutcomeJudgeOptions) {
    this.policies = judging.map(({ reported }) => reported);
    this.#judging = judging;
    this.#options = options;
  }

  async judge(subject: Subject): Promise<readonly Finding[]> {
    if (subject.kind === "authorization") return [];
    const review: Review =
      subject.kind === "resource" ? admissionQuestion(subject.request) : rawQuestion(subject.payload);
    const findings: Finding[] = [];
    for (const [policy, judging] of this.#judging.entries()) {
      if (!judging.isFor(subject)) continue;
      const { found } = await this.#ask(policy, judging, review);
      if (found !== undefined) findings.push(found);
    }
    return findings;
  }

  async mutate(subject: ResourceSubject): Promise<Mutated> {
    const findings: Finding[] = [];
    let object: JsonObject | undefined;
    for (const [policy, judging] of this.#judging.entries()) {
      const { request, object: before } = withObject(subject, object);
      const review = admissionQuestion(request);
      const { found, outcome } = await this.#ask(policy, judging, review);
      if (found !== undefined) findings.push(found);
      const mutation = outcome.verdict === "allow" ? outcome.mutation : undefined;
      const changed = mutation?.kind === "patch" ? mutation.changed?.object : undefined;
      if (isObject(changed)) object = asWritten(before, changed);
    }
    return { findings, object };
  }

  async #ask(policy: number, judging: JudgingPolicy, review: Review) {
    const { served } = judging;
    const { policyTimeout, now, onDefect } = this.#options;
    const run = new EvaluationRun(now() + (served.timeout ?? policyTimeout), onDefect);
    const outcome = await evaluateInTime(served.policy, review, run, now);
    const finding = judging.finding(outcome);
    const unmatched = hasJudged(outcome, run.observations) ? {} : { unmatched: true as const };
    const found: Finding | undefined = finding && { policy, ...finding, ...unmatched };
    return { found, outcome };
  }
}
