/** Counts the threads that a process starts. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";

/** How many were started since this was called; they are counted until the test has ended. */
export function countedThreads(context: { after(act: () => void): void }): { readonly started: number } {
  const threads = { started: 0 };
  const count = (): void => {
    threads.started++;
  };
  subscribe("worker_threads", count);
  context.after(() => unsubscribe("worker_threads", count));
  return threads;
}
