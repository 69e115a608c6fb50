/** Adds up the answers of versions in shadow of all processes. Processes send their counts since the last time, which stay in the sums when they end. */
import { type ShadowRow, type ShadowRows, ShadowTally } from "../policy/served/shadow/tally.js";
import { oneAtATime } from "../telemetry/one-at-a-time.js";

/** Sums of all processes. */
export class GatheredShadows {
  readonly #tally = new ShadowTally();
  /** Versions of the processes that have answered in this round. */
  #told: Pick<ShadowRow, "id" | "version">[] = [];
  #lost = 0;
  /** The counts of all, after asking all processes. Concurrent callers share them. */
  readonly rows: () => Promise<ShadowRows>;

  /** @param gather asks all processes for their counts; resolves with the reason why some did not answer */
  constructor(gather: () => Promise<string | undefined>) {
    this.rows = oneAtATime(async () => {
      this.#told = [];
      const unavailable = await gather();
      if (unavailable !== undefined) return { unavailable };
      // Versions that no process has any more.
      this.#tally.keep(this.#told);
      return this.#tally.rows;
    });
  }

  /** Number of processes that have ended before sending their last counts. */
  get lost(): number {
    return this.#lost;
  }

  /** Notes the end of a process, whose last counts are lost. */
  ended(): void {
    this.#lost += 1;
  }

  /** Adds a process' counts since the last time. */
  add(rows: readonly ShadowRow[]): void {
    this.#tally.add(rows);
    for (const { id, version } of rows) this.#told.push({ id, version });
  }
}
