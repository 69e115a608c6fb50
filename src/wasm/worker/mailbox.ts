/**
 * Calls on their way to a worker and their results on the way back, in memory that both threads share. A message port would copy every payload
 * twice, make an object at each end and wake a sleeping thread each time; here a busy worker finds its next call by itself, and several results
 * are fetched with one signal. What does not fit goes through the port.
 *
 * The slots form a ring: the main thread fills them in order, the worker takes them in order. A call that the worker has not begun can be
 * withdrawn, so that nothing is stuck behind a guest that takes long.
 */
import type { GuestOperation, GuestResult } from "./messages.js";

/** Calls a worker holds: the one it runs and those it goes on with. A power of two. */
export const MAILBOX_SLOTS = 4;
/** Bytes of a payload that fit into a slot: ten times a usual Pod. Larger ones are rare, and what the port costs is little beside their parsing. */
const INPUT_BYTES = 64 * 1024;
/** Bytes of an answer that fit. */
const OUTPUT_BYTES = 16 * 1024;
/** UTF-8 takes no more bytes than this for a UTF-16 unit. */
const BYTES_PER_UNIT = 3;

/** Int32 fields of the whole mailbox. */
const ATTENTION = 0;
const TAIL = 1;
const HEAD = 2;
const SIGNALLED = 3;
const HEADER_FIELDS = 4;

/** Int32 fields of a slot. */
const STATE = 0;
const MODULE = 1;
const OPERATION = 2;
const INPUT_LENGTH = 3;
const DATA_LENGTH = 4;
const RESULT = 5;
const RESULT_LENGTH = 6;
const MESSAGES = 7;
const SLOT_FIELDS = 8;
const HEADER_BYTES = (HEADER_FIELDS + MAILBOX_SLOTS * SLOT_FIELDS) * 4;

/** What the worker is doing when it has no call. */
const AWAKE = 0;
/** In `Atomics.wait`: a notification wakes it. */
const ASLEEP = 1;
/** In its event loop: a message wakes it. */
const AWAY = 2;

const FREE = 0;
const WAITING = 1;
const RUNNING = 2;
const DONE = 3;

/** Stands for a length: there is none, or the bytes come through the port. */
const NONE = -1;
const BY_PORT = -2;

const OPERATIONS: readonly GuestOperation[] = [
  "validate",
  "validate-raw",
  "validate_settings",
  "validate-settings",
  "missing-builtins",
  "start",
];
const RESULTS: readonly GuestResult["kind"][] = [
  "answer",
  "guest-error",
  "trap",
  "out-of-memory",
  "start-failed",
  "limit",
];

/** A call as the worker finds it. */
export interface Delivery {
  /** The call's number in this mailbox; it wraps around. */
  readonly ticket: number;
  readonly moduleId: number;
  readonly operation: GuestOperation;
  /** Undefined when the payload comes through the port. The bytes are valid until the result is put. */
  readonly payload?: { readonly input: Uint8Array; readonly data?: Uint8Array };
}

/** A result as the main thread finds it. */
export type Arrival =
  | GuestResult
  /** The text comes through the port. */
  | { readonly kind: "by-port"; result(text: string): GuestResult };

/** A view of one worker's mailbox; both sides make their own. */
export class Mailbox {
  readonly #fields: Int32Array;
  readonly #input: Buffer;
  readonly #output: Buffer;

  constructor(readonly buffer: SharedArrayBuffer) {
    this.#fields = new Int32Array(buffer, 0, HEADER_BYTES / 4);
    this.#input = Buffer.from(buffer, HEADER_BYTES, MAILBOX_SLOTS * INPUT_BYTES);
    this.#output = Buffer.from(buffer, HEADER_BYTES + MAILBOX_SLOTS * INPUT_BYTES, MAILBOX_SLOTS * OUTPUT_BYTES);
  }

  static create(): Mailbox {
    const mailbox = new Mailbox(new SharedArrayBuffer(HEADER_BYTES + MAILBOX_SLOTS * (INPUT_BYTES + OUTPUT_BYTES)));
    Atomics.store(mailbox.#fields, ATTENTION, AWAY);
    return mailbox;
  }

  // The main thread's side.

  /** Whether another call can be put. */
  hasRoom(): boolean {
    const tail = Atomics.load(this.#fields, TAIL);
    return (
      ((tail - Atomics.load(this.#fields, HEAD)) | 0) < MAILBOX_SLOTS &&
      Atomics.load(this.#fields, slotOf(tail) + STATE) === FREE
    );
  }

  /**
   * Puts a call into the next slot; {@link hasRoom} has said that there is one.
   * @param byPort called before the worker can see the call, when its payload is too large
   * @returns its ticket, and whether the worker must be told of it by {@link nudge}
   */
  put(
    moduleId: number,
    operation: GuestOperation,
    input: Uint8Array,
    data: Uint8Array | undefined,
    byPort: (ticket: number) => void,
  ): { readonly ticket: number; readonly nudge: boolean } {
    const fields = this.#fields;
    const ticket = Atomics.load(fields, TAIL);
    const slot = slotOf(ticket);
    fields[slot + MODULE] = moduleId;
    fields[slot + OPERATION] = OPERATIONS.indexOf(operation);
    const at = indexOf(ticket) * INPUT_BYTES;
    if (input.length + (data?.length ?? 0) <= INPUT_BYTES) {
      this.#input.set(input, at);
      if (data !== undefined) this.#input.set(data, at + input.length);
      fields[slot + INPUT_LENGTH] = input.length;
      fields[slot + DATA_LENGTH] = data?.length ?? NONE;
    } else {
      fields[slot + INPUT_LENGTH] = BY_PORT;
      byPort(ticket);
    }
    Atomics.store(fields, slot + STATE, WAITING);
    Atomics.store(fields, TAIL, (ticket + 1) | 0);
    return { ticket, nudge: Atomics.load(fields, ATTENTION) !== AWAKE };
  }

  /** Tells the worker that there are calls; true when it has to be told with a message. */
  nudge(): boolean {
    const fields = this.#fields;
    const attention = Atomics.load(fields, ATTENTION);
    if (attention === ASLEEP) Atomics.notify(fields, TAIL);
    return attention === AWAY && Atomics.compareExchange(fields, ATTENTION, AWAY, AWAKE) === AWAY;
  }

  /** Takes a call back; false when the worker has begun it. */
  withdraw(ticket: number): boolean {
    return Atomics.compareExchange(this.#fields, slotOf(ticket) + STATE, WAITING, FREE) === WAITING;
  }

  /** From now on a new result is signalled again. To be called before results are collected. */
  acknowledge(): void {
    Atomics.store(this.#fields, SIGNALLED, 0);
  }

  /**
   * The result of a call, which frees its slot; undefined while there is none.
   * @param messages how many of the call's messages have come through the port: a result waits for all of them
   */
  collect(ticket: number, messages: number): Arrival | undefined {
    const slot = slotOf(ticket);
    const fields = this.#fields;
    if (Atomics.load(fields, slot + STATE) !== DONE || (fields[slot + MESSAGES] ?? 0) > messages) return undefined;
    const kind = RESULTS[fields[slot + RESULT] ?? 0] ?? "trap";
    const length = fields[slot + RESULT_LENGTH] ?? 0;
    const at = indexOf(ticket) * OUTPUT_BYTES;
    const arrival: Arrival =
      length === BY_PORT
        ? { kind: "by-port", result: (text) => ({ kind, text }) }
        : { kind, text: this.#output.toString("utf8", at, at + length) };
    Atomics.store(fields, slot + STATE, FREE);
    return arrival;
  }

  /** Frees the slot of a call that was broken off, and empties the ring. The worker does not run meanwhile. */
  reset(): void {
    const fields = this.#fields;
    for (let index = 0; index < MAILBOX_SLOTS; index++)
      Atomics.store(fields, HEADER_FIELDS + index * SLOT_FIELDS + STATE, FREE);
    Atomics.store(fields, HEAD, Atomics.load(fields, TAIL));
    Atomics.store(fields, SIGNALLED, 0);
    Atomics.store(fields, ATTENTION, AWAKE);
  }

  // The worker's side.

  /** Takes the next call, if there is one. */
  take(): Delivery | undefined {
    const fields = this.#fields;
    for (;;) {
      const ticket = Atomics.load(fields, HEAD);
      if (ticket === Atomics.load(fields, TAIL)) return undefined;
      const slot = slotOf(ticket);
      const taken = Atomics.compareExchange(fields, slot + STATE, WAITING, RUNNING) === WAITING;
      Atomics.store(fields, HEAD, (ticket + 1) | 0);
      if (taken) return this.#delivery(ticket, slot);
    }
  }

  /** Sleeps until there is a call, or for so many milliseconds; false when there was none. */
  sleep(milliseconds: number): boolean {
    const fields = this.#fields;
    Atomics.store(fields, ATTENTION, ASLEEP);
    const ended = Atomics.wait(fields, TAIL, Atomics.load(fields, HEAD), milliseconds);
    Atomics.store(fields, ATTENTION, AWAKE);
    return ended !== "timed-out";
  }

  /** Says that the next call must be announced with a message; false when there is one now, unannounced. */
  leave(): boolean {
    const fields = this.#fields;
    Atomics.store(fields, ATTENTION, AWAY);
    if (Atomics.load(fields, HEAD) === Atomics.load(fields, TAIL)) return true;
    // Either this thread goes on now, or the main thread was faster and has posted a message, which comes later.
    return Atomics.compareExchange(fields, ATTENTION, AWAY, AWAKE) !== AWAY;
  }

  /**
   * Puts a result.
   * @param messages how many messages of this call went through the port
   * @param byPort called with a text that does not fit; counts as one more message
   * @returns whether the main thread must be signalled
   */
  finish(ticket: number, { kind, text }: GuestResult, messages: number, byPort: (text: string) => void): boolean {
    const fields = this.#fields;
    const slot = slotOf(ticket);
    fields[slot + RESULT] = RESULTS.indexOf(kind);
    let count = messages;
    if (fits(OUTPUT_BYTES, text)) {
      fields[slot + RESULT_LENGTH] = this.#output.write(text, indexOf(ticket) * OUTPUT_BYTES, "utf8");
    } else {
      fields[slot + RESULT_LENGTH] = BY_PORT;
      byPort(text);
      count++;
    }
    fields[slot + MESSAGES] = count;
    Atomics.store(fields, slot + STATE, DONE);
    // A result with messages is always signalled, behind them: the main thread may have tried to collect it before they came.
    return Atomics.exchange(fields, SIGNALLED, 1) === 0 || count > 0;
  }

  #delivery(ticket: number, slot: number): Delivery {
    const fields = this.#fields;
    const common = {
      ticket,
      moduleId: fields[slot + MODULE] ?? 0,
      operation: OPERATIONS[fields[slot + OPERATION] ?? 0] ?? "validate",
    };
    const inputLength = fields[slot + INPUT_LENGTH] ?? 0;
    if (inputLength === BY_PORT) return common;
    const dataLength = fields[slot + DATA_LENGTH] ?? NONE;
    const at = indexOf(ticket) * INPUT_BYTES;
    const input = this.#input.subarray(at, at + inputLength);
    if (dataLength === NONE) return { ...common, payload: { input } };
    const data = this.#input.subarray(at + inputLength, at + inputLength + dataLength);
    return { ...common, payload: { input, data } };
  }
}

function indexOf(ticket: number): number {
  return ticket & (MAILBOX_SLOTS - 1);
}

function slotOf(ticket: number): number {
  return HEADER_FIELDS + indexOf(ticket) * SLOT_FIELDS;
}

/** Whether a text has at most so many bytes. Those of a large text are not counted for it. */
function fits(bytes: number, text: string): boolean {
  if (text.length > bytes) return false;
  return text.length * BYTES_PER_UNIT <= bytes || Buffer.byteLength(text) <= bytes;
}
