import { setImmediate as nextTurn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { Reasons, shownText, wholeText } from "../data/public-text.js";
import type { KubernetesReader } from "../kubernetes/reader.js";
import type { Outcome } from "../policy/outcome.js";
import type { EvaluationContext, PolicyRule } from "../policy/policy.js";
import type { Review } from "../policy/review.js";
import { DataDocument } from "./data-document.js";
import { WasmLoadError } from "./errors.js";
import { detail, fail, limitDetail } from "./failures.js";
import type { PreparedSettings, Protocol } from "./guest-protocol.js";
import type { Caller, HostCapabilities } from "./host/host.js";
import { type GuestLimits, LOAD_TIMEOUT_FACTOR } from "./limits.js";
import { logEntry } from "./log.js";
import type { PreparedModule } from "./module/prepare.js";
import { START_ONLY } from "./names.js";
import { NOTHING } from "./payload.js";
import { PolicyStart } from "./policy-start.js";
import type { Floor } from "./rewrite/floor/floor.js";
import type { ExecutionMode, GuestCall, GuestModule, HostAnswer, HostQuestion, LogLine } from "./run/guest/call.js";
import { Moment, type MomentParts } from "./run/guest/moment.js";
import { CallHistory } from "./run/main-thread/history.js";
import { INLINE_QUESTION_BYTES, type MainThreadCalls } from "./run/main-thread/main-thread-calls.js";
import { neutralReviews } from "./run/snapshot/neutral-requests.js";
import { coldStart, type FoundStart, type StartReport } from "./run/snapshot/start-report.js";
import { checkKey } from "./run/threads/history.js";
import type { Job, JobResult } from "./run/threads/job.js";
import type { WorkerPool } from "./run/threads/pool.js";
import type { GuestLogEntry, WasmPolicy } from "./wasm-policy.js";

/** Parts of a policy, with those of its runtime. */
export interface PolicyParts {
  readonly module: PreparedModule;
  readonly settings: PreparedSettings;
  readonly protocol: Protocol;
  readonly pool: WorkerPool;
  readonly inline: MainThreadCalls;
  readonly limits: GuestLimits;
  readonly caller: Caller;
  readonly capabilities: HostCapabilities;
  readonly kubernetes: KubernetesReader;
  /** Whether instances may start from a captured state. */
  readonly warmStart: boolean;
  /** Units of fuel of a start that is worth a state. */
  readonly longStartUnits: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** An id for a module with a state. */
  readonly newId: () => number;
  readonly log: (entry: GuestLogEntry) => void;
  /** Milliseconds per call. */
  readonly timeoutMs?: number;
}

/** The fields of a job that belong to a request. */
type AboutRequest = Pick<Job, "deadline" | "isAborted" | "moment" | "onComputed" | "onHostCall" | "onLog">;

/** Milliseconds in which a state is captured and checked. A module that compiles for half a second in each call needs ten of them; no request waits. */
const TAKING_STATE_MS = 120_000;

/** Most calls with a policy's state that are compared with cold ones at a time; other calls run only cold. */
const MOST_COMPARED = 2;

/** On threads a guest has all of its stack. */
async function withoutFloor({ floor, ...rest }: GuestModule): Promise<GuestModule> {
  return { ...rest, module: (await floor?.without()) ?? rest.module };
}

const neverFound = (because: string): FoundStart => ({ report: coldStart(because), isExact: true });

/** A module with its settings. */
export class LoadedPolicy implements WasmPolicy {
  readonly kind = "wasm";
  readonly implementation: ExecutionMode;
  readonly digest: string;
  readonly #history: CallHistory;
  readonly #start: PolicyStart;
  #comparing = 0;
  readonly #data: DataDocument;
  readonly #parts: PolicyParts;

  constructor(
    readonly id: string,
    parts: PolicyParts,
  ) {
    this.#parts = parts;
    this.implementation = parts.module.mode;
    this.digest = parts.module.digest;
    this.#data = new DataDocument(parts);
    this.#history = new CallHistory(parts.module.inlineAfter);
    this.#start = new PolicyStart({
      module: parts.module,
      enabled: parts.warmStart,
      newId: parts.newId,
      take: (module) => this.#takeState(module),
      now: parts.now,
      warn: (message) => parts.log({ policy: id, level: "warn", message, fields: {} }),
    });
  }

  get rules(): readonly PolicyRule[] | undefined {
    return this.#parts.module.rules;
  }

  /** How its instances begin. */
  get start(): StartReport {
    return this.#start.report;
  }

  /** Whether the next call begins on the main thread: most of these answer there. */
  get immediate(): boolean {
    return this.#data.atOnce !== undefined && this.#start.isUsuallyInline && this.#parts.inline.wouldTry(this.#history);
  }

  evaluate(review: Review, context: EvaluationContext): Outcome | Promise<Outcome> {
    const data = this.#data.atOnce;
    return data === undefined ? this.#evaluateWithData(review, context) : this.#ask(review, context, data);
  }

  async #evaluateWithData(review: Review, context: EvaluationContext): Promise<Outcome> {
    let data: Uint8Array;
    try {
      data = await this.#data.read(context.signal);
    } catch (error) {
      const shown = shownText(error, "the policy server could not read the policy's resources");
      const failure = fail("capability", `cannot perform a request via callback channel: ${shown}`);
      const whole = wholeText(error);
      return whole === shown ? failure : { ...failure, detail: whole };
    }
    return this.#ask(review, context, data);
  }

  /** Runs a call on the main thread when it is likely to be short, else on another thread. */
  #ask(review: Review, context: EvaluationContext, data: Uint8Array): Outcome | Promise<Outcome> {
    const { protocol, settings, inline } = this.#parts;
    const moment = new Moment(undefined, inline.seeds);
    let trappedAbove: Floor | undefined;
    const isCompared = this.#start.begin();
    if (!isCompared && this.#start.isSmall && inline.wouldTry(this.#history)) {
      const call = protocol.validateCall(review, settings, data, inline.allocate);
      if ("verdict" in call) return call;
      const answered = this.#tryInline(call, review, moment, (floor) => {
        trappedAbove = floor;
      });
      if (answered !== undefined) return answered;
      // A payload that is too long for the main thread has new memory.
      if (call.input.length > INLINE_QUESTION_BYTES) return this.#askOnThread(call, review, context, moment);
    }
    const call = protocol.validateCall(review, settings, data);
    if ("verdict" in call) return call;
    return isCompared
      ? this.#askBothWays(call, review, context, moment)
      : this.#askOnThread(call, review, context, moment, this.#start.module, trappedAbove);
  }

  #tryInline(call: GuestCall, review: Review, moment: Moment, onTrap: (floor?: Floor) => void): Outcome | undefined {
    const { inline, limits } = this.#parts;
    const { module } = this.#start;
    return inline.try({
      module,
      call,
      limits,
      moment,
      history: this.#history,
      onLog: (line) => this.#log(line, review),
      onTrap: () => onTrap(module.floor),
    });
  }

  /** Calls an instance that starts cold, whose answer counts, and then one with the policy's state, which must answer the same. */
  async #askBothWays(call: GuestCall, review: Review, context: EvaluationContext, moment: Moment): Promise<Outcome> {
    // Read now, so that both see the same.
    const { time, seed } = moment;
    const { module } = this.#start;
    const outcome = await this.#askOnThread(call, review, context, new Moment({ time, seed }), this.#parts.module);
    // An error is not an answer to compare; and comparisons must not fill the threads.
    if (outcome.verdict !== "error" && this.#comparing < MOST_COMPARED)
      void this.#compare(call, outcome, { time, seed }, module);
    return outcome;
  }

  async #compare(call: GuestCall, outcome: Outcome, moment: MomentParts, module: GuestModule): Promise<void> {
    const { protocol, pool, limits, timeoutMs } = this.#parts;
    let asked = false;
    this.#comparing++;
    // In a queue of its own, like the check of settings: requests don't wait for it, and its duration says nothing about theirs.
    const result = await pool.run({
      key: checkKey(this.id),
      module: module.floor ? await withoutFloor(module) : module,
      call,
      limits,
      deadline: Number.POSITIVE_INFINITY,
      timeoutMs: timeoutMs ?? TAKING_STATE_MS,
      isCheck: true,
      moment,
      onHostCall: () => {
        asked = true;
        return Promise.resolve({ ok: false, error: "the host does not answer while a policy's state is tried" });
      },
      // The cold call has logged.
      onLog: () => {},
    });
    this.#comparing--;
    if (asked) this.#start.refuse("it asks the host");
    // It has not started.
    else if (result.kind === "refused" || (result.kind === "timeout" && result.phase === "waiting")) return;
    else if (result.kind === "timeout" || result.kind === "crash")
      this.#start.refuse("with the state a call did not end");
    else if (isDeepStrictEqual(protocol.outcome(result), outcome)) this.#start.agreed(module);
    else this.#start.refuse("with the state an answer was another than without");
  }

  async #takeState(module: GuestModule): Promise<FoundStart> {
    const { protocol, settings, inline, limits, longStartUnits } = this.#parts;
    const data = this.#data.atOnce;
    if (data === undefined) return neverFound("its data document changes with the cluster");
    if (module.linked) return neverFound("it is linked of several modules");
    if (module.mode === "wasi") return neverFound("a command runs as a whole");
    const calls =
      module.mode === "kubewarden-wapc"
        ? neutralReviews().map((review) => protocol.validateCall(review, settings, data))
        : [];
    const neutral = calls.flatMap((call) => ("verdict" in call ? [] : [call.input]));
    let found =
      this.#parts.module.inlineAfter > 0
        ? undefined
        : await inline.takeState({ module, limits, data, neutral, longStartUnits });
    if (found) return found;
    const call: GuestCall = { operation: "take-state", input: NOTHING, data, neutral, longStartUnits };
    const result = await this.#run(call, undefined, module, (state) => {
      found = state;
    });
    return found ?? neverFound(`its state could not be taken: ${result.kind}`);
  }

  async #askOnThread(
    call: GuestCall,
    review: Review,
    context: EvaluationContext,
    moment: Moment,
    module = this.#start.module,
    trappedAbove?: Floor,
  ): Promise<Outcome> {
    const { protocol } = this.#parts;
    const reasons = new Reasons();
    let asked = false;
    let computed = Number.POSITIVE_INFINITY;
    const result = await this.#run(
      call,
      {
        deadline: context.deadline,
        // The signal is made at its first use; most calls end before.
        isAborted: () => context.signal.aborted,
        moment: moment.parts,
        onComputed: (milliseconds) => {
          computed = milliseconds;
        },
        onHostCall: (message, ended) => {
          asked = true;
          return this.#serve(message, ended, reasons);
        },
        onLog: (line) => this.#log(line, review),
      },
      module,
    );
    // A call that traps on the main thread only does so by its floor.
    if (trappedAbove && result.kind === "answer") this.#start.dropFloor(await trappedAbove.without());
    this.#history.onThread(result.kind === "answer" && !asked ? computed : undefined);
    if (result.kind === "crash" && result.whole !== undefined) reasons.add(result.whole);
    const limit = limitDetail(result, this.#parts.limits);
    if (limit !== undefined) reasons.add(limit);
    const outcome = protocol.outcome(result);
    const reason = reasons.text;
    return reason === undefined ? outcome : { ...outcome, detail: reason };
  }

  /** Starts the module and makes it check its settings; undefined when they are valid. */
  async loadProblem(): Promise<WasmLoadError | undefined> {
    const { protocol, settings, module } = this.#parts;
    const call = protocol.loadCall(settings, module.exports);
    const result = (await this.#checkInline(call)) ?? (await this.#run(call));
    if (result.kind === "start-failed") return new WasmLoadError("wasm-start", detail(result));
    if (call.operation !== START_ONLY) return protocol.loadProblem(result);
    if (result.kind === "answer") return undefined;
    return new WasmLoadError("wasm-start", `the policy could not be started: ${detail(result)}`);
  }

  /** Checks a small module on the main thread; one after the other, so that a server that reloads many still answers meanwhile. */
  async #checkInline(call: GuestCall): Promise<JobResult | undefined> {
    const { module, inline, limits } = this.#parts;
    if (module.inlineAfter > 0) return undefined;
    await nextTurn();
    return inline.check({ module, call, limits, onLog: (line) => this.#log(line) });
  }

  /** @param about the request; absent for calls at load and beside requests */
  async #run(
    call: GuestCall,
    about?: AboutRequest,
    module: GuestModule = this.#parts.module,
    onState?: (found: FoundStart) => void,
  ): Promise<JobResult> {
    const { pool, limits, timeoutMs } = this.#parts;
    return pool.run({
      key: about ? this.id : checkKey(this.id),
      module: module.floor ? await withoutFloor(module) : module,
      call,
      limits,
      deadline: Number.POSITIVE_INFINITY,
      ...(onState && { onState }),
      ...(onState && { timeoutMs: TAKING_STATE_MS }),
      ...(timeoutMs !== undefined && !onState && { timeoutMs: about ? timeoutMs : timeoutMs * LOAD_TIMEOUT_FACTOR }),
      ...(about ?? {
        isCheck: true,
        onHostCall: (message, ended) => this.#serve(message, ended),
        onLog: (line) => this.#log(line),
      }),
    });
  }

  /** @param reasons receives the reasons of failed host calls */
  #serve(question: HostQuestion, ended: AbortSignal, reasons?: Reasons): Promise<HostAnswer> {
    const { capabilities, caller } = this.#parts;
    return capabilities.serve(question, { caller, signal: ended, failed: (reason) => reasons?.add(reason) });
  }

  #log(line: LogLine, review?: Review): void {
    const request = review?.kind === "admission" ? review.request.uid : undefined;
    this.#parts.log(logEntry(this.id, request, line));
  }
}
