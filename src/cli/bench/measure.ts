/** Evaluates a policy repeatedly, and records the time of each answer. */

import type { Review } from "../../policy/index.js";
import type { Evaluator } from "../../policy/served/evaluator.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";
import { isJudged, type Verdict } from "../../policy/served/verdict.js";
import type { MemberTimes } from "./member-times.js";

/** Most times that are kept: a random sample of more, so that memory does not depend on the duration. */
const MAX_TIMES = 200_000;
/** Questions before measuring, or the part of the time below: after that the engine has optimized frequent code. */
const WARM_UP_QUESTIONS = 2_000;
const WARM_UP_SHARE = 0.25;
/** Milliseconds of immediate answers before other work has its turn, such as signals. */
const STRETCH_MS = 50;

/** The subject and duration of a measurement. */
export interface Measuring {
  readonly evaluator: Evaluator;
  readonly entry: ServedPolicy;
  /** Reviews to evaluate in turn; at least one. */
  readonly reviews: readonly Review[];
  readonly milliseconds: number;
  readonly concurrency: number;
  readonly members: MemberTimes;
  readonly now: () => number;
}

/** The result of a measurement. */
export interface Measured {
  /** The first answer, with its time: nothing is warm then. */
  readonly first: Verdict;
  readonly firstMilliseconds: number;
  /** Number of measured answers. */
  readonly answers: number;
  /** Number of failed ones among them. */
  readonly failed: number;
  /** Whether the policy matched one of the objects. */
  readonly judged: boolean;
  /** Milliseconds of the whole measurement. */
  readonly milliseconds: number;
  /** Times of answers, in ascending order. */
  readonly times: Float64Array;
}

/** Measures a policy. */
export async function measure(measuring: Measuring): Promise<Measured> {
  const { evaluator, entry, reviews, now } = measuring;
  let turn = 0;
  const ask = (): Verdict | Promise<Verdict> => {
    const review = reviews[turn % reviews.length]!;
    turn += 1;
    return evaluator.evaluate(entry, { review, origin: review.kind === "raw" ? "validate_raw" : "validate" });
  };
  const begun = now();
  const first = await ask();
  const firstMilliseconds = now() - begun;
  const warm = { until: now() + measuring.milliseconds * WARM_UP_SHARE, most: WARM_UP_QUESTIONS };
  await repeat(ask, measuring, warm, () => {});
  const times = new Sample();
  let [answers, failed, judged] = [0, 0, false];
  const started = now();
  await repeat(
    ask,
    measuring,
    { until: started + measuring.milliseconds, most: Number.POSITIVE_INFINITY },
    (verdict, time) => {
      answers += 1;
      if (verdict.outcome.verdict === "error") failed += 1;
      judged ||= isJudged(verdict);
      times.add(time);
      measuring.members.add(verdict.observations);
    },
  );
  return { first, firstMilliseconds, answers, failed, judged, milliseconds: now() - started, times: times.sorted() };
}

interface Until {
  readonly until: number;
  readonly most: number;
}

/** Repeats evaluations: at least one for each concurrent caller, and no longer than an answer beyond the end. */
async function repeat(
  ask: () => Verdict | Promise<Verdict>,
  { now, concurrency }: Measuring,
  { until, most }: Until,
  done: (verdict: Verdict, milliseconds: number) => void,
): Promise<void> {
  let asked = 0;
  const client = async (): Promise<void> => {
    let stretch = now() + STRETCH_MS;
    do {
      asked += 1;
      const started = now();
      const answer = ask();
      const verdict = answer instanceof Promise ? await answer : answer;
      const ended = now();
      done(verdict, ended - started);
      if (ended < stretch) continue;
      await new Promise((resolve) => setImmediate(resolve));
      stretch = now() + STRETCH_MS;
    } while (asked < most && now() < until);
  };
  await Promise.all(Array.from({ length: concurrency }, client));
}

/** A sample of times with a limited size, each with the same probability. */
class Sample {
  readonly #kept: number[] = [];
  #seen = 0;

  add(time: number): void {
    this.#seen += 1;
    if (this.#kept.length < MAX_TIMES) {
      this.#kept.push(time);
      return;
    }
    const place = Math.floor(Math.random() * this.#seen);
    if (place < MAX_TIMES) this.#kept[place] = time;
  }

  sorted(): Float64Array {
    return Float64Array.from(this.#kept).sort();
  }
}

/** The time below which this share of the answers is, for times in ascending order. */
export const percentile = (times: Float64Array, share: number): number =>
  times[Math.min(times.length - 1, Math.max(0, Math.ceil(times.length * share) - 1))] ?? Number.NaN;
