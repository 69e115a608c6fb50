/** What is lost on the way out of a process: counted by whoever loses it, and taken over when somebody reads the metrics. */
import type { SeriesTable } from "./series.js";

/** What may be lost. */
export type LossName = keyof typeof LOSS_HELP;

/** What each means. */
export const LOSS_HELP = {
  log_lines_dropped: "Log lines lost because nobody read them fast enough.",
  log_records_dropped: "Log records lost because the OTLP collector was too slow, refused them or was away.",
  recorded_requests_dropped:
    "Requests that `--record` should have written down and did not: there were more than it could write, or the file took none.",
} as const;

/** Counters that only ever grow, also in the sums of processes that come and go. */
export class Losses {
  readonly #tables: ReadonlyMap<string, SeriesTable>;
  readonly #sources: (() => void)[] = [];

  /** @param counter makes the counter of this name */
  constructor(counter: (name: string, help: string) => SeriesTable) {
    this.#tables = new Map(
      Object.entries(LOSS_HELP).map(([name, help]) => {
        const table = counter(`policy_server_${name}_total`, help);
        // There from the beginning, so that the first loss is an increase.
        table.add({ values: [], count: 0 });
        return [name, table];
      }),
    );
  }

  /** Adds somebody who loses things; `read` is how many so far. */
  from(name: LossName, read: () => number): void {
    let known = 0;
    this.#sources.push(() => {
      const now = read();
      this.#tables.get(name)?.add({ values: [], count: now - known });
      known = now;
    });
  }

  /** Takes over what was lost since the last time. */
  readonly count = (): void => {
    for (const source of this.#sources) source();
  };
}
