import { PublicError } from "./public-text.js";

/**
 * The promise, or a rejection with this message when the signal is aborted first. The work goes on for others; when it fails later, that is no
 * unhandled rejection. One signal serves all the work of an evaluation, so its listener goes with the work.
 */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const gone = (): void => reject(new PublicError(message));
    if (signal.aborted) gone();
    signal.addEventListener("abort", gone, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", gone));
  });
}
