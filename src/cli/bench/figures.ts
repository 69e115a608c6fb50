/** Figures of `bench` as data, which `-o json` prints. */
import type { ServedPolicy } from "../../policy/served/policy-set.js";
import { wordOf } from "../eval/words.js";
import type { ExpressionCost } from "./costs.js";
import { type Measured, percentile } from "./measure.js";
import type { MemberTime } from "./member-times.js";

/** The figures. Times are milliseconds. */
export interface Figures {
  readonly policy: string;
  readonly implementation: string;
  /** A description of the measurement, in a sentence. */
  readonly measures: string;
  /** `ALLOWED`, `DENIED` …: the first answer, with its reason. */
  readonly answer: string;
  readonly message?: string;
  readonly objects: number;
  readonly concurrency: number;
  readonly answers: number;
  /** Number of answers that were errors: their times are those of failures. */
  readonly failed: number;
  readonly seconds: number;
  readonly answersPerSecond: number;
  readonly milliseconds: { readonly median: number; readonly p95: number; readonly p99: number; readonly most: number };
  /** Times of the start and of the first answer. */
  readonly start: {
    readonly load: number;
    readonly firstAnswer: number;
    /** The start mode of a module's instances, and the reason for it. */
    readonly kind?: string;
    readonly because?: string;
  };
  /** For a group: its members, and evaluated members of members. */
  readonly members: readonly MemberFigures[];
  readonly expressions: readonly ExpressionCost[];
  /** Cost of all expressions together. */
  readonly cost: number;
}

/** One member. */
export interface MemberFigures {
  readonly policy: string;
  /** Number of answers that evaluated it. */
  readonly asked: number;
  /** Mean milliseconds of an evaluation. */
  readonly mean: number;
  /** Share of the time of all answers, 0 to 1; members of groups count in their group, too. */
  readonly share: number;
}

/** The description of the measurement. */
const MEASURES = "evaluations in this process, one after the other, warm; without HTTP, JSON and log";

/** Makes the figures. */
export function figuresOf(
  { policy, id }: ServedPolicy,
  measured: Measured,
  members: readonly MemberTime[],
  expressions: readonly ExpressionCost[],
  { load, objects, concurrency }: { readonly load: number; readonly objects: number; readonly concurrency: number },
): Figures {
  const { first, times, answers, failed, milliseconds } = measured;
  const { start } = policy;
  const message = first.outcome.verdict === "skip" ? first.outcome.reason : first.response.status?.message;
  const at = (share: number): number => rounded(percentile(times, share));
  return {
    policy: id,
    implementation: policy.implementation,
    measures: concurrency === 1 ? MEASURES : MEASURES.replace("one after the other", `${concurrency} at a time`),
    answer: wordOf(first),
    ...(message !== undefined && { message }),
    objects,
    concurrency,
    answers,
    failed,
    seconds: rounded(milliseconds / 1000),
    answersPerSecond: Math.round((answers / milliseconds) * 1000),
    milliseconds: { median: at(0.5), p95: at(0.95), p99: at(0.99), most: at(1) },
    start: {
      load: rounded(load),
      firstAnswer: rounded(measured.firstMilliseconds),
      ...(start !== undefined && { kind: start.start, ...(start.because !== undefined && { because: start.because }) }),
    },
    members: members.map((member) => ({
      policy: member.policy,
      asked: rounded(member.times / answers),
      mean: member.times === 0 ? 0 : rounded(member.milliseconds / member.times),
      // With several at a time answers overlap: the share is of their times, not of the clock's.
      share: rounded(member.milliseconds / (answers * mean(times))),
    })),
    expressions,
    cost: expressions.reduce((sum, { cost }) => sum + cost, 0),
  };
}

const mean = (times: Float64Array): number => times.reduce((sum, time) => sum + time, 0) / times.length;

/** Rounds to four digits, the precision of the clock. */
const rounded = (value: number): number => Number(value.toPrecision(4));
