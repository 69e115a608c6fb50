/** Answers that are known or still awaited. */

/** The answer, or its promise when it has to be fetched. */
export type Eventual<T> = T | Promise<T>;

/** Continues with an answer: at once when it is known. */
export const andThen = <A, B>(answer: Eventual<A>, next: (answer: A) => Eventual<B>): Eventual<B> =>
  answer instanceof Promise ? answer.then(next) : next(answer);

/** Fulfilled when the work has settled, or time is over. */
export function within(work: Promise<unknown>, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    work.then(done, done);
  });
}
