import type { GuestLimits } from "../../limits.js";
import { BUDGET_SPENT, type Budget, HOST_CALL_UNITS, SLICE_UNITS } from "./budget.js";
import type { GuestLogLevel, HostAnswer, HostQuestion, LogLine, Phase } from "./call.js";
import { type GuestHost, GuestLimitError, NAME_LENGTH } from "./guest.js";
import { Moment, MomentView } from "./moment.js";

const NOTHING = new Uint8Array();
/** Bytes that a line counts beside its text: the log writes a time, a level and names around it, and lines may be empty. */
const LINE_BYTES = 64;
/** Bytes of standard error that are kept for the error message; the text becomes part of an HTTP answer. */
const STDERR_BYTES = 8 * 1024;

const NS_PER_MS = 1e6;

/** The host's side of a call; a thread's and the main thread's differ. */
export interface HostSide {
  /** Makes a host call and waits for its answer. The payload is a copy. */
  ask(question: HostQuestion): HostAnswer;
  /** Receives a line for the log; it has no answer. */
  line(line: LogLine): void;
  /** Waits for this many milliseconds. */
  sleep(milliseconds: number): void;
}

/** One call's host. Counts the guest's use of its limits. */
export class CallHost implements GuestHost {
  #calls = 0;
  #logged = 0;
  #dropped = 0;
  #phase: Phase = "start";
  #errors: Uint8Array[] | undefined;
  #errorBytes = 0;
  #worked = 0;
  #passed: GuestLimitError | undefined;
  #view: MomentView | undefined;
  readonly #side: HostSide;
  readonly #moment: Moment | undefined;

  /** @param moment the moment shared with other runs of the same call; absent: there are none */
  constructor(
    side: HostSide,
    readonly limits: GuestLimits,
    readonly budget: Budget,
    moment?: Moment,
  ) {
    this.#side = side;
    this.#moment = moment;
  }

  /** Made at first use: most guests read no clock. */
  get moment(): MomentView {
    this.#view ??= new MomentView(this.#moment ?? new Moment());
    return this.#view;
  }

  work(units: number): void {
    this.#worked += units;
    while (this.#worked >= SLICE_UNITS) {
      const more = this.budget.refill();
      if (more <= 0) throw BUDGET_SPENT;
      this.#worked -= more;
    }
  }

  limitPassed(text: string): GuestLimitError {
    const error = new GuestLimitError(text);
    this.#passed ??= error;
    return error;
  }

  /** The first limit that was exceeded. */
  get passed(): GuestLimitError | undefined {
    return this.#passed;
  }

  /** The guest's phase, or its last one. */
  get phase(): Phase {
    return this.#phase;
  }

  call(binding: string, namespace: string, operation: string, payload: Uint8Array): HostAnswer {
    if (binding === "kubewarden" && namespace === "tracing" && operation === "log") {
      // The main thread parses it, its level too (spec kubewarden.md 7.3).
      this.#logBytes(payload, "event");
      return { ok: true, payload: NOTHING };
    }
    this.#calls++;
    this.work(HOST_CALL_UNITS + payload.length);
    if (this.#calls > this.limits.hostCalls)
      throw this.limitPassed(`the policy made more than ${this.limits.hostCalls} calls to the host`);
    if (binding.length + namespace.length + operation.length > NAME_LENGTH)
      throw this.limitPassed(`the policy made a call to the host whose name is longer than ${NAME_LENGTH} characters`);
    if (payload.length > this.limits.hostCallBytes)
      throw this.limitPassed(`the policy asked the host with more than ${this.limits.hostCallBytes} bytes`);
    return this.#side.ask({ binding, namespace, operation, payload: payload.slice() });
  }

  output(bytes: Uint8Array): void {
    this.#logBytes(bytes, "output");
  }

  /** Cut before it is decoded: the text of a guest's whole memory would take half a gigabyte of the host's. */
  #logBytes(bytes: Uint8Array, source: LogLine["source"]): void {
    const { logLineBytes } = this.limits;
    const part = bytes.subarray(0, logLineBytes);
    this.work(part.length);
    const text = new TextDecoder().decode(part).trimEnd();
    this.log("info", bytes.length > logLineBytes ? `${text}…` : text, source);
  }

  log(level: GuestLogLevel, text: string, source: LogLine["source"]): void {
    this.work(HOST_CALL_UNITS);
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
    // Also logged here, because a call that is ended does not reach `finish`.
    this.#line("warn", `further log lines of this call are dropped, because it may log ${logBytes} bytes`, "policy");
  }

  /** Ends the call: logs the number of dropped lines. */
  finish(): void {
    const dropped = this.#dropped;
    if (dropped > 0) this.#line("warn", `${dropped} more log lines of this call were dropped`, "policy");
  }

  #line(level: GuestLogLevel, text: string, source: LogLine["source"]): void {
    this.#side.line({ level, text, source });
  }

  enterCall(): void {
    this.#phase = "call";
  }

  stderr(bytes: Uint8Array): void {
    if (this.#errorBytes >= STDERR_BYTES) return;
    const part = bytes.slice(0, STDERR_BYTES - this.#errorBytes);
    this.#errorBytes += part.length;
    this.#errors ??= [];
    this.#errors.push(part);
  }

  stderrText(): string {
    return this.#errors === undefined ? "" : Buffer.concat(this.#errors).toString();
  }

  sleep(milliseconds: number): void {
    this.#side.sleep(milliseconds);
    this.moment.slept(BigInt(Math.ceil(milliseconds * NS_PER_MS)));
  }
}
