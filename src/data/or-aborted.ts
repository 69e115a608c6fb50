import { PublicError } from "./public-text.js";

/**
 * The promise, or a rejection with this message when the signal is aborted first. The work continues for others; its later failure is not an
 * unhandled rejection. One signal serves all the work of an evaluation, so its listener is removed with the work.
 */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const gone = (): void => reject(new PublicError(message));
    if (signal.aborted) gone();
    signal.addEventListener("abort", gone, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", gone));
  });
}
