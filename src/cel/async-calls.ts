/** Evaluating with functions whose answers are promises: the evaluation is repeated with the answers it has asked for. */
import { type Calls, PENDING } from "./compiler/meter.js";
import type { StatefulCallee } from "./compiler/plan.js";
import type { AsyncEvaluation, AsyncEvaluationOptions, Evaluation } from "./public-types.js";
import { type QuestionFailure, Questions, Waiting } from "./questions.js";
import { CelError, internalError, interrupted } from "./values/cel-error.js";
import type { Result, Value } from "./values/value.js";
import { valueText } from "./values/value-text.js";

/** Different calls with promises as answers that one evaluation may make. */
const DEFAULT_CALL_LIMIT = 100;

/** The longest delay a timer takes (2^31 - 1 ms). */
const LONGEST_TIMER_MS = 2_147_483_647;

/** Repeats an evaluation until no answer is missing. */
export async function evaluateWaiting(
  evaluate: (calls: Calls) => Evaluation,
  options: AsyncEvaluationOptions,
): Promise<AsyncEvaluation> {
  const { deadline, questions = new Questions(options.callLimit ?? DEFAULT_CALL_LIMIT) } = options;
  const calls = asyncCalls(questions);
  const wait = startWait(options);
  try {
    const abandoned = (): Evaluation => ({ result: interrupted(), cost: 0 });
    const attempt = (): Evaluation => {
      const { result, cost } = evaluate(calls);
      return { result: result === PENDING ? Waiting.INSTANCE : result, cost };
    };
    if (wait.signal.aborted) return { result: interrupted(), cost: 0 };
    const { result, cost } = await questions.settle(attempt, { signal: wait.signal }, abandoned);
    if (deadline !== undefined && deadline.now() > deadline.at) return { result: interrupted(), cost };
    return { result: result instanceof Waiting ? new CelError(UNKNOWN_WAIT, "waiting") : result, cost };
  } finally {
    wait.end();
  }
}

const UNKNOWN_WAIT = "an answer is on its way that was not asked of the questions of this evaluation";

/** How long answers are waited for: until the caller's signal, or the deadline. */
function startWait({ signal: outer, deadline }: AsyncEvaluationOptions): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  if (outer?.aborted === true) abort();
  outer?.addEventListener("abort", abort, { once: true });
  const left = deadline === undefined ? Number.POSITIVE_INFINITY : deadline.at - deadline.now();
  const timer = left <= LONGEST_TIMER_MS ? setTimeout(abort, Math.max(0, left)) : undefined;
  return {
    signal: controller.signal,
    end(): void {
      clearTimeout(timer);
      outer?.removeEventListener("abort", abort);
    },
  };
}

/** Answers the calls of an evaluation that is repeated once more; `undefined` when nothing was kept. */
export const callsOf = ({ questions }: AsyncEvaluationOptions): Calls | undefined => questions && asyncCalls(questions);

/** Makes the calls of one evaluation and its repetitions (disposable). */
function asyncCalls(questions: Questions): Calls {
  /** Functions that have answered with a promise. */
  const slow = new Set<string>();
  return {
    ask({ key: name, call }: StatefulCallee, state: unknown, args: readonly Value[]): Result | Waiting {
      const text = questions.empty ? undefined : valueText(args);
      const key = `${name}${text}`;
      const known = text === undefined ? undefined : questions.recall<Result>(key);
      if (known !== undefined) return known;
      // Only a function that is known to answer at once may be called beyond the limit.
      if (questions.full && slow.has(name)) return TOO_MANY;
      const answer = call(state, ...args);
      if (!(answer instanceof Promise)) return answer;
      slow.add(name);
      answer.catch(() => undefined);
      const own = text ?? valueText(args);
      if (own === undefined) return new CelError(`an argument of '${name}' cannot be told from others by a text`);
      return questions.ask<Result>({ key: `${name}${own}`, put: () => answer, failed: failureOf });
    },
  };
}

const TOO_MANY = new CelError("too many different calls with promises as answers", "call-limit");

const failureOf = (failure: QuestionFailure): Result =>
  failure.kind === "limit" ? TOO_MANY : internalError(failure.error);
