/** Policies of other kinds over resources: one finding each, out of its outcome. */
import { admissionQuestion, rawQuestion } from "../../admission/decode.js";
import { evaluateInTime } from "../../policy/evaluate-in-time.js";
import { EvaluationRun } from "../../policy/evaluation-run.js";
import type { Outcome, Review } from "../../policy/index.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";
import type { Finding, ReportedPolicy } from "../reports/finding.js";
import type { Judge, Subject } from "./judge.js";

/** A policy, and what reports say of it. */
export interface JudgingPolicy {
  readonly served: ServedPolicy;
  readonly reported: ReportedPolicy;
  /** Whether it is asked about this. */
  isFor(subject: Subject): boolean;
  /** What its outcome is called in reports; `undefined`: it has nothing to say. */
  finding(outcome: Outcome): Omit<Finding, "policy"> | undefined;
}

/** What all of them have in common. */
export interface OutcomeJudgeOptions {
  /** Milliseconds that an evaluation may take when its policy says nothing. */
  readonly policyTimeout: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Told when a policy breaks its contract. */
  readonly onDefect: (policy: string, error: unknown) => void;
}

/** Asks one after the other: guests of one resource need not wait for each other's threads. */
export class OutcomeJudge implements Judge {
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
      const { served } = judging;
      const { policyTimeout, now, onDefect } = this.#options;
      const run = new EvaluationRun(now() + (served.timeout ?? policyTimeout), onDefect);
      const outcome = await evaluateInTime(served.policy, review, run, now);
      const found = judging.finding(outcome);
      if (found !== undefined) findings.push({ policy, ...found });
    }
    return findings;
  }
}
