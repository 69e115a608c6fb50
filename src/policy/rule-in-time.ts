import type { Approving, Ruling } from "./approving.js";
import { DEADLINE_GRACE_MS, LONGEST_TIMER_MS } from "./evaluate-in-time.js";
import type { EvaluationRun } from "./evaluation-run.js";
import type { Policy } from "./policy.js";

/** The ruling of a late review: nothing is approved or denied by what it says later. */
const LATE: Ruling = { result: "Error", cause: "the review exceeded its time" };

const RESULTS: ReadonlySet<unknown> = new Set<Ruling["result"]>(["Approved", "Denied", "Unprocessed", "Error"]);

/**
 * Gets a policy's ruling within its time, as `evaluateInTime` gets an outcome. Never rejects: a throw, a rejection or a late answer is an Error.
 * @param now monotonic milliseconds
 */
export async function ruleInTime(
  policy: Policy & Approving,
  certificateRequest: { readonly [key: string]: unknown },
  run: EvaluationRun,
  now: () => number,
): Promise<Ruling> {
  try {
    const pending = policy.review(certificateRequest, run);
    const ruling: unknown = pending instanceof Promise ? await inTime(pending, run, now) : pending;
    if (!isRuling(ruling)) throw new TypeError("what the policy answered is not a ruling");
    return now() > run.deadline && ruling.result !== "Error" ? LATE : ruling;
  } catch (error) {
    run.onDefect(policy.id, error);
    return { result: "Error", cause: "the policy failed unexpectedly" };
  }
}

/** Types keep policies from answering anything else, but not a defect. */
const isRuling = (answer: unknown): answer is Ruling =>
  typeof answer === "object" && answer !== null && "result" in answer && RESULTS.has(answer.result);

function inTime(pending: Promise<Ruling>, run: EvaluationRun, now: () => number): Promise<Ruling> {
  return new Promise((resolve, reject) => {
    const late = (): void => {
      run.abort();
      resolve(LATE);
    };
    const timer = setTimeout(late, Math.min(LONGEST_TIMER_MS, run.deadline - now() + DEADLINE_GRACE_MS));
    pending.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
