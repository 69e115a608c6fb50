/**
 * Shares work among all callers while it is under way: many concurrent scrapes cost as much as one.
 * @param work is started anew for the first caller after it has ended
 */
export function oneAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}
