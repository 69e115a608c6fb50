/** The serving processes: starts them, receives and sends messages, replaces those that die or hang, and stops them. */
import cluster from "node:cluster";
import type { Logger } from "../telemetry/logger.js";
import { STOP_WITHIN_MS } from "../telemetry/otlp/stop-within.js";
import { withFrugalAllocator } from "./heap.js";
import { BEAT_EVERY_MS, Heartbeats } from "./heartbeats.js";
import { GENERATION_VARIABLE, SUCCESSOR_VARIABLE, type ToPrimary, type ToWorker } from "./messages.js";
import { Restarts } from "./restarts.js";

/** Time after its grace in which a process must end before it is killed: twice what its exporters may take. */
const KILL_AFTER_MS = 2 * STOP_WITHIN_MS;

/** A serving process as the primary sees it: the used part of a cluster's `Worker`. */
export interface Child {
  readonly id: number;
  readonly process: { readonly pid?: number | undefined; kill(signal: NodeJS.Signals): boolean };
  isConnected(): boolean;
  send(message: ToWorker, done: () => void): boolean;
  on(event: "message", hear: (message: ToPrimary) => void): unknown;
  on(event: "exit", end: (code: number | null, signal: string | null) => void): unknown;
  on(event: "error", fail: (error: Error) => void): unknown;
}

/** Options and callbacks of the fleet. */
export interface FleetOptions {
  readonly logger: Logger;
  /**
   * Starts a process that serves this generation of policies; `successor` when all have served once before. A refusal of the system is thrown, or an
   * "error" event of a child without a number.
   */
  readonly fork?: (generation: number, successor: boolean) => Child;
  /** The generation of the policies that all serve now. */
  readonly generation: () => number;
  /** Receives a process' messages, except those about its life. */
  readonly heard: (child: Child, message: ToPrimary) => void;
  /** Called when a process serves that was started for another generation than all serve by now. */
  readonly outdated: (child: Child) => void;
  /** Called when a process has ended. */
  readonly ended: (child: Child) => void;
  /** Called when a process is being replaced. */
  readonly replaced: (reason: "died" | "hung") => void;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
}

/** The result of a question: the answer, `gone` when the process has ended, or `late`. */
export type Answer = ToPrimary | "gone" | "late";

interface Member {
  /** The generation of the policies that it serves. */
  generation: number;
  /** The time at which it began to serve; undefined before, and after it has stopped. */
  servingSince: number | undefined;
  /** Whether it was killed for hanging. */
  hung: boolean;
  /** Whether all agreed on its policies: it was among the first processes, or has taken part in a reload since. */
  agreed: boolean;
  /** Its last reported count. */
  evaluations: number;
}

/** All serving processes. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #clock: () => number;
  readonly #heartbeats: Heartbeats<Child>;
  readonly #restarts = new Restarts();
  readonly #members = new Map<Child, Member>();
  /** Awaited answers, by process and question. */
  readonly #awaited = new Map<string, (answer: Answer) => void>();
  readonly #listening: NodeJS.Timeout;
  #questions = 0;
  #evaluations = 0;
  /** Whether all have served once: from then on a process that ends is replaced, even before it served. */
  #complete = false;
  #stopping = false;
  /** Whether the files hold rejected policies. */
  #holding = false;
  /** Replacements that wait for the files to be repaired. */
  #heldBack = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
    this.#heartbeats = new Heartbeats(this.#clock);
    this.#listening = setInterval(() => this.#look(), BEAT_EVERY_MS);
    this.#listening.unref();
  }

  /** Evaluations of all processes so far, as reported within the last second. */
  get evaluations(): number {
    return this.#evaluations;
  }

  /** Processes that serve. */
  get serving(): Child[] {
    return Array.from(this.#members)
      .filter(([, { servingSince }]) => servingSince !== undefined)
      .map(([child]) => child);
  }

  /** Processes that serve, but from which nothing has been heard for a while. */
  get suspects(): Child[] {
    return this.serving.filter((child) => this.#heartbeats.suspect(child));
  }

  /** Processes that serve another generation of policies than all others: they were starting when the current one was loaded. */
  get outdated(): Child[] {
    const generation = this.#options.generation();
    return this.serving.filter((child) => this.#members.get(child)?.generation !== generation);
  }

  /** Processes with the generation of all, those first that all agreed on. None in a fleet that is being stopped. */
  get current(): Child[] {
    if (this.#stopping) return [];
    const generation = this.#options.generation();
    const current = Array.from(this.#members).filter(
      ([, member]) => member.servingSince !== undefined && !member.hung && member.generation === generation,
    );
    return current.sort(([, a], [, b]) => Number(b.agreed) - Number(a.agreed)).map(([child]) => child);
  }

  /** Starts this number of processes. Resolves when all serve, or with the first failure, after ending the rest. */
  async start(count: number): Promise<string | undefined> {
    const failure = await new Promise<string | undefined>((resolve) => {
      let starting = count;
      const started = (reason: string | undefined): void => {
        starting -= 1;
        if (reason !== undefined || starting === 0) resolve(reason);
      };
      for (let i = 0; i < count; i++) this.#start(started);
    });
    this.#complete = failure === undefined;
    if (failure !== undefined) this.end();
    return failure;
  }

  /** Kills all remaining processes, and stops listening. */
  end(): void {
    this.#stopping = true;
    clearInterval(this.#listening);
    for (const child of this.#members.keys()) child.process.kill("SIGKILL");
  }

  /** Sends a message to one process. */
  tell(child: Child, message: ToWorker): void {
    // Sending fails for a process that has just died: without a callback the failure would end this process.
    if (child.isConnected()) child.send(message, () => {});
  }

  /**
   * Sends a question to processes.
   * @param within milliseconds; a process without an answer by then is `late`
   */
  async ask(
    children: readonly Child[],
    within: number,
    question: (id: number) => ToWorker,
  ): Promise<Map<Child, Answer>> {
    const id = this.#questions++;
    const asked = children.map((child) => {
      const key = `${child.id}/${id}`;
      return new Promise<[Child, Answer]>((resolve) => {
        const settle = (answer: Answer): void => {
          clearTimeout(timer);
          this.#awaited.delete(key);
          resolve([child, answer]);
        };
        const timer = setTimeout(() => settle("late"), within);
        this.#awaited.set(key, settle);
        this.tell(child, question(id));
      });
    });
    return new Map(await Promise.all(asked));
  }

  /** Notes that a process serves this generation now. */
  serves(child: Child, generation: number): void {
    const member = this.#members.get(child);
    if (member === undefined) return;
    member.generation = generation;
    member.agreed = true;
  }

  /**
   * Starts no replacement while others serve, until {@link release}: the files hold rejected policies, which it would serve beside processes that
   * rejected them. Ends processes that may serve them already, as they were started since the last agreement.
   * @param objectors processes that rejected the files: these continue to serve
   */
  hold(objectors: readonly Child[]): void {
    this.#holding = true;
    for (const [child, { agreed }] of this.#members) {
      if (!agreed && !objectors.includes(child)) {
        this.kill(child, "a serving process may have loaded policies that were kept out: it is killed");
      }
    }
  }

  /** Starts the replacements that were held back: the files hold the served policies, or no process serves. */
  release(): void {
    this.#holding = false;
    for (; this.#heldBack > 0; this.#heldBack--) this.#start(() => {});
  }

  /** Kills an unusable process; it is replaced. */
  kill(child: Child, why: string): void {
    const member = this.#members.get(child);
    if (member === undefined || member.hung) return;
    member.hung = true;
    this.#options.logger.error(why, { process: child.process.pid });
    child.process.kill("SIGKILL");
  }

  /**
   * Stops all processes. Returns promises for the last answer and for the last end.
   * @param delay milliseconds in which they still serve
   * @param grace milliseconds for requests under way
   */
  stop(delay: number, grace: number): { readonly drained: Promise<unknown>; readonly gone: Promise<unknown> } {
    this.#stopping = true;
    const gone: Promise<void>[] = [];
    const drained = Array.from(this.#members.keys(), (child) => {
      const exited = new Promise<void>((resolve) => {
        const kill = setTimeout(
          () => this.kill(child, "a serving process did not end in time: it is killed"),
          delay + grace + KILL_AFTER_MS,
        );
        child.on("exit", () => {
          clearTimeout(kill);
          resolve();
        });
      });
      gone.push(exited);
      const told = new Promise<void>((resolve) => {
        child.on("message", ({ type }) => {
          if (type === "drained") resolve();
        });
      });
      this.tell(child, { type: "stop", delay, grace });
      return Promise.race([told, exited]);
    });
    return { drained: Promise.all(drained), gone: Promise.all(gone).then(() => clearInterval(this.#listening)) };
  }

  #start(started: (failure: string | undefined) => void): void {
    const generation = this.#options.generation();
    let child: Child;
    try {
      child = (this.#options.fork ?? forkServing)(generation, this.#complete);
    } catch (error) {
      this.#notStarted(error instanceof Error ? error.message : String(error), started);
      return;
    }
    const member: Member = {
      generation,
      servingSince: undefined,
      hung: false,
      agreed: !this.#complete,
      evaluations: 0,
    };
    this.#members.set(child, member);
    this.#heartbeats.watch(child);
    let failure: string | undefined;
    child.on("message", (message) => {
      if (message.type === "failed") failure = message.message;
      this.#hear(child, member, message);
      if (message.type === "serving") started(undefined);
    });
    // For a running process the error is about a signal or message that could not be sent; its end comes as "exit".
    child.on("error", ({ message }) => {
      if (child.process.pid !== undefined || !this.#members.has(child)) return;
      this.#forget(child);
      this.#notStarted(message, started);
    });
    child.on("exit", (code, signal) => {
      const { servingSince } = member;
      // A process that could not be started may be reported twice.
      if (!this.#members.has(child)) return;
      this.#forget(child);
      for (const [key, answer] of this.#awaited) if (key.startsWith(`${child.id}/`)) answer("gone");
      this.#options.ended(child);
      if (servingSince === undefined) {
        started(failure ?? `a serving process ended before it was ready (${signal ?? code})`);
      }
      // A process that can't even start ends the whole start instead.
      if (!this.#stopping && (this.#complete || servingSince !== undefined))
        this.#replace(child, member, { code, signal, error: failure });
    });
  }

  #forget(child: Child): void {
    this.#members.delete(child);
    this.#heartbeats.forget(child);
  }

  /** Handles a process that could not be started: the system lacks processes, files or memory, perhaps for a while. */
  #notStarted(reason: string, started: (failure: string | undefined) => void): void {
    const failure = `a serving process could not be started: ${reason}`;
    started(failure);
    if (this.#stopping || !this.#complete) return;
    const pause = this.#restarts.pause(0);
    this.#options.logger.error(failure, { pause_ms: pause });
    setTimeout(() => this.#startAgain(), pause).unref();
  }

  #replace(
    child: Child,
    { servingSince, hung }: Member,
    how: { code: number | null; signal: string | null; error: string | undefined },
  ): void {
    const pause = this.#restarts.pause(servingSince === undefined ? 0 : this.#clock() - servingSince);
    const fields = { process: child.process.pid, ...how, pause_ms: pause };
    this.#options.logger.error("a serving process died and is replaced", fields);
    this.#options.replaced(hung ? "hung" : "died");
    setTimeout(() => this.#startAgain(), pause).unref();
  }

  #startAgain(): void {
    if (this.#stopping) return;
    if (this.#holding && this.serving.length > 0) {
      this.#heldBack += 1;
      this.#options.logger.error(
        "a serving process is not replaced while the files hold policies that were kept out: mend them",
        { serving: this.serving.length, missing: this.#heldBack },
      );
      return;
    }
    // Without any process the files decide, as at the start of the server.
    this.release();
    this.#start(() => {});
  }

  #hear(child: Child, member: Member, message: ToPrimary): void {
    switch (message.type) {
      case "beat":
        this.#heartbeats.heard(child, message.loading);
        this.#evaluations += message.evaluations - member.evaluations;
        member.evaluations = message.evaluations;
        return;
      case "serving":
        member.servingSince = this.#clock();
        this.#heartbeats.heard(child, false);
        this.#options.heard(child, message);
        if (member.generation !== this.#options.generation()) this.#options.outdated(child);
        return;
      case "drained":
        member.servingSince = undefined;
        this.#options.heard(child, message);
        return;
      case "prepared":
      case "swapped":
      case "secured":
      case "collected":
      case "collected-shadows":
        this.#options.heard(child, message);
        this.#awaited.get(`${child.id}/${message.id}`)?.(message);
        return;
      default:
        this.#options.heard(child, message);
    }
  }

  #look(): void {
    for (const child of this.#heartbeats.look()) {
      this.kill(child, "a serving process hangs: nothing is heard from it, it is killed");
    }
  }
}

function forkServing(generation: number, successor: boolean): Child {
  return cluster.fork({
    ...withFrugalAllocator(process.env),
    [GENERATION_VARIABLE]: String(generation),
    [SUCCESSOR_VARIABLE]: String(successor),
  });
}
