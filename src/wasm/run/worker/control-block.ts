/**
 * Memory that one worker shares with the main thread: for the worker's sleeps (in a host call, in a guest's own sleep, in a rest), the call to be
 * ended, and the phase of its guest.
 */
import type { Phase } from "../guest/call.js";

/** Int32 fields. */
const SIGNAL = 0;
const ABORTED = 1;
const PHASE = 2;
const FIELDS = 3;

const STARTING = 1;
const IN_CALL = 2;

/** A view of one worker's control block; both sides make their own. */
export class ControlBlock {
  readonly #fields: Int32Array;

  constructor(readonly buffer: SharedArrayBuffer) {
    this.#fields = new Int32Array(buffer);
  }

  static create(): ControlBlock {
    return new ControlBlock(new SharedArrayBuffer(FIELDS * 4));
  }

  /** Main thread: this call's answer is no longer needed. Tickets count from 1. */
  abort(ticket: number): void {
    Atomics.store(this.#fields, ABORTED, ticket);
    this.wake();
  }

  /** Main thread, after it has posted an answer. */
  wake(): void {
    Atomics.store(this.#fields, SIGNAL, 1);
    Atomics.notify(this.#fields, SIGNAL);
  }

  /** The phase of the guest. */
  get phase(): Phase {
    return Atomics.load(this.#fields, PHASE) === STARTING ? "start" : "call";
  }

  /** Worker, before a call. */
  begin(): void {
    Atomics.store(this.#fields, PHASE, STARTING);
  }

  /** Worker: the call proper begins. */
  enterCall(): void {
    Atomics.store(this.#fields, PHASE, IN_CALL);
  }

  /** Worker: whether this call's answer is no longer needed. */
  isAborted(ticket: number): boolean {
    return Atomics.load(this.#fields, ABORTED) === ticket;
  }

  /** Worker, before it checks for the end of a sleep: later wake-ups end the next sleep. */
  arm(): void {
    Atomics.store(this.#fields, SIGNAL, 0);
  }

  /** Worker: sleeps until it is woken, or `milliseconds` have passed. */
  sleep(milliseconds: number): void {
    Atomics.wait(this.#fields, SIGNAL, 0, milliseconds);
  }
}
