/**
 * Shares work among all who ask while it is under way: many who scrape at the same time cost as much as one.
 * @param work is begun anew for the first who asks after it has ended
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
