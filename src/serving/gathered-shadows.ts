/**
 * What versions in shadow would have answered, of all processes together. Processes hand over what they have counted since the last time, which is added here: it
 * stays when they end.
 */
import { type ShadowRow, type ShadowRows, ShadowTally } from "../policy/served/shadow/tally.js";
import { oneAtATime } from "../telemetry/one-at-a-time.js";

/** Sums. */
export class GatheredShadows {
  readonly #tally = new ShadowTally();
  /** Of those who have answered in this round. */
  #told: Pick<ShadowRow, "id" | "version">[] = [];
  #lost = 0;
  /** What all have counted, after everybody was asked. Those who ask at the same time share it. */
  readonly rows: () => Promise<ShadowRows>;

  /** @param gather has all processes hand over what they have; tells why not all did */
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

  /** How many processes have ended with what they had counted since the last time. */
  get lost(): number {
    return this.#lost;
  }

  /** A process has ended, and nobody knows what it had counted. */
  ended(): void {
    this.#lost += 1;
  }

  /** Takes what a process has counted since the last time. */
  add(rows: readonly ShadowRow[]): void {
    this.#tally.add(rows);
    for (const { id, version } of rows) this.#told.push({ id, version });
  }
}
