/**
 * Requests go through the main thread side by side, phase by phase: of all whose bodies have come in one turn of the event loop the policies are asked, then
 * all answers are sent, then all are reported. One request after the other, each from its first byte to its log line, takes a quarter to a third more time of the
 * processor: its caches hold the code of one phase, not of all, and a client is woken once for many answers.
 */

/** Milliseconds after which answers that are ready are sent before more policies are asked: what an answer may wait for others'. */
const ANSWERS_MS = 1;
/** Milliseconds after which the event loop has its turn: with it timers, threads and whoever has connected meanwhile. */
const TURN_MS = 10;

type Task = () => void;

/** What is to be done for requests. One for all of a server. */
export class Phases {
  readonly #asking: Task[] = [];
  readonly #answers: Task[] = [];
  readonly #reports: Task[] = [];
  readonly #now: () => number;
  readonly #later: (run: Task) => unknown;
  #isDue = false;

  /**
   * @param now monotonic milliseconds
   * @param later runs something once what has come meanwhile is there
   */
  constructor(now = () => performance.now(), later: (run: Task) => unknown = setImmediate) {
    this.#now = now;
    this.#later = later;
  }

  /** Reads a request and asks the policy, in this turn of the event loop or one of the next. */
  ask(task: Task): void {
    this.#asking.push(task);
    this.#soon();
  }

  /** Sends an answer, behind those of earlier calls. */
  answer(task: Task): void {
    this.#answers.push(task);
    this.#soon();
  }

  /** Reports what has been answered, once the answers at hand are sent. */
  report(task: Task): void {
    this.#reports.push(task);
    this.#soon();
  }

  #soon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#later(this.#run);
  }

  readonly #run = (): void => {
    this.#isDue = false;
    try {
      this.#ask();
      this.#send();
    } finally {
      // What throws must not take others with it.
      if (this.#asking.length + this.#answers.length + this.#reports.length > 0) this.#soon();
    }
  };

  #ask(): void {
    const began = this.#now();
    let sent = began;
    for (let task = this.#asking.shift(); task !== undefined; task = this.#asking.shift()) {
      task();
      const now = this.#now();
      if (now - began >= TURN_MS) return;
      if (now - sent < ANSWERS_MS) continue;
      this.#send();
      sent = now;
    }
  }

  #send(): void {
    for (let task = this.#answers.shift(); task !== undefined; task = this.#answers.shift()) task();
    for (let task = this.#reports.shift(); task !== undefined; task = this.#reports.shift()) task();
  }
}
