/**
 * How long the end of a process waits for its exporters, which all end at the same time. A collector on the same network takes a few
 * milliseconds; every second delays the stop.
 */
export const STOP_WITHIN_MS = 1000;

/**
 * Waits for an exporter's end, but no longer than {@link STOP_WITHIN_MS}. Never rejects.
 * @param giveUp called when the time is up
 */
export function stopWithin(end: Promise<unknown>, giveUp: () => void = () => {}): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      giveUp();
      resolve();
    }, STOP_WITHIN_MS);
    const ended = (): void => {
      clearTimeout(timer);
      resolve();
    };
    end.then(ended, ended);
  });
}
