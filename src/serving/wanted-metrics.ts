/** Metrics of all processes for a client of this one: the primary is asked, and its answer comes in parts. */
import type { MetricsText } from "../telemetry/metrics.js";
import { oneAtATime } from "../telemetry/one-at-a-time.js";
import type { ToWorker } from "./messages.js";

/** How long the primary may take: more than it gives the serving processes itself, less than Prometheus waits by default. */
const METRICS_WITHIN_MS = 8000;

/** Asks the primary. */
export class WantedMetrics {
  readonly #ask: (id: number) => void;
  /** The question that is open, with what has come so far. */
  #open: { readonly id: number; readonly parts: string[]; readonly answer: (text: MetricsText) => void } | undefined;
  #questions = 0;
  /** The text of all processes. Those who ask at the same time share it. */
  readonly text: () => Promise<MetricsText>;

  /** @param ask puts the question; what comes for it is to be given to {@link hear} */
  constructor(ask: (id: number) => void) {
    this.#ask = ask;
    this.text = oneAtATime(() => this.#wanted());
  }

  /** Takes a part of an answer. One that nobody waits for any more is dropped. */
  hear(message: Extract<ToWorker, { type: "metrics-text" | "metrics-unavailable" }>): void {
    const open = this.#open;
    if (open?.id !== message.id) return;
    if (message.type === "metrics-unavailable") {
      open.answer({ unavailable: message.reason });
      return;
    }
    open.parts.push(message.part);
    if (message.last) open.answer({ parts: open.parts });
  }

  #wanted(): Promise<MetricsText> {
    return new Promise((resolve) => {
      const id = this.#questions++;
      const answer = (text: MetricsText): void => {
        clearTimeout(timer);
        this.#open = undefined;
        resolve(text);
      };
      const reason = `no metrics: the process that gathers them did not answer within ${METRICS_WITHIN_MS} ms`;
      const timer = setTimeout(() => answer({ unavailable: reason }), METRICS_WITHIN_MS);
      this.#open = { id, parts: [], answer };
      this.#ask(id);
    });
  }
}
