import { orAborted } from "../data/or-aborted.js";
import { Reasons, shownText, wholeText } from "../data/public-text.js";
import type { Caller, HostCapabilities } from "../host-capabilities/host.js";
import type { KubernetesReader, ResourceSnapshot } from "../kubernetes/reader.js";
import type { Outcome } from "../policy/outcome.js";
import type { EvaluationContext } from "../policy/policy.js";
import type { Review } from "../policy/review.js";
import { WasmLoadError } from "./errors.js";
import { START_ONLY } from "./extism/names.js";
import { detail, fail } from "./failures.js";
import type { ExecutionMode, GuestCall, HostAnswer, HostQuestion, LogLine } from "./guest/call.js";
import { Moment } from "./guest/moment.js";
import type { PreparedSettings, Protocol } from "./guest-protocol.js";
import { CallHistory } from "./inline/history.js";
import type { InlineCalls } from "./inline/inline-calls.js";
import { type GuestLimits, LOAD_TIMEOUT_FACTOR } from "./limits.js";
import { logEntry } from "./log.js";
import type { PreparedModule } from "./module/prepare.js";
import { NOTHING } from "./payload.js";
import type { Job, JobResult } from "./pool/job.js";
import type { WorkerPool } from "./pool/pool.js";
import type { GuestLogEntry, WasmPolicy } from "./wasm-policy.js";

/** What a policy is made of, and what it gets from its runtime. */
export interface PolicyParts {
  readonly module: PreparedModule;
  readonly settings: PreparedSettings;
  readonly protocol: Protocol;
  readonly pool: WorkerPool;
  readonly inline: InlineCalls;
  readonly limits: GuestLimits;
  readonly caller: Caller;
  readonly capabilities: HostCapabilities;
  readonly kubernetes: KubernetesReader;
  readonly log: (entry: GuestLogEntry) => void;
  /** Milliseconds per call. */
  readonly timeoutMs?: number;
}

/** What a job for a request has of its own. */
type AboutRequest = Pick<Job, "deadline" | "isAborted" | "moment" | "onComputed" | "onHostCall" | "onLog">;

/** Milliseconds of computing on a thread up to which a call would have answered on the main thread. */
const SHORT_MS = 0.8;

/** A module with its settings. */
export class LoadedPolicy implements WasmPolicy {
  readonly kind = "wasm";
  readonly implementation: ExecutionMode;
  readonly digest: string;
  readonly #history: CallHistory;
  #lastData: { readonly resources: readonly ResourceSnapshot[]; readonly bytes: Uint8Array } | undefined;
  readonly #parts: PolicyParts;

  constructor(
    readonly id: string,
    parts: PolicyParts,
  ) {
    this.#parts = parts;
    this.implementation = parts.module.mode;
    this.digest = parts.module.digest;
    this.#history = new CallHistory(parts.module.inlineAfter);
  }

  /** Whether the next call begins on the main thread: most of these answer there. */
  get immediate(): boolean {
    return this.#dataAtOnce() !== undefined && this.#parts.inline.wouldTry(this.#history);
  }

  evaluate(review: Review, context: EvaluationContext): Outcome | Promise<Outcome> {
    const data = this.#dataAtOnce();
    return data === undefined ? this.#evaluateWithData(review, context) : this.#ask(review, context, data);
  }

  async #evaluateWithData(review: Review, context: EvaluationContext): Promise<Outcome> {
    let data: Uint8Array;
    try {
      data = await this.#data(context.signal);
    } catch (error) {
      const shown = shownText(error, "the policy server could not read the policy's resources");
      const failure = fail("capability", `cannot perform a request via callback channel: ${shown}`);
      const whole = wholeText(error);
      return whole === shown ? failure : { ...failure, detail: whole };
    }
    return this.#ask(review, context, data);
  }

  /** On the main thread when the call is likely to be short, else on another. */
  #ask(review: Review, context: EvaluationContext, data: Uint8Array): Outcome | Promise<Outcome> {
    const { protocol, settings, module, limits, inline } = this.#parts;
    const call = protocol.validateCall(review, settings, data);
    if ("verdict" in call) return call;
    const moment = new Moment(undefined, inline.seeds);
    const answered = inline.try({
      module,
      call,
      limits,
      moment,
      history: this.#history,
      onLog: (line) => this.#log(line, review),
    });
    return answered ?? this.#askOnThread(call, review, context, moment);
  }

  async #askOnThread(call: GuestCall, review: Review, context: EvaluationContext, moment: Moment): Promise<Outcome> {
    const { protocol } = this.#parts;
    const reasons = new Reasons();
    let asked = false;
    let computed = Number.POSITIVE_INFINITY;
    const result = await this.#run(call, {
      deadline: context.deadline,
      // The signal is made when somebody asks for it; most calls never take so long.
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
    });
    this.#history.onThread(result.kind === "answer" && !asked && computed < SHORT_MS);
    if (result.kind === "crash" && result.whole !== undefined) reasons.add(result.whole);
    const outcome = protocol.outcome(result);
    const reason = reasons.text;
    return reason === undefined ? outcome : { ...outcome, detail: reason };
  }

  /** Starts the module and has it check its settings; undefined when all is well. */
  async loadProblem(): Promise<WasmLoadError | undefined> {
    const { protocol, settings, module } = this.#parts;
    const call = protocol.loadCall(settings, module.exports);
    const result = await this.#run(call);
    if (result.kind === "start-failed") return new WasmLoadError("wasm-start", detail(result));
    if (call.operation !== START_ONLY) return protocol.loadProblem(result);
    if (result.kind === "answer") return undefined;
    return new WasmLoadError("wasm-start", `the policy could not be started: ${detail(result)}`);
  }

  /** The data document, when it does not depend on the cluster; empty when the guest gets none. */
  #dataAtOnce(): Uint8Array | undefined {
    const { protocol, caller, settings } = this.#parts;
    if (protocol.dataDocument === undefined) return NOTHING;
    if (caller.contextAwareResources.length > 0) return undefined;
    this.#lastData ??= { resources: [], bytes: protocol.dataDocument.bytes(settings, []) };
    return this.#lastData.bytes;
  }

  /** The data document. It stays the same until the cluster's resources change: printing thousands of them takes the main thread long. */
  async #data(signal: AbortSignal): Promise<Uint8Array> {
    const { protocol, settings } = this.#parts;
    const resources = await this.#resources(protocol.dataDocument?.plurals === true, signal);
    const before = this.#lastData;
    const same =
      before?.resources.length === resources.length &&
      resources.every(({ items }, index) => before.resources[index]?.items === items);
    if (same) return before.bytes;
    const bytes = protocol.dataDocument?.bytes(settings, resources) ?? NOTHING;
    this.#lastData = { resources, bytes };
    return bytes;
  }

  /** All resources of the kinds that the policy may read; no capability is needed for them (spec kubewarden.md 6.5). */
  #resources(plurals: boolean, signal: AbortSignal): Promise<ResourceSnapshot[]> {
    const { caller, capabilities, kubernetes } = this.#parts;
    const snapshots = capabilities.snapshots(kubernetes, { kinds: caller.contextAwareResources, plurals, signal });
    return orAborted(snapshots, signal, "the time for the evaluation is up");
  }

  /** @param about a request; absent for the check at load */
  #run(call: GuestCall, about?: AboutRequest): Promise<JobResult> {
    const { module, pool, limits, timeoutMs } = this.#parts;
    return pool.run({
      // Of their own: requests wait neither behind the check of a reload, nor does its time-out tell anything about them. No id ends so.
      key: about ? this.id : `${this.id}/`,
      module,
      call,
      limits,
      deadline: Number.POSITIVE_INFINITY,
      ...(timeoutMs !== undefined && { timeoutMs: about ? timeoutMs : timeoutMs * LOAD_TIMEOUT_FACTOR }),
      ...(about ?? {
        isCheck: true,
        onHostCall: (message, ended) => this.#serve(message, ended),
        onLog: (line) => this.#log(line),
      }),
    });
  }

  /** @param reasons takes why the call to the host failed */
  #serve(question: HostQuestion, ended: AbortSignal, reasons?: Reasons): Promise<HostAnswer> {
    const { capabilities, caller } = this.#parts;
    return capabilities.serve(question, { caller, signal: ended, failed: (reason) => reasons?.add(reason) });
  }

  #log(line: LogLine, review?: Review): void {
    const request = review?.kind === "admission" ? review.request.uid : undefined;
    this.#parts.log(logEntry(this.id, request, line));
  }
}
