/**
 * Requests go through the main thread side by side, phase by phase: all whose bodies have come in one turn of the event loop are read, then their policies are
 * evaluated, then all answers are sent, then all are reported. Handling one request after the other, each from its first byte to its log line, takes a quarter
 * to a third more time of the processor: its caches hold the code of one phase, not of all, and a client is woken once for many answers.
 */

/** Milliseconds of reading after which the requests read so far are evaluated. */
const READING_MS = 1;
/** Milliseconds of evaluating after which finished answers are sent: an answer waits for others no longer than this and one policy's time. */
const ANSWERS_MS = 1;
/** Milliseconds after which the event loop has its turn: with it timers, threads and new connections. */
const TURN_MS = 10;

/**
 * Bytes of bodies that wait to be read. More are read as they come, and sockets are not read meanwhile: a client that sends faster than policies answer waits
 * there, as without phases.
 */
const WAITING_BYTES = 8 * 1024 * 1024;

/** A request with its steps. Each step is called at most once, when it is due; one that throws ends a turn of the event loop for all. */
export interface PhasedRequest {
  /** Bytes of its body; the same as long as it waits to be read. */
  readonly bytes: number;
  read(): void;
  ask(): void;
  answer(): void;
  report(): void;
}

/** The pending steps of requests. One instance for all of a server. */
export class Phases {
  readonly #bodies: PhasedRequest[] = [];
  readonly #reviews: PhasedRequest[] = [];
  readonly #answers: PhasedRequest[] = [];
  readonly #reports: PhasedRequest[] = [];
  readonly #now: () => number;
  readonly #later: (run: () => void) => unknown;
  #isDue = false;
  #isRunning = false;
  #bytes = 0;

  /**
   * @param now monotonic milliseconds
   * @param later runs a function once all events of the turn have come
   */
  constructor(now = () => performance.now(), later: (run: () => void) => unknown = setImmediate) {
    this.#now = now;
    this.#later = later;
  }

  /** Whether any step is pending. */
  get isDue(): boolean {
    return this.#isDue;
  }

  /** Reads a request, in this turn of the event loop or one of the next. */
  read(request: PhasedRequest): void {
    this.#bytes += request.bytes;
    this.#add(this.#bodies, request);
    if (this.#bytes > WAITING_BYTES) this.run();
  }

  /** Evaluates a request that has been read. */
  ask(request: PhasedRequest): void {
    this.#add(this.#reviews, request);
  }

  /** Sends an answer, behind those of earlier calls. */
  answer(request: PhasedRequest): void {
    this.#add(this.#answers, request);
  }

  /** Reports an answered request, once the finished answers are sent. */
  report(request: PhasedRequest): void {
    this.#add(this.#reports, request);
  }

  #add(requests: PhasedRequest[], request: PhasedRequest): void {
    requests.push(request);
    if (this.#isDue) return;
    this.#isDue = true;
    this.#later(this.run);
  }

  /** Runs pending steps, as far as there is time in a turn of the event loop: called automatically, and before a long evaluation begins. */
  readonly run = (): void => {
    if (!this.#isDue || this.#isRunning) return;
    this.#isRunning = true;
    try {
      const ends = this.#now() + TURN_MS;
      this.#send();
      do {
        // A request that has been read takes more memory than its body.
        if (this.#reviews.length === 0) this.#during(this.#bodies, READING_MS, this.#read);
        while (this.#reviews.length > 0 && this.#now() < ends) {
          this.#during(this.#reviews, ANSWERS_MS, ASK);
          this.#send();
        }
      } while (this.#bodies.length > 0 && this.#now() < ends);
      this.#send();
    } finally {
      this.#isRunning = false;
      // An error of one request must not affect others.
      const left = this.#bodies.length + this.#reviews.length + this.#answers.length + this.#reports.length;
      this.#isDue = left > 0;
      if (this.#isDue) this.#later(this.run);
    }
  };

  /** Runs one after the other, until so much time has passed. */
  #during(requests: PhasedRequest[], milliseconds: number, step: (request: PhasedRequest) => void): void {
    const ends = this.#now() + milliseconds;
    for (let request = requests.shift(); request !== undefined; request = requests.shift()) {
      step(request);
      if (this.#now() >= ends) return;
    }
  }

  readonly #read = (request: PhasedRequest): void => {
    this.#bytes -= request.bytes;
    request.read();
  };

  #send(): void {
    for (let request = this.#answers.shift(); request !== undefined; request = this.#answers.shift()) request.answer();
    for (let request = this.#reports.shift(); request !== undefined; request = this.#reports.shift()) request.report();
  }
}

const ASK = (request: PhasedRequest): void => request.ask();
