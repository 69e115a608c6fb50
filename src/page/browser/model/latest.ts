/** The result of a question: its answer, or `undefined` when a later one was asked in the meantime. */
export type Latest<T> = Promise<T | undefined>;

/** Asks one question at a time: a new one ends the former, whose late answer is ignored. */
export class LatestOnly {
  #controller: AbortController | undefined;

  /** Asks. Rethrows errors of `question`, unless a later question has been asked. */
  async ask<T>(question: (signal: AbortSignal) => Promise<T>): Latest<T> {
    this.cancel();
    const controller = new AbortController();
    this.#controller = controller;
    try {
      const answer = await question(controller.signal);
      return this.#controller === controller ? answer : undefined;
    } catch (error) {
      if (this.#controller !== controller) return undefined;
      throw error;
    }
  }

  /** Ends the present question. */
  cancel(): void {
    this.#controller?.abort();
    this.#controller = undefined;
  }
}
