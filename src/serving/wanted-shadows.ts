/** What versions in shadow would have answered, of all processes, for a client of this one: the primary is asked. */
import type { ShadowRows } from "../policy/served/shadow/tally.js";
import { oneAtATime } from "../telemetry/one-at-a-time.js";

/** How long the primary may take: more than it gives the serving processes itself. */
const SHADOWS_WITHIN_MS = 8000;

/** Asks the primary. */
export class WantedShadows {
  readonly #ask: (id: number) => void;
  #open: { readonly id: number; readonly answer: (rows: ShadowRows) => void } | undefined;
  #questions = 0;
  /** The sums of all processes. Those who ask at the same time share it. */
  readonly rows: () => Promise<ShadowRows>;

  /** @param ask puts the question; what comes for it is to be given to {@link hear} */
  constructor(ask: (id: number) => void) {
    this.#ask = ask;
    this.rows = oneAtATime(() => this.#wanted());
  }

  /** Takes an answer. One that nobody waits for any more is dropped. */
  hear(id: number, rows: ShadowRows): void {
    if (this.#open?.id === id) this.#open.answer(rows);
  }

  #wanted(): Promise<ShadowRows> {
    return new Promise((resolve) => {
      const id = this.#questions++;
      const answer = (rows: ShadowRows): void => {
        clearTimeout(timer);
        this.#open = undefined;
        resolve(rows);
      };
      const unavailable = `the process that gathers counts did not answer within ${SHADOWS_WITHIN_MS} ms`;
      const timer = setTimeout(() => answer({ unavailable }), SHADOWS_WITHIN_MS);
      this.#open = { id, answer };
      this.#ask(id);
    });
  }
}
