/** Asks a policy again and again, and keeps how long each answer took. */

import type { Review } from "../../policy/index.js";
import type { Evaluator } from "../../policy/served/evaluator.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";
import type { Verdict } from "../../policy/served/verdict.js";
import type { MemberTimes } from "./member-times.js";

/** Times that are kept; of more a random sample is, so that memory stays the same however long is measured. */
const MAX_TIMES = 200_000;
/** The engine compiles what runs often, in steps: after these questions, or that part of the time, it has. */
const WARM_UP_QUESTIONS = 2_000;
const WARM_UP_SHARE = 0.25;
/** How long answers may come at once before others have their turn, such as signals. */
const STRETCH_MS = 50;

/** What is measured, and for how long. */
export interface Measuring {
  readonly evaluator: Evaluator;
  readonly entry: ServedPolicy;
  /** Asked about in turns; at least one. */
  readonly reviews: readonly Review[];
  readonly milliseconds: number;
  readonly concurrency: number;
  readonly members: MemberTimes;
  readonly now: () => number;
}

/** What came of it. */
export interface Measured {
  /** The first answer, and how long it took: nothing is warm then. */
  readonly first: Verdict;
  readonly firstMilliseconds: number;
  /** Answers that were measured. */
  readonly answers: number;
  /** Answers that failed, of those. */
  readonly failed: number;
  /** Of the whole measurement. */
  readonly milliseconds: number;
  /** Of each answer, in ascending order. */
  readonly times: Float64Array;
}

/** Measures. */
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
  let [answers, failed] = [0, 0];
  const started = now();
  await repeat(
    ask,
    measuring,
    { until: started + measuring.milliseconds, most: Number.POSITIVE_INFINITY },
    (verdict, time) => {
      answers += 1;
      if (verdict.outcome.verdict === "error") failed += 1;
      times.add(time);
      measuring.members.add(verdict.observations);
    },
  );
  return { first, firstMilliseconds, answers, failed, milliseconds: now() - started, times: times.sorted() };
}

interface Until {
  readonly until: number;
  readonly most: number;
}

/** At least once for each at a time, and no longer than an answer beyond the end. */
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

/** Times of which a limited number is kept, each with the same chance. */
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

/** The time below which that share of answers stays, of times in ascending order. */
export const percentile = (times: Float64Array, share: number): number =>
  times[Math.min(times.length - 1, Math.max(0, Math.ceil(times.length * share) - 1))] ?? Number.NaN;
