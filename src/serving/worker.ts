/** A process that answers requests beside others; the primary decides when it reloads and stops. */

import type { CertificatePair } from "../cluster/certificates/certificates.js";
import type { ShadowRows } from "../policy/served/shadow/tally.js";
import type { Metrics, MetricsText } from "../telemetry/metrics.js";
import { oneAtATime } from "../telemetry/one-at-a-time.js";
import { BEAT_EVERY_MS, Beats } from "./heartbeats.js";
import { GENERATION_VARIABLE, type ProblemReport, SUCCESSOR_VARIABLE, type ToWorker } from "./messages.js";
import { type ServingOptions, ServingProcess } from "./process.js";
import { tell, tellSurely } from "./tell.js";

/** How long the primary may take: more than it gives the serving processes itself, less than Prometheus waits by default. */
const WITHIN_MS = 8000;

/** A question to the primary about all processes. Those who ask at the same time share its answer. */
export class Wanted<Answer extends MetricsText | ShadowRows> {
  #open:
    | { readonly id: number; readonly answer: (answer: Answer | { readonly unavailable: string }) => void }
    | undefined;
  #questions = 0;
  readonly answer: () => Promise<Answer | { readonly unavailable: string }>;

  /**
   * @param ask puts the question; what comes for it is to be given to {@link hear}
   * @param late what is said when nothing has come in time
   */
  constructor(ask: (id: number) => void, late: string) {
    this.answer = oneAtATime(
      () =>
        new Promise((resolve) => {
          const id = this.#questions++;
          const unavailable = `${late} did not answer within ${WITHIN_MS} ms`;
          const timer = setTimeout(() => this.hear(id, { unavailable }), WITHIN_MS);
          const answer: typeof resolve = (answered) => {
            clearTimeout(timer);
            this.#open = undefined;
            resolve(answered);
          };
          this.#open = { id, answer };
          ask(id);
        }),
    );
  }

  /** Takes an answer. One that nobody waits for any more is dropped. */
  hear(id: number, answer: Answer | { readonly unavailable: string }): void {
    if (this.#open?.id === id) this.#open.answer(answer);
  }
}

/** Metrics of all processes as text, which comes in parts. */
export class WantedMetrics extends Wanted<MetricsText> {
  /** The last answer, as far as it has come. */
  #coming = { id: -1, parts: [] as string[] };

  /** Takes a part of an answer. */
  hearPart(message: Extract<ToWorker, { type: "metrics-text" | "metrics-unavailable" }>): void {
    const { id } = message;
    if (message.type === "metrics-unavailable") this.hear(id, { unavailable: message.reason });
    else {
      if (this.#coming.id !== id) this.#coming = { id, parts: [] };
      const { parts } = this.#coming;
      parts.push(message.part);
      if (message.last) this.hear(id, { parts });
    }
  }
}

/** The certificate that the other processes serve, for one that begins; undefined when there is none yet. */
function firstCertificate(): Promise<CertificatePair | undefined> {
  return new Promise((resolve) => {
    const hear = (message: ToWorker): void => {
      if (message.type !== "secure") return;
      process.off("message", hear);
      resolve(message.pair);
    };
    process.on("message", hear);
    tell({ type: "certificate-wanted" });
  });
}

/** Serves until the primary says stop, or has gone. */
export async function serveAsWorker(
  options: Omit<ServingOptions, "probes" | "metricsText" | "shadows">,
): Promise<void> {
  const { metrics } = options;
  const wanted = new WantedMetrics(
    (id) => tell({ type: "metrics-wanted", id }),
    "no metrics: the process that gathers them",
  );
  const shadows = new Wanted<ShadowRows>(
    (id) => tell({ type: "shadows-wanted", id }),
    "the process that gathers counts",
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
    ...{ ...options, probes: false, metricsText: wanted.answer, generation, successor, report, loadWanted },
    shadows: shadows.answer,
    ...(certificate && { certificate }),
  };
  const serving = await beats.during(() => ServingProcess.start(own));
  const prepare = async ({ id, generation: next, delta }: ToWorker & { readonly type: "prepare" }): Promise<void> => {
    const prepared = await beats.during(() => serving.prepare(next, delta));
    // Before anybody serves them, and also when nobody ever will: mending what was kept out must be noticed.
    tell({ type: "prepared", id, files: serving.files, ...prepared });
  };
  await new Promise<void>((resolve) => {
    const stop = (delay: number, grace: number): void => void serving.stop(delay, grace).then(resolve);
    // Without a primary nobody could stop this process any more.
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
          shadows.hear(message.id, message.rows);
          return;
        case "metrics-text":
        case "metrics-unavailable":
          wanted.hearPart(message);
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

/** No question has this number. */
const AT_THE_END = -1;

/** Sends the primary what was counted since the last time, and returns the rest. */
async function handOver(metrics: Metrics) {
  for await (const batch of metrics.take()) tell({ type: "series", ...batch });
  return metrics.registry.getMetricsAsJSON();
}
