/** Evaluation with functions whose answers are promises: the evaluation is repeated with the answers it has asked for. */
import { type Calls, type Meter, PENDING } from "./compiler/meter.js";
import type { StatefulCallee } from "./compiler/plan.js";
import type { StatefulCall } from "./declarations.js";
import type { AsyncEvaluation, AsyncEvaluationOptions, Evaluation } from "./public-types.js";
import { type QuestionFailure, Questions, Waiting } from "./questions.js";
import { CelError, internalError, interrupted } from "./values/cel-error.js";
import type { Result, Value } from "./values/value.js";
import { valueText } from "./values/value-text.js";

/** Limit of different calls with promises as answers in one evaluation, unless its questions have a limit of their own. */
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

/** Starts the wait for answers: until the caller's signal, or the deadline. */
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

/** Characters of arguments' texts made between two looks at the clock: about as much time as a loop takes between its own. */
const CHARACTERS_PER_LOOK = 10_000;

/** Stands for the text of an argument that has none. */
const UNTOLD = Symbol("untold");

/**
 * Makes the calls of one evaluation and its repetitions (disposable). Calls are the same when the functions called, the states and the arguments
 * are. Each of these is known by a number among the questions, so that no name and no text can pass for another.
 */
function asyncCalls(questions: Questions): Calls {
  /** Texts of objects and lists: a loop may pass the same one many times. */
  const texts = new WeakMap<object, string | typeof UNTOLD>();
  let unseen = 0;
  const textOf = (value: Value & object, meter: Meter): string | typeof UNTOLD => {
    const made = texts.get(value);
    if (made !== undefined) return made;
    const text = valueText(value) ?? UNTOLD;
    texts.set(value, text);
    unseen += text === UNTOLD ? CHARACTERS_PER_LOOK : text.length;
    if (unseen >= CHARACTERS_PER_LOOK) {
      unseen = 0;
      meter.look();
    }
    return text;
  };
  const keyOf = <N>(call: StatefulCall, meter: Meter, args: readonly Value[], numberOf: (thing: unknown) => N) => {
    const parts: (N | string)[] = ["call", numberOf(call), numberOf(meter.state)];
    for (const arg of args) {
      if (typeof arg !== "object" || arg === null) parts.push(numberOf(arg));
      else parts.push("text", numberOf(textOf(arg, meter)));
    }
    return parts;
  };
  return {
    ask({ name, choose }: StatefulCallee, meter: Meter, args: readonly Value[]): Result | Waiting {
      const call = choose(args);
      // A call that has always answered at once has no number: no answer of it is kept, and only such calls are made beyond the limit.
      if (questions.numberOf(call) !== undefined) {
        const key = keyOf(call, meter, args, (thing) => questions.numberOf(thing));
        const known = key.includes(undefined) ? undefined : questions.recall<Result>(key.join(" "));
        if (known !== undefined) return known;
        if (questions.full) return TOO_MANY;
      }
      const answer = call(meter.state, ...args);
      if (!(answer instanceof Promise)) return answer;
      answer.catch(() => undefined);
      const told = args.every((arg) => typeof arg !== "object" || arg === null || textOf(arg, meter) !== UNTOLD);
      const put = (): Result | Promise<Result> =>
        told ? answer : new CelError(`an argument of '${name}' cannot be told from others by a text`);
      const key = keyOf(call, meter, args, (thing) => questions.giveNumber(thing)).join(" ");
      return questions.ask<Result>({ key, put, failed: failureOf });
    },
  };
}

const TOO_MANY = new CelError("too many different calls with promises as answers", "call-limit");

const failureOf = (failure: QuestionFailure): Result =>
  failure.kind === "limit" ? TOO_MANY : internalError(failure.error);
