/**
 * A worker thread: takes a call from the mailbox, runs it in a fresh instance, puts the result back, and goes on with the next one.
 * The main thread interrupts or kills it when a guest takes too long; nothing here looks at the time.
 */
import { isUtf8 } from "node:buffer";
import { readlinkSync } from "node:fs";
import { MessageChannel, type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { ControlBlock } from "./control-block.js";
import { type GuestAnswer, GuestLimitError, GuestMemoryError, GuestStartError, type RunGuest } from "./guest.js";
import { WorkerHost } from "./host.js";
import { type Delivery, Mailbox } from "./mailbox.js";
import { Memories } from "./memories.js";
import type {
  ExecutionMode,
  FromWorker,
  GuestFailure,
  HostAnswer,
  ModuleMessage,
  PayloadMessage,
  ToWorker,
  WorkerStart,
} from "./messages.js";

/** Milliseconds for which the worker waits for the next call inside of its loop, which makes that call cheap; then it waits in the event loop. */
const WAIT_FOR_CALL_MS = 20;
/** Calls after which the event loop gets a turn: the engine frees part of its memory only there. */
const CALLS_PER_TURN = 32;

/** Each protocol's code is loaded with its first guest. */
const loaders: Record<ExecutionMode, () => Promise<RunGuest>> = {
  extism: async () => (await import("../extism/guest.js")).extismRunner(),
  "kubewarden-wapc": async () => (await import("../wapc/guest.js")).wapcRunner(),
  wasi: async () => (await import("../wasi/guest.js")).wasiRunner(),
  opa: async () => (await import("../opa/guest.js")).regoRunner(),
  gatekeeper: async () => (await import("../opa/guest.js")).regoRunner(),
};

/** The thread's state and its loop. */
class GuestWorker {
  readonly #control: ControlBlock;
  readonly #mailbox: Mailbox;
  readonly #modules = new Map<number, ModuleMessage>();
  readonly #payloads = new Map<number, PayloadMessage>();
  readonly #runners = new Map<ExecutionMode, RunGuest>();
  readonly #memories = new Memories();
  /** A call whose runner is being loaded. */
  #postponed: Delivery | undefined;
  readonly #selfChannel = new MessageChannel();
  readonly #port: MessagePort;

  constructor(port: MessagePort, start: WorkerStart) {
    this.#port = port;
    this.#control = new ControlBlock(start.control);
    this.#mailbox = new Mailbox(start.mailbox);
    this.#selfChannel.port1.on("message", () => this.#serve());
  }

  async loadRunner(mode: ExecutionMode): Promise<RunGuest> {
    const runner = await loaders[mode]();
    this.#runners.set(mode, runner);
    return runner;
  }

  /**
   * A message that came through the event loop. Guests run below this and nowhere else: an interruption unwinds everything up to here, and from
   * a timer, an immediate or a promise it would leave Node's own bookkeeping in a state that ends the process.
   */
  receive(message: ToWorker): void {
    if (message.type === "resume") {
      this.#forgetAll();
      this.post({ type: "ready" });
    }
    if (message.type === "resume" || message.type === "wake") this.#serve();
    else this.#keep(message);
  }

  readonly post = (message: FromWorker): void => {
    this.#port.postMessage(message);
  };

  /** Runs calls until there are none for a while. */
  #serve(): void {
    for (let calls = 0; calls < CALLS_PER_TURN; ) {
      const delivery = this.#postponed ?? this.#mailbox.take();
      this.#postponed = undefined;
      if (delivery) {
        const prepared = this.#receiveUntil(() => this.#modules.get(delivery.moduleId));
        const { mode } = prepared.module;
        const runner = this.#runners.get(mode);
        if (!runner) {
          this.#postponed = delivery;
          void this.loadRunner(mode).then(() => this.#continueLater());
          return;
        }
        this.#run(delivery, prepared, runner);
        calls++;
      } else if (!this.#mailbox.sleep(WAIT_FOR_CALL_MS) && this.#mailbox.leave()) return;
    }
    this.#continueLater();
  }

  /** After an interruption: drops all that was received before it. */
  #forgetAll(): void {
    this.#modules.clear();
    this.#payloads.clear();
    this.#postponed = undefined;
    for (const runner of this.#runners.values()) runner.forget?.();
  }

  /** Goes on after a turn of the event loop. */
  #continueLater(): void {
    this.#selfChannel.port2.postMessage(undefined);
  }

  #run(delivery: Delivery, { module, limits }: ModuleMessage, runner: RunGuest): void {
    const { ticket, operation } = delivery;
    const payload = delivery.payload ?? this.#receiveUntil(() => this.#payloads.get(ticket));
    const host = new WorkerHost(ticket, this.post, this.#answerTo, this.#control, limits);
    const { importedMemory: shape } = module;
    let memory: WebAssembly.Memory | undefined;
    let answer: GuestAnswer;
    try {
      this.#control.begin();
      memory = shape && this.#memories.take(module.id, shape);
      answer = requireUtf8(runner(module.module, { operation, ...payload }, host, memory));
    } catch (error) {
      answer = failure(error);
    }
    this.#control.end();
    // Also the payloads of earlier calls that were interrupted or withdrawn.
    for (const earlier of this.#payloads.keys()) if (((earlier - ticket) | 0) <= 0) this.#payloads.delete(earlier);
    // A copy, because bytes are posted together with the whole memory in which they lie.
    const byPort = (content: Uint8Array | string) => this.post({ type: "content", ticket, content: content.slice() });
    if (this.#mailbox.finish(ticket, answer, host.finish(), byPort)) this.post({ type: "signal" });
    // After the answer, so that nobody waits for the wiping. The memory of a call that failed is not used again.
    if (shape && memory && answer.kind === "answer") this.#memories.give(module.id, memory, shape);
  }

  /** The host's answer to a call, if it has come. An answer to an interrupted call may still be before it. */
  readonly #answerTo = (ticket: number): HostAnswer | undefined => {
    for (;;) {
      const message = this.#next();
      if (!message) return undefined;
      if (message.type !== "answer") this.#keep(message);
      else if (message.ticket === ticket) return message.answer;
    }
  };

  /** Receives messages until `find` finds what was posted before the call. */
  #receiveUntil<T>(find: () => T | undefined): T {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      const message = this.#next();
      if (!message) throw new Error("the worker was not given what the mailbox promised");
      this.#keep(message);
    }
  }

  #keep(message: ToWorker): void {
    switch (message.type) {
      case "module":
        this.#modules.set(message.module.id, message);
        break;
      case "forget":
        this.#modules.delete(message.moduleId);
        break;
      case "payload":
        this.#payloads.set(message.ticket, message);
        break;
    }
  }

  #next(): ToWorker | undefined {
    return receiveMessageOnPort(this.#port)?.message as ToWorker | undefined;
  }
}

/** JSON is UTF-8: an answer with other bytes must not allow anything, whatever a lenient decoder makes of it. */
function requireUtf8(answer: GuestAnswer): GuestAnswer {
  if (answer.kind !== "answer" || isUtf8(answer.bytes)) return answer;
  return { kind: "trap", text: "the policy's answer is not UTF-8" };
}

/** Turns what a guest threw into a result. Engine texts are kept short: the first line, no stack. */
function failure(error: unknown): GuestFailure {
  if (error instanceof GuestLimitError) return { kind: "limit", text: error.message };
  const text = firstLine(error instanceof Error ? error.message : thrownText(error));
  if (error instanceof GuestMemoryError) return { kind: "out-of-memory", text };
  if (error instanceof GuestStartError) return { kind: "start-failed", text };
  return { kind: "trap", text };
}

/** An exception of the guest's own is no Error, and its text can't be read. */
function thrownText(thrown: unknown): string {
  return thrown instanceof WebAssembly.Exception ? "an exception that the policy did not catch" : String(thrown);
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

/** Linux names the calling thread in procfs; the number at the end is its id. */
function taskId(): number | undefined {
  try {
    return Number(readlinkSync("/proc/thread-self").split("/").at(-1)) || undefined;
  } catch {
    return undefined;
  }
}

if (!parentPort) throw new Error("worker/main.js runs as a worker thread only");
const start = workerData as WorkerStart;
const worker = new GuestWorker(parentPort, start);
await Promise.all(start.modes.map((mode) => worker.loadRunner(mode)));
parentPort.on("message", (message: ToWorker) => worker.receive(message));
const id = taskId();
worker.post({ type: "ready", ...(id !== undefined && { taskId: id }) });
