/**
 * Memory that one worker shares with the main thread: where it sleeps during a host call, whether its guest is starting or in its call, and what
 * a WASI guest has written to standard error. The main thread reads the last two when it stops a guest.
 */

/** Int32 slots. */
const SIGNAL = 0;
const PHASE = 1;
const STDERR_LENGTH = 2;
const SLOTS = 4;
/** Bytes of standard error that are kept for the error message; the text becomes part of an HTTP answer, so more would only hurt. */
const STDERR_BYTES = 8 * 1024;

const NO_GUEST = 0;
const STARTING = 1;
const IN_CALL = 2;

/** Where a guest is: making the instance and its start functions, or in the call itself. */
export type Phase = "start" | "call";

/** A view of one worker's control block; both sides make their own. */
export class ControlBlock {
  readonly #slots: Int32Array;
  readonly #errors: Uint8Array;

  constructor(readonly buffer: SharedArrayBuffer) {
    this.#slots = new Int32Array(buffer, 0, SLOTS);
    this.#errors = new Uint8Array(buffer, SLOTS * 4, STDERR_BYTES);
  }

  static create(): ControlBlock {
    return new ControlBlock(new SharedArrayBuffer(SLOTS * 4 + STDERR_BYTES));
  }

  /** Worker, before a call. */
  begin(): void {
    Atomics.store(this.#slots, SIGNAL, 0);
    Atomics.store(this.#slots, PHASE, STARTING);
    Atomics.store(this.#slots, STDERR_LENGTH, 0);
  }

  /** Worker: the call proper begins. */
  enterCall(): void {
    Atomics.store(this.#slots, PHASE, IN_CALL);
  }

  /** After a call; the next one's failure must not show what this one wrote. */
  end(): void {
    Atomics.store(this.#slots, STDERR_LENGTH, 0);
    Atomics.store(this.#slots, PHASE, NO_GUEST);
  }

  /** Whether a guest runs, and nothing else: it may be interrupted. */
  get isRunning(): boolean {
    return Atomics.load(this.#slots, PHASE) !== NO_GUEST;
  }

  /** One that has ended has started: its result may be on its way. */
  get phase(): Phase {
    return Atomics.load(this.#slots, PHASE) === STARTING ? "start" : "call";
  }

  /** Worker, before it posts a host call or looks for its answer: a wake from now on ends the next sleep. */
  arm(): void {
    Atomics.store(this.#slots, SIGNAL, 0);
  }

  /** Worker: sleeps until the answer has been posted, or `milliseconds` have passed. */
  sleep(milliseconds?: number): void {
    Atomics.wait(this.#slots, SIGNAL, 0, milliseconds);
  }

  /** Main thread, after it has posted the answer. */
  wake(): void {
    Atomics.store(this.#slots, SIGNAL, 1);
    Atomics.notify(this.#slots, SIGNAL);
  }

  /** Worker: keeps the beginning of standard error. */
  appendStderr(bytes: Uint8Array): void {
    const length = Atomics.load(this.#slots, STDERR_LENGTH);
    const part = bytes.subarray(0, STDERR_BYTES - length);
    this.#errors.set(part, length);
    Atomics.store(this.#slots, STDERR_LENGTH, length + part.length);
  }

  /** The kept standard error as text. */
  stderr(): string {
    // A copy, because a TextDecoder does not read shared memory.
    return new TextDecoder().decode(this.#errors.slice(0, Atomics.load(this.#slots, STDERR_LENGTH)));
  }
}
