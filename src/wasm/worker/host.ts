import { type GuestHost, GuestLimitError, NAME_LENGTH } from "../guest/guest.js";
import type { GuestLimits } from "../limits.js";
import type { ControlBlock } from "./control-block.js";
import type { FromWorker, GuestLogLevel, HostAnswer, LogMessage } from "./messages.js";

const NOTHING = new Uint8Array();
/** What a line counts beside its text: the log writes a time, a level and names around it, and lines may be empty. */
const LINE_BYTES = 64;

/** One call's host. Counts what the guest uses. */
export class WorkerHost implements GuestHost {
  #calls = 0;
  #logged = 0;
  #dropped = 0;
  #posted = 0;
  readonly #ticket: number;
  readonly #post: (message: FromWorker) => void;
  readonly #receive: (ticket: number) => HostAnswer | undefined;
  readonly #control: ControlBlock;

  /**
   * @param ticket the call's number in the mailbox
   * @param receive the answer to this call, if it has come
   */
  constructor(
    ticket: number,
    post: (message: FromWorker) => void,
    receive: (ticket: number) => HostAnswer | undefined,
    control: ControlBlock,
    readonly limits: GuestLimits,
  ) {
    this.#ticket = ticket;
    this.#post = post;
    this.#receive = receive;
    this.#control = control;
  }

  call(binding: string, namespace: string, operation: string, payload: Uint8Array): HostAnswer {
    if (binding === "kubewarden" && namespace === "tracing" && operation === "log") {
      // The main thread reads it, its level too (spec kubewarden.md 7.3).
      this.#logBytes(payload, "event");
      return { ok: true, payload: NOTHING };
    }
    this.#calls++;
    if (this.#calls > this.limits.hostCalls)
      throw new GuestLimitError(`the policy made more than ${this.limits.hostCalls} calls to the host`);
    if (binding.length + namespace.length + operation.length > NAME_LENGTH)
      throw new GuestLimitError(
        `the policy made a call to the host whose name is longer than ${NAME_LENGTH} characters`,
      );
    if (payload.length > this.limits.hostCallBytes)
      throw new GuestLimitError(`the policy asked the host with more than ${this.limits.hostCallBytes} bytes`);
    this.#control.arm();
    this.#posted++;
    this.#post({ type: "host-call", ticket: this.#ticket, binding, namespace, operation, payload: payload.slice() });
    for (;;) {
      this.#control.sleep();
      // Before the port is read, so that an answer which comes after that still ends the next sleep.
      this.#control.arm();
      const answer = this.#receive(this.#ticket);
      if (answer !== undefined) return answer;
    }
  }

  output(bytes: Uint8Array): void {
    this.#logBytes(bytes, "output");
  }

  /** Cut before it is decoded: the text of a guest's whole memory would take half a gigabyte of the host's. */
  #logBytes(bytes: Uint8Array, source: LogMessage["source"]): void {
    const { logLineBytes } = this.limits;
    const text = new TextDecoder().decode(bytes.subarray(0, logLineBytes)).trimEnd();
    this.log("info", bytes.length > logLineBytes ? `${text}…` : text, source);
  }

  log(level: GuestLogLevel, text: string, source: LogMessage["source"]): void {
    if (this.#dropped > 0) {
      this.#dropped++;
      return;
    }
    const { logBytes, logLineBytes } = this.limits;
    const cut = text.length > logLineBytes + 1 ? `${text.slice(0, logLineBytes)}…` : text;
    this.#logged += Buffer.byteLength(cut) + LINE_BYTES;
    if (this.#logged <= logBytes) {
      this.#line(level, cut, source);
      return;
    }
    this.#dropped++;
    // Also logged here, because a call that is killed does not reach `finish`.
    this.#line("warn", `further log lines of this call are dropped, because it may log ${logBytes} bytes`, "policy");
  }

  /**
   * Logs how many lines were dropped.
   * @returns how many messages this call has posted
   */
  finish(): number {
    const dropped = this.#dropped;
    if (dropped > 0) this.#line("warn", `${dropped} more log lines of this call were dropped`, "policy");
    return this.#posted;
  }

  #line(level: GuestLogLevel, text: string, source: LogMessage["source"]): void {
    this.#posted++;
    this.#post({ type: "log", ticket: this.#ticket, level, text, source });
  }

  enterCall(): void {
    this.#control.enterCall();
  }

  stderr(bytes: Uint8Array): void {
    this.#control.appendStderr(bytes);
  }

  stderrText(): string {
    return this.#control.stderr();
  }

  sleep(milliseconds: number): void {
    this.#control.arm();
    this.#control.sleep(milliseconds);
  }
}
