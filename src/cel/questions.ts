/**
 * The one way to wait: evaluation is synchronous, and all its questions to others go through {@link Questions}. A question whose answer has not arrived
 * is {@link Waiting}: the caller stops, or goes on with what does not depend on it. When the answers have come, everything is evaluated again from the
 * start, and finds them. So there is one evaluator, and no second one for slow answers.
 */
import { Interruption } from "./values/interruption.js";

/** Stands for an answer that has not arrived. */
export class Waiting {
  /** The only instance: what is waited for stands in {@link Questions}. */
  static readonly INSTANCE: Waiting = new Waiting();

  /** Distinguishes this type from others. */
  readonly waiting = true;

  private constructor() {}
}

/**
 * Unwraps an answer in the midst of an evaluation where no {@link Waiting} can be returned: by a method of a value, a field of an object.
 * @returns the answer
 * @throws an exception that ends the evaluation with {@link Waiting} when the answer has not arrived
 */
export function answered<A>(answer: A | Waiting): A {
  if (answer instanceof Waiting) throw new Interruption("waiting");
  return answer;
}

/** The reason why a question has no answer of its own. */
export type QuestionFailure =
  /** More different questions were put than are allowed. */
  | { readonly kind: "limit"; readonly limit: number }
  /** The call of `put` threw or rejected. */
  | { readonly kind: "thrown"; readonly error: unknown };

/** A question to others. */
export interface Question<A> {
  /** Questions with the same key are the same question. Keys that begin with `call ` are those of an expression's calls. */
  readonly key: string;
  /** Puts the question. Called at most once for a key. */
  put(): A | Promise<A>;
  /** The answer when there is none. Must not throw: what it throws is thrown where the question was put, or by {@link Questions.settle}. */
  failed(failure: QuestionFailure): A;
}

/** The caller that waits for an evaluation. */
export interface Waiter {
  /** Aborted when the caller waits no longer. Only read when there is something to wait for. */
  readonly signal: AbortSignal;
}

/** Answers by their questions' keys. Most requests have one, for which a map would cost more than it saves. */
class Answers {
  #key: string | undefined;
  #answer: unknown;
  #others: Map<string, unknown> | undefined;

  get size(): number {
    return (this.#key === undefined ? 0 : 1) + (this.#others?.size ?? 0);
  }

  has(key: string): boolean {
    return this.#key === key || this.#others?.has(key) === true;
  }

  get(key: string): unknown {
    return this.#key === key ? this.#answer : this.#others?.get(key);
  }

  /** @param key a key without an answer */
  add(key: string, answer: unknown): void {
    if (this.#key === undefined) {
      this.#key = key;
      this.#answer = answer;
      return;
    }
    this.#others ??= new Map();
    this.#others.set(key, answer);
  }
}

/** The questions of one request with their answers (disposable). */
export class Questions {
  readonly #limit: number;
  /** Made at first use: most requests ask nothing. */
  #answers: Answers | undefined;
  #open: Map<string, Promise<void>> | undefined;
  #numbers: Map<unknown, number> | undefined;
  #pause: Promise<void> | undefined;

  /** @param limit most different questions: a request must not start a thousand look-ups */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether an answer has not arrived: the result of such an evaluation does not count. */
  get waiting(): boolean {
    return this.#pause !== undefined || this.asking;
  }

  /** Whether the answer to a question has not arrived; a mere pause does not count (see {@link pause}). */
  get asking(): boolean {
    return this.#open !== undefined && this.#open.size > 0;
  }

  /** Lets {@link settle} wait until others had their turn: the caller must keep what was found so far. */
  pause(turns: { next(): Promise<void> }): Waiting {
    this.#pause ??= turns.next();
    return Waiting.INSTANCE;
  }

  /** Whether no question was ever put. */
  get empty(): boolean {
    return this.#answers === undefined;
  }

  /** Whether no further question is put. */
  get full(): boolean {
    return (this.#answers?.size ?? 0) + (this.#open?.size ?? 0) >= this.#limit;
  }

  /** The number of a thing, by which keys can name what has no text. */
  numberOf(thing: unknown): number | undefined {
    return this.#numbers?.get(thing);
  }

  /** Gives a thing its number. Only for things that a question is about: they are kept as long as the answers are. */
  giveNumber(thing: unknown): number {
    this.#numbers ??= new Map();
    const given = this.#numbers.get(thing) ?? this.#numbers.size;
    this.#numbers.set(thing, given);
    return given;
  }

  /** The known answer, {@link Waiting}, or `undefined` when the question was not put. */
  recall<A>(key: string): A | Waiting | undefined {
    return this.#open?.has(key) === true ? Waiting.INSTANCE : (this.#answers?.get(key) as A | undefined);
  }

  /** The answer, or {@link Waiting} until it arrives. */
  ask<A>(question: Question<A>): A | Waiting {
    const { key } = question;
    this.#answers ??= new Answers();
    const answers = this.#answers;
    if (answers.has(key)) return answers.get(key) as A;
    if (this.#open?.has(key) === true) return Waiting.INSTANCE;
    if (this.full) {
      return question.failed({ kind: "limit", limit: this.#limit });
    }
    let answer: A | Promise<A>;
    try {
      answer = question.put();
    } catch (error) {
      answer = question.failed({ kind: "thrown", error });
    }
    if (answer instanceof Promise) return this.#await(question, answer, answers);
    answers.add(key, answer);
    return answer;
  }

  /** Keeps an answer that was known at once, without a question. @param key one that {@link recall} does not know, while not {@link full} */
  remember(key: string, answer: unknown): void {
    this.#answers ??= new Answers();
    this.#answers.add(key, answer);
  }

  #await<A>(question: Question<A>, answer: Promise<A>, answers: Answers): Waiting {
    const { key } = question;
    this.#open ??= new Map();
    const open = this.#open;
    const arrived = (settled: A): void => {
      open.delete(key);
      answers.add(key, settled);
    };
    const missing = (error: unknown): void => {
      // Before what may throw: a question that stays open is waited for without end.
      open.delete(key);
      answers.add(key, question.failed({ kind: "thrown", error }));
    };
    const arrival = answer.then(arrived, missing);
    // `settle` reports the rejection; without a call of it, the rejection must not end the process.
    arrival.catch(() => undefined);
    open.set(key, arrival);
    return Waiting.INSTANCE;
  }

  /**
   * The result of `attempt` once it has had all the answers it asks for: at once when none has to be waited for. What one attempt asks is
   * waited for together. Ends: every round but the last brings the answer to a question, and their number is limited.
   * @param abandoned the result once the caller waits no longer
   */
  settle<R>(attempt: () => R, waiter: Waiter, abandoned: () => R): R | Promise<R> {
    const result = attempt();
    return this.waiting ? this.repeat(attempt, waiter, abandoned) : result;
  }

  /** The same for a caller that has made the first attempt already, and has found that it waits. */
  async repeat<R>(attempt: () => R, { signal }: Waiter, abandoned: () => R): Promise<R> {
    for (;;) {
      await this.#arrival(signal);
      this.#pause = undefined;
      // No further question is put once the caller has gone.
      if (signal.aborted) return abandoned();
      const result = attempt();
      if (!this.waiting) return result;
    }
  }

  /** Resolves with all answers that are being waited for, or at the end of the wait. Rejects with what a question's `failed` throws. */
  #arrival(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        signal.removeEventListener("abort", done);
        resolve();
      };
      if (signal.aborted) return done();
      signal.addEventListener("abort", done, { once: true });
      // The first to settle decides: a rejection before the wait is over.
      Promise.all([this.#pause, ...(this.#open?.values() ?? [])])
        .catch(reject)
        .then(done);
    });
  }
}
