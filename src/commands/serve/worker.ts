/** A process that answers requests beside others; the primary decides when it reloads and stops. */

import { GENERATION_VARIABLE, type ProblemReport, type ToPrimary, type ToWorker } from "./messages.js";
import { type ServingOptions, ServingProcess } from "./process.js";

/** How long the primary may take to gather everybody's metrics before a worker shows its own. */
const METRICS_WITHIN_MS = 2000;

/** Serves until the primary says stop, or has gone. */
export async function serveAsWorker(options: Omit<ServingOptions, "probes" | "metricsText">): Promise<void> {
  const { metrics } = options;
  const asked = new Map<number, (text: string) => void>();
  let questions = 0;
  const metricsText = (): Promise<string> =>
    new Promise((resolve) => {
      const id = questions++;
      const own = setTimeout(() => {
        asked.delete(id);
        resolve(metrics.registry.metrics());
      }, METRICS_WITHIN_MS);
      asked.set(id, (text) => {
        clearTimeout(own);
        asked.delete(id);
        resolve(text);
      });
      tell({ type: "metrics-wanted", id });
    });
  // Signals of a terminal go to the whole group of processes: the primary passes them on in good order. (SIGHUP sets off nothing here.)
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => {});

  const report = (problems: ProblemReport): void => tell({ type: "problems", ...problems });
  const generation = Number(process.env[GENERATION_VARIABLE] ?? 1);
  const serving = await ServingProcess.start({ ...options, probes: false, metricsText, generation, report });
  await new Promise<void>((resolve) => {
    const stop = (delay: number, grace: number): void => void serving.stop(delay, grace).then(resolve);
    // Without a primary nobody could stop this process any more.
    process.once("disconnect", () => stop(0, 0));
    process.on("message", (message: ToWorker) => {
      switch (message.type) {
        case "prepare":
          void serving.prepare(message.generation).then((ok) => tell({ type: "prepared", id: message.id, ok }));
          return;
        case "swap":
          serving.swap();
          tell({ type: "swapped", files: serving.files });
          return;
        case "discard":
          serving.discard();
          return;
        case "collect":
          void metrics.registry.getMetricsAsJSON().then((snapshot) => {
            tell({ type: "collected", id: message.id, snapshot });
          });
          return;
        case "metrics-text":
          asked.get(message.id)?.(message.text);
          return;
        case "stop":
          stop(message.delay, message.grace);
      }
    });
    tell({ type: "serving", files: serving.files });
  });
  // The primary pushes the sum of all while this process sends its own spans and records.
  await tellSurely({ type: "drained", snapshot: await metrics.registry.getMetricsAsJSON() });
}

/** Tells the primary why this process can't serve; resolves when it was told, or has gone. */
export function tellFailure(message: string): Promise<void> {
  return tellSurely({ type: "failed", message });
}

/** Lets go of the primary. It ends this process at once: what is left to say has been said. */
export function leavePrimary(): void {
  if (process.connected) process.disconnect();
}

function tellSurely(message: ToPrimary): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve();
    else process.send(message, () => resolve());
  });
}

function tell(message: ToPrimary): void {
  if (process.connected) process.send?.(message);
}
