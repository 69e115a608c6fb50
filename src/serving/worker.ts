/** A process that answers requests beside others; the primary decides when it reloads and stops. */

import type { ShadowRows } from "../policy/served/shadow/tally.js";
import type { Metrics, MetricsText } from "../telemetry/metrics.js";
import { oneAtATime } from "../telemetry/one-at-a-time.js";
import { firstCertificate } from "./asked-at-start.js";
import { BEAT_EVERY_MS, Beats } from "./heartbeats.js";
import { GENERATION_VARIABLE, type ProblemReport, SUCCESSOR_VARIABLE, type ToWorker } from "./messages.js";
import { type ServingOptions, ServingProcess } from "./process.js";
import { tell, tellSurely } from "./to-primary.js";

// Sums of all processes, for a client of this one, from the primary.

/** Time for the primary's answer: more than it gives the serving processes itself, less than Prometheus' default time-out. */
const WITHIN_MS = 8000;

/** Asks the primary for sums. */
export class WantedSums<T> {
  /** The open question, with the parts of its answer so far. */
  #open: { readonly id: number; readonly soFar?: T; readonly answer: (sums: T) => void } | undefined;
  #questions = 0;
  /** The sums of all processes. Concurrent callers share them. */
  readonly get: () => Promise<T>;

  /**
   * @param ask sends the question; the answers go to {@link hear}
   * @param late the answer when none comes in a time
   */
  constructor(ask: (id: number) => void, late: (withinMs: number) => T) {
    this.get = oneAtATime(
      () =>
        new Promise((resolve) => {
          const answer = (sums: T): void => {
            clearTimeout(timer);
            this.#open = undefined;
            resolve(sums);
          };
          const timer = setTimeout(() => answer(late(WITHIN_MS)), WITHIN_MS);
          const id = this.#questions++;
          this.#open = { id, answer };
          ask(id);
        }),
    );
  }

  /** Takes an answer, or the next part of it. An answer to an abandoned question is dropped. */
  hear(id: number, sums: (soFar: T | undefined) => T, isWhole = true): void {
    if (this.#open?.id !== id) return;
    const soFar = sums(this.#open.soFar);
    if (isWhole) this.#open.answer(soFar);
    else this.#open = { ...this.#open, soFar };
  }
}

/** Serves until the primary sends a stop, or has ended. */
export async function serveAsWorker(
  options: Omit<ServingOptions, "probes" | "metricsText" | "shadows">,
): Promise<void> {
  const { metrics } = options;
  const wanted = new WantedSums<MetricsText>(
    (id) => tell({ type: "metrics-wanted", id }),
    (ms) => ({ unavailable: `no metrics: the process that gathers them did not answer within ${ms} ms` }),
  );
  const shadows = new WantedSums<ShadowRows>(
    (id) => tell({ type: "shadows-wanted", id }),
    (ms) => ({ unavailable: `the process that gathers counts did not answer within ${ms} ms` }),
  );
  // Signals of a terminal go to the whole group of processes: the primary passes them on in good order. (SIGHUP sets off nothing here.)
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => {});

  const report = (problems: ProblemReport): void => tell({ type: "problems", ...problems });
  const beats = new Beats((loading) => tell({ type: "beat", loading, evaluations: metrics.evaluations }));
  setInterval(() => beats.beat(), BEAT_EVERY_MS).unref();
  const generation = Number(process.env[GENERATION_VARIABLE] ?? 1);
  const successor = process.env[SUCCESSOR_VARIABLE] === "true";
  const loadWanted = (): void => tell({ type: "load-wanted" });
  const { tls } = options.settings;
  const certificate = tls !== undefined && !("certFile" in tls) ? await firstCertificate() : undefined;
  const own = {
    ...{ ...options, probes: false, metricsText: wanted.get, generation, successor, report, loadWanted },
    shadows: shadows.get,
    ...(certificate && { certificate }),
  };
  const serving = await beats.during(() => ServingProcess.start(own));
  const prepare = async ({ id, generation: next, delta }: ToWorker & { readonly type: "prepare" }): Promise<void> => {
    const prepared = await beats.during(() => serving.prepare(next, delta));
    // Sent before they are served, and also when they never will be: a repair of rejected files must be noticed.
    tell({ type: "prepared", id, files: serving.files, ...prepared });
  };
  await new Promise<void>((resolve) => {
    const stop = (delay: number, grace: number): void => void serving.stop(delay, grace).then(resolve);
    // Without a primary this process could not be stopped.
    process.once("disconnect", () => stop(0, 0));
    process.on("message", (message: ToWorker) => {
      switch (message.type) {
        case "prepare":
          void prepare(message);
          return;
        case "approve":
          serving.approve();
          return;
        case "swap":
          serving.swap();
          if (message.id !== undefined) tell({ type: "swapped", id: message.id });
          return;
        case "discard":
          serving.discard();
          return;
        case "secure":
          if (message.pair !== undefined) serving.secure(message.pair);
          if (message.id !== undefined) tell({ type: "secured", id: message.id });
          return;
        case "collect":
          void handOver(metrics).then((snapshot) => tell({ type: "collected", id: message.id, snapshot }));
          return;
        case "collect-shadows":
          tell({ type: "collected-shadows", id: message.id, rows: serving.shadows.take() });
          return;
        case "shadows":
          shadows.hear(message.id, () => message.rows);
          return;
        case "metrics-text":
          wanted.hear(message.id, (soFar) => withPart(message.part, soFar), message.last);
          return;
        case "metrics-unavailable":
          wanted.hear(message.id, () => ({ unavailable: message.reason }));
          return;
        case "stop":
          stop(message.delay, message.grace);
      }
    });
    tell({ type: "serving", files: serving.files, ...(serving.reports && { reports: serving.reports }) });
  });
  tell({ type: "collected-shadows", id: AT_THE_END, rows: serving.shadows.take() });
  // The primary pushes the sum of all while this process sends its own spans and records.
  await tellSurely({ type: "drained", snapshot: await handOver(metrics) });
}

const withPart = (part: string, soFar: MetricsText = { parts: [] }): MetricsText =>
  "parts" in soFar ? { parts: [...soFar.parts, part] } : soFar;

/** A number that no question has. */
const AT_THE_END = -1;

/** Sends the primary the counts since the last time, and returns the rest. */
async function handOver(metrics: Metrics) {
  for await (const batch of metrics.take()) tell({ type: "series", ...batch });
  return metrics.registry.getMetricsAsJSON();
}
