/** What comes of a question: its answer, or `undefined` when a later one was asked in the meantime. */
export type Latest<T> = Promise<T | undefined>;

/** Asks one thing at a time: a new question ends the former, and an answer that comes late all the same is nobody's. */
export class LatestOnly {
  #controller: AbortController | undefined;

  /** Asks. Whatever `question` throws is thrown, unless a later question has been asked. */
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

  /** Nobody waits for an answer any more. */
  cancel(): void {
    this.#controller?.abort();
    this.#controller = undefined;
  }
}
