/** The worker's side of what a guest may ask of the host. */
import type { GuestLimits } from "../limits.js";
import type { ControlBlock } from "./control-block.js";
import { type GuestHost, GuestLimitError } from "./guest.js";
import type { FromWorker, GuestLogLevel, HostAnswer, LogMessage } from "./messages.js";

const NOTHING = new Uint8Array();
/** Longest name that a host call may have, all parts together: the longest that exists has 50 characters, and names of refused calls are logged. */
const NAME_LENGTH = 256;

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
      this.log("info", new TextDecoder().decode(payload), "event");
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
    this.post({ type: "host-call", binding, namespace, operation, payload });
    for (;;) {
      this.control.sleep();
      const message = this.receive();
      // A `forget` can't arrive during a call, because the main thread sends it only to idle workers; so this is the answer.
      if (message !== undefined) return message as HostAnswer;
      this.control.arm();
    }
  }

  log(level: GuestLogLevel, text: string, source: LogMessage["source"]): void {
    this.lines++;
    if (this.lines > this.limits.logLines) return;
    const { logLineBytes } = this.limits;
    this.post({
      type: "log",
      level,
      text: text.length > logLineBytes ? `${text.slice(0, logLineBytes)}…` : text,
      source,
    });
  }

  /** Says how many lines were dropped. */
  finish(): void {
    const dropped = this.lines - this.limits.logLines;
    if (dropped > 0)
      this.post({
        type: "log",
        level: "warn",
        text: `${dropped} more log lines of this call were dropped`,
        source: "policy",
      });
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
