/**
 * A worker thread: takes a call from the mailbox, runs it in a fresh instance, puts the result back, and goes on with the next one.
 * The main thread interrupts or kills it when a guest takes too long; nothing here looks at the time.
 */
import { readlinkSync } from "node:fs";
import { MessageChannel, type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { SLICE_UNITS } from "../guest/budget.js";
import type { ExecutionMode, GuestResult, HostAnswer } from "../guest/call.js";
import { CallHost, type HostSide } from "../guest/call-host.js";
import { GuestRunner } from "../guest/run-call.js";
import { printResult } from "../outcome-text.js";
import { ControlBlock } from "./control-block.js";
import { type Delivery, Mailbox } from "./mailbox.js";
import type { FromWorker, ModuleMessage, PayloadMessage, ToWorker, WorkerStart } from "./messages.js";

/** Milliseconds for which the worker waits for the next call inside of its loop, which makes that call cheap; then it waits in the event loop. */
const WAIT_FOR_CALL_MS = 20;
/** Calls after which the event loop gets a turn: the engine frees part of its memory only there. */
const CALLS_PER_TURN = 32;

/** The thread's state and its loop. */
class GuestWorker {
  readonly #control: ControlBlock;
  readonly #mailbox: Mailbox;
  readonly #modules = new Map<number, ModuleMessage>();
  readonly #payloads = new Map<number, PayloadMessage>();
  readonly #runner = new GuestRunner();
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

  loadKind(mode: ExecutionMode): Promise<void> {
    return this.#runner.load(mode);
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
        if (!this.#runner.has(mode)) {
          this.#postponed = delivery;
          void this.#runner.load(mode).then(() => this.#continueLater());
          return;
        }
        this.#run(delivery, prepared);
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
  }

  /** Goes on after a turn of the event loop. */
  #continueLater(): void {
    this.#selfChannel.port2.postMessage(undefined);
  }

  #run(delivery: Delivery, { module, limits }: ModuleMessage): void {
    const { ticket, operation } = delivery;
    const payload = delivery.payload ?? this.#receiveUntil(() => this.#payloads.get(ticket));
    let posted = 0;
    const side: HostSide = {
      ask: (question) => {
        this.#control.arm();
        posted++;
        this.post({ type: "host-call", ticket, ...question });
        for (;;) {
          this.#control.sleep();
          // Before the port is read, so that an answer which comes after that still ends the next sleep.
          this.#control.arm();
          const answer = this.#answerTo(ticket);
          if (answer !== undefined) return answer;
        }
      },
      line: (line) => {
        posted++;
        this.post({ type: "log", ticket, ...line });
      },
      sleep: (milliseconds) => {
        this.#control.arm();
        this.#control.sleep(milliseconds);
      },
    };
    const budget = { isSpent: false, refill: () => SLICE_UNITS };
    this.#control.begin();
    this.#control.enterCall();
    const came = this.#runner.run(module, { operation, ...payload }, new CallHost(side, limits, budget));
    const result: GuestResult = came.kind === "ended" ? { kind: "trap", text: "ended" } : printResult(came);
    this.#control.end();
    // Also the payloads of earlier calls that were interrupted or withdrawn.
    for (const earlier of this.#payloads.keys()) if (((earlier - ticket) | 0) <= 0) this.#payloads.delete(earlier);
    const byPort = (content: string) => this.post({ type: "content", ticket, content });
    if (this.#mailbox.finish(ticket, result, posted, byPort)) this.post({ type: "signal" });
    this.#runner.tidy();
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
