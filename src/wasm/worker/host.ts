/** The worker's side of what a guest may ask of the host. */
import type { GuestLimits } from "../limits.js";
import type { ControlBlock } from "./control-block.js";
import { type GuestHost, GuestLimitError, NAME_LENGTH } from "./guest.js";
import type { FromWorker, GuestLogLevel, HostAnswer, LogMessage } from "./messages.js";

const NOTHING = new Uint8Array();

/** One call's host. Counts what the guest uses. */
export class WorkerHost implements GuestHost {
  private calls = 0;
  private lines = 0;

  constructor(
    private readonly post: (message: FromWorker) => void,
    private readonly receive: () => unknown,
    private readonly control: ControlBlock,
    readonly limits: GuestLimits,
  ) {}

  call(binding: string, namespace: string, operation: string, payload: Uint8Array): HostAnswer {
    if (binding === "kubewarden" && namespace === "tracing" && operation === "log") {
      // The main thread reads it, its level too (spec kubewarden.md 7.3).
      this.logBytes(payload, "event");
      return { ok: true, payload: NOTHING };
    }
    this.calls++;
    if (this.calls > this.limits.hostCalls)
      throw new GuestLimitError(`the policy made more than ${this.limits.hostCalls} calls to the host`);
    if (binding.length + namespace.length + operation.length > NAME_LENGTH)
      throw new GuestLimitError(
        `the policy made a call to the host whose name is longer than ${NAME_LENGTH} characters`,
      );
    if (payload.length > this.limits.outputBytes)
      throw new GuestLimitError(`the policy asked the host with more than ${this.limits.outputBytes} bytes`);
    this.control.arm();
    this.post({ type: "host-call", binding, namespace, operation, payload: payload.slice() });
    for (;;) {
      this.control.sleep();
      const message = this.receive();
      // A `forget` can't arrive during a call, because the main thread sends it only to idle workers; so this is the answer.
      if (message !== undefined) return message as HostAnswer;
      this.control.arm();
    }
  }

  output(bytes: Uint8Array): void {
    this.logBytes(bytes, "output");
  }

  /** Text is made of no more than what is logged: a guest's whole memory would be half a gigabyte of the host's. */
  private logBytes(bytes: Uint8Array, source: LogMessage["source"]): void {
    const { logLineBytes } = this.limits;
    const text = new TextDecoder().decode(bytes.subarray(0, logLineBytes)).trimEnd();
    this.log("info", bytes.length > logLineBytes ? `${text}…` : text, source);
  }

  log(level: GuestLogLevel, text: string, source: LogMessage["source"]): void {
    this.lines++;
    const { logLines, logLineBytes } = this.limits;
    const cut = text.length > logLineBytes + 1 ? `${text.slice(0, logLineBytes)}…` : text;
    if (this.lines <= logLines) this.post({ type: "log", level, text: cut, source });
    // Said here, too, because a call that is killed says nothing at its end.
    if (this.lines === logLines + 1)
      this.warn(`further log lines of this call are dropped, because it has ${logLines}`);
  }

  /** Says how many lines were dropped. */
  finish(): void {
    const dropped = this.lines - this.limits.logLines;
    if (dropped > 0) this.warn(`${dropped} more log lines of this call were dropped`);
  }

  private warn(text: string): void {
    this.post({ type: "log", level: "warn", text, source: "policy" });
  }

  enterCall(): void {
    this.control.enterCall();
  }

  stderr(bytes: Uint8Array): void {
    this.control.appendStderr(bytes);
  }

  stderrText(): string {
    return this.control.stderr();
  }

  sleep(milliseconds: number): void {
    this.control.arm();
    this.control.sleep(milliseconds);
  }
}
