/** A worker thread: runs the calls that are posted to it, one at a time, each in an instance equal to a new one, and posts their results. */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { printResult } from "../../outcome-text.js";
import type { ExecutionMode, HostAnswer } from "../guest/call.js";
import { CallHost, type HostSide } from "../guest/call-host.js";
import { Moment, Seeds } from "../guest/moment.js";
import { GuestRunner } from "../guest/run-call.js";
import { type StateOrder, takeState } from "../snapshot/take-state.js";
import { ControlBlock } from "./control-block.js";
import type { CallMessage, FromWorker, ModuleMessage, ToWorker, WorkerStart } from "./messages.js";
import { sharedClock } from "./shared-clock.js";
import { SharedShares } from "./shares.js";
import { ThreadBudget } from "./thread-budget.js";

/** The answer to a host call after which the guest ends in any case. */
const TOO_LATE: HostAnswer = { ok: false, error: "the time of the call is over" };

/** A call's host that shows the main thread the guest's phase. */
class ThreadCallHost extends CallHost {
  readonly #control: ControlBlock;

  constructor(control: ControlBlock, ...rest: ConstructorParameters<typeof CallHost>) {
    super(...rest);
    this.#control = control;
  }

  override enterCall(): void {
    super.enterCall();
    this.#control.enterCall();
  }
}

/** The thread's state. */
class GuestWorker {
  readonly #control: ControlBlock;
  readonly #shares: SharedShares;
  readonly #modules = new Map<number, ModuleMessage>();
  readonly #runner = new GuestRunner();
  readonly #seeds = new Seeds();
  readonly #now = sharedClock();
  readonly #port: MessagePort;

  constructor(port: MessagePort, start: WorkerStart) {
    this.#port = port;
    this.#control = new ControlBlock(start.control);
    this.#shares = new SharedShares(start.shares);
  }

  loadKind(mode: ExecutionMode): Promise<void> {
    return this.#runner.load(mode);
  }

  /** A message that came through the event loop. Waiting calls take answers from the port themselves; one that comes here is too late. */
  receive(message: ToWorker): void {
    if (message.type === "module") this.#modules.set(message.module.id, message);
    else if (message.type === "forget") this.#modules.delete(message.moduleId);
    else if (message.type === "call") void this.#serve(message);
  }

  post(message: FromWorker): void {
    this.#port.postMessage(message);
  }

  async #serve(message: CallMessage): Promise<void> {
    const prepared = this.#modules.get(message.moduleId);
    if (!prepared) throw new Error("the worker was not given the module");
    const { mode } = prepared.module;
    if (!this.#runner.has(mode)) await this.#runner.load(mode);
    this.#run(message, prepared);
  }

  #run(message: CallMessage, { module, limits }: ModuleMessage): void {
    const { ticket, call } = message;
    const budget = new ThreadBudget(message, this.#control, this.#shares, this.#now);
    this.#control.begin();
    if (call.operation === "take-state") {
      void this.#takeState(message, { module, limits, budget });
      return;
    }
    const moment = new Moment(message.moment, this.#seeds);
    const host = new ThreadCallHost(this.#control, this.#sideOf(ticket, budget), limits, budget, moment);
    const came = this.#runner.run(module, call, host);
    const result = came.kind === "ended" ? came : printResult(came);
    this.post({ type: "result", ticket, result, computedMs: budget.computedMs });
    this.#runner.tidy();
  }

  async #takeState(
    { ticket, call }: CallMessage,
    of: Pick<StateOrder, "module" | "limits"> & { budget: ThreadBudget },
  ) {
    const { data, neutral = [], longStartUnits = 0 } = call;
    const found = await takeState({ ...of, neutral, longStartUnits, ...(data && { data }) });
    this.post({ type: "state", ticket, found });
    this.post({ type: "result", ticket, result: { kind: "answer", text: "" }, computedMs: of.budget.computedMs });
  }

  #sideOf(ticket: number, budget: ThreadBudget): HostSide {
    return {
      ask: (question) => {
        this.post({ type: "host-call", ticket, ...question });
        for (;;) {
          // Before the port is read, so that a later answer ends the next sleep.
          this.#control.arm();
          const answer = this.#answerTo(ticket);
          if (answer !== undefined) return answer;
          if (budget.isSpent) return TOO_LATE;
          budget.sleep(Number.POSITIVE_INFINITY);
        }
      },
      line: (line) => this.post({ type: "log", ticket, ...line }),
      sleep: (milliseconds) => {
        this.#control.arm();
        if (!budget.isSpent) budget.sleep(milliseconds);
      },
    };
  }

  /** The host's answer to a call, if it has come. An answer to an earlier call, which ended meanwhile, may still be before it. */
  #answerTo(ticket: number): HostAnswer | undefined {
    for (;;) {
      const message = receiveMessageOnPort(this.#port)?.message as ToWorker | undefined;
      if (message === undefined) return undefined;
      if (message.type === "answer" && message.ticket === ticket) return message.answer;
    }
  }
}

if (!parentPort) throw new Error("worker/main.js runs as a worker thread only");
const start = workerData as WorkerStart;
const worker = new GuestWorker(parentPort, start);
await Promise.all(start.modes.map((mode) => worker.loadKind(mode)));
parentPort.on("message", (message: ToWorker) => worker.receive(message));
worker.post({ type: "ready" });
