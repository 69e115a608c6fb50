/** Data that is lost on the way out of a process: its sources count it, and the counts are taken over when the metrics are read. */
import type { SeriesTable } from "./series.js";

/** The kinds of losses. */
export type LossName = keyof typeof LOSS_HELP;

/** The meaning of each. */
export const LOSS_HELP = {
  log_lines_dropped: "Log lines lost because the reader of the log was too slow.",
  log_records_dropped: "Log records lost because the OTLP collector was too slow, refused them or was away.",
  recorded_requests_dropped:
    "Requests that `--record` should have written down and did not: there were more than it could write, or the file took none.",
} as const;

/** Counters that only ever increase, also in the sums of processes that come and go. */
export class Losses {
  readonly #tables: ReadonlyMap<string, SeriesTable>;
  readonly #sources: (() => void)[] = [];

  /** @param counter makes the counter of this name */
  constructor(counter: (name: string, help: string) => SeriesTable) {
    this.#tables = new Map(
      Object.entries(LOSS_HELP).map(([name, help]) => {
        const table = counter(`policy_server_${name}_total`, help);
        // Present from the beginning, so that the first loss is an increase.
        table.add({ values: [], count: 0 });
        return [name, table];
      }),
    );
  }

  /** Adds a source of losses; `read` gives their number so far. */
  from(name: LossName, read: () => number): void {
    let known = 0;
    this.#sources.push(() => {
      const now = read();
      this.#tables.get(name)?.add({ values: [], count: now - known });
      known = now;
    });
  }

  /** Takes over the losses since the last time. */
  readonly count = (): void => {
    for (const source of this.#sources) source();
  };
}
