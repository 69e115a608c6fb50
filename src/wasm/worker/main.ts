/**
 * A worker thread: takes a call from the mailbox, runs it in a fresh instance, puts the result back, and goes on with the next one.
 * The main thread interrupts or kills it when a guest takes too long; nothing here looks at the time.
 */
import { readlinkSync } from "node:fs";
import { MessageChannel, type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { readCallAnswer, readWasiAnswer } from "../answer.js";
import { GuestLimitError, GuestMemoryError, GuestStartError, type RunGuest } from "../guest/guest.js";
import { Memories } from "../guest/memories.js";
import { readAnswer } from "../guest/read-answer.js";
import type { ReadAnswer } from "../question.js";
import { ControlBlock } from "./control-block.js";
import { WorkerHost } from "./host.js";
import { type Delivery, Mailbox } from "./mailbox.js";
import type {
  ExecutionMode,
  FromWorker,
  GuestFailure,
  GuestResult,
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

/** Characters of a failure's text: it becomes part of an HTTP answer, and a Rego module chooses it. */
const FAILURE_CHARACTERS = 8 * 1024;

/** How guests of one kind are run, and their answers read. */
interface GuestKind {
  readonly run: RunGuest;
  readonly read: ReadAnswer;
}

/** Each protocol's code is loaded with its first guest. */
const loaders: Record<ExecutionMode, () => Promise<GuestKind>> = {
  extism: async () => ({ run: (await import("../extism/guest.js")).extismRunner(), read: readCallAnswer }),
  "kubewarden-wapc": async () => ({ run: (await import("../wapc/guest.js")).wapcRunner(), read: readCallAnswer }),
  wasi: async () => ({ run: (await import("../wasi/guest.js")).wasiRunner(), read: readWasiAnswer }),
  opa: async () => ({
    run: (await import("../opa/guest.js")).regoRunner(),
    read: (await import("../opa/answer.js")).readOpaAnswer,
  }),
  gatekeeper: async () => ({
    run: (await import("../opa/guest.js")).regoRunner(),
    read: (await import("../gatekeeper/answer.js")).readGatekeeperAnswer,
  }),
};

/** The thread's state and its loop. */
class GuestWorker {
  readonly #control: ControlBlock;
  readonly #mailbox: Mailbox;
  readonly #modules = new Map<number, ModuleMessage>();
  readonly #payloads = new Map<number, PayloadMessage>();
  readonly #kinds = new Map<ExecutionMode, GuestKind>();
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

  async loadKind(mode: ExecutionMode): Promise<void> {
    this.#kinds.set(mode, await loaders[mode]());
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
        const kind = this.#kinds.get(mode);
        if (!kind) {
          this.#postponed = delivery;
          void this.loadKind(mode).then(() => this.#continueLater());
          return;
        }
        this.#run(delivery, prepared, kind);
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
    for (const { run } of this.#kinds.values()) run.forget?.();
  }

  /** Goes on after a turn of the event loop. */
  #continueLater(): void {
    this.#selfChannel.port2.postMessage(undefined);
  }

  #run(delivery: Delivery, { module, limits }: ModuleMessage, { run, read }: GuestKind): void {
    const { ticket, operation } = delivery;
    const payload = delivery.payload ?? this.#receiveUntil(() => this.#payloads.get(ticket));
    const host = new WorkerHost(ticket, this.post, this.#answerTo, this.#control, limits);
    const { importedMemory: shape } = module;
    let memory: WebAssembly.Memory | undefined;
    let result: GuestResult;
    try {
      this.#control.begin();
      memory = shape && this.#memories.take(module.id, shape);
      const name = operation === "validate-raw" ? "validate" : operation;
      const answer = run(module.module, { operation: name, ...payload }, host, memory, module.linked);
      result = readAnswer(answer, operation, { input: payload.input, limits }, read);
    } catch (error) {
      result = failure(error);
    }
    this.#control.end();
    // Also the payloads of earlier calls that were interrupted or withdrawn.
    for (const earlier of this.#payloads.keys()) if (((earlier - ticket) | 0) <= 0) this.#payloads.delete(earlier);
    const byPort = (content: string) => this.post({ type: "content", ticket, content });
    if (this.#mailbox.finish(ticket, result, host.finish(), byPort)) this.post({ type: "signal" });
    // After the answer, so that nobody waits for the wiping. The memory of a call that failed is not used again.
    if (shape && memory && result.kind === "answer") this.#memories.give(module.id, memory, shape);
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

/** Turns what a guest threw into a result. Texts are kept short: the first line, no stack. */
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
  const line = text.split("\n", 1)[0] ?? "";
  return line.length > FAILURE_CHARACTERS ? `${line.slice(0, FAILURE_CHARACTERS)}…` : line;
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
await Promise.all(start.modes.map((mode) => worker.loadKind(mode)));
parentPort.on("message", (message: ToWorker) => worker.receive(message));
const id = taskId();
worker.post({ type: "ready", ...(id !== undefined && { taskId: id }) });
