/** What `bench` has found, as data: what `-o json` prints. */
import type { ServedPolicy } from "../../policy/served/policy-set.js";
import { wordOf } from "../eval/words.js";
import type { ExpressionCost } from "./costs.js";
import { type Measured, percentile } from "./measure.js";
import type { MemberTime } from "./member-times.js";

/** The figures. Times are milliseconds. */
export interface Figures {
  readonly policy: string;
  readonly implementation: string;
  /** What was measured, in a sentence. */
  readonly measures: string;
  /** `ALLOWED`, `DENIED` …: the first answer, and why. */
  readonly answer: string;
  readonly message?: string;
  readonly objects: number;
  readonly concurrency: number;
  readonly answers: number;
  /** Answers that were errors: their times are those of failing. */
  readonly failed: number;
  readonly seconds: number;
  readonly answersPerSecond: number;
  readonly milliseconds: { readonly median: number; readonly p95: number; readonly p99: number; readonly most: number };
  /** Until it could be asked, and its first answer. */
  readonly start: {
    readonly load: number;
    readonly firstAnswer: number;
    /** How a module's instances begin, and why not with more done before. */
    readonly kind?: string;
    readonly because?: string;
  };
  /** Of a group: each member, and members of members that were asked. */
  readonly members: readonly MemberFigures[];
  readonly expressions: readonly ExpressionCost[];
  /** Of all expressions together. */
  readonly cost: number;
}

/** One member. */
export interface MemberFigures {
  readonly policy: string;
  /** Of the answers: how many asked it. */
  readonly asked: number;
  /** Each time, on average. */
  readonly mean: number;
  /** Of the time of all answers, 0 to 1; members in groups count in their group, too. */
  readonly share: number;
}

/** What was measured, said with the figures. */
const MEASURES = "evaluations in this process, one after the other, warm; without HTTP, JSON and log";

/** Puts the figures together. */
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

/** Four digits: a clock tells no more. */
const rounded = (value: number): number => Number(value.toPrecision(4));
