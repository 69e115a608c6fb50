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
import type { ExecutionMode, GuestCall } from "./guest/call.js";
import type { PreparedSettings, Protocol } from "./guest-protocol.js";
import { type GuestLimits, LOAD_TIMEOUT_FACTOR } from "./limits.js";
import { logEntry } from "./log.js";
import type { PreparedModule } from "./module/prepare.js";
import { checkKey } from "./pool/history.js";
import type { Job, JobResult } from "./pool/job.js";
import type { WorkerPool } from "./pool/pool.js";
import type { GuestLogEntry, WasmPolicy } from "./wasm-policy.js";

/** What a policy is made of, and what it gets from its runtime. */
export interface PolicyParts {
  readonly module: PreparedModule;
  readonly settings: PreparedSettings;
  readonly protocol: Protocol;
  readonly pool: WorkerPool;
  readonly limits: GuestLimits;
  readonly caller: Caller;
  readonly capabilities: HostCapabilities;
  readonly kubernetes: KubernetesReader;
  readonly log: (entry: GuestLogEntry) => void;
  /** Milliseconds per call. */
  readonly timeoutMs?: number;
}

/** A module with its settings. */
export class LoadedPolicy implements WasmPolicy {
  readonly kind = "wasm";
  readonly immediate = false;
  readonly implementation: ExecutionMode;
  readonly digest: string;
  #lastData: { readonly resources: readonly ResourceSnapshot[]; readonly text: string } | undefined;
  readonly #parts: PolicyParts;

  constructor(
    readonly id: string,
    parts: PolicyParts,
  ) {
    this.#parts = parts;
    this.implementation = parts.module.mode;
    this.digest = parts.module.digest;
  }

  async evaluate(review: Review, context: EvaluationContext): Promise<Outcome> {
    const { protocol, settings } = this.#parts;
    let data = "";
    if (protocol.dataDocument) {
      try {
        data = await this.#data(protocol.dataDocument, context.signal);
      } catch (error) {
        const shown = shownText(error, "the policy server could not read the policy's resources");
        const failure = fail("capability", `cannot perform a request via callback channel: ${shown}`);
        const whole = wholeText(error);
        return whole === shown ? failure : { ...failure, detail: whole };
      }
    }
    const call = protocol.validateCall(review, settings, data);
    if ("verdict" in call) return call;
    const reasons = new Reasons();
    const result = await this.#run(call, context, review, reasons);
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

  /** The data document. It stays the same until the cluster's resources change: printing thousands of them takes the main thread long. */
  async #data(document: NonNullable<Protocol["dataDocument"]>, signal: AbortSignal): Promise<string> {
    const wanted = this.#parts.caller.contextAwareResources.length > 0;
    const resources = wanted ? await this.#resources(document.plurals, signal) : [];
    const before = this.#lastData;
    const same =
      before?.resources.length === resources.length &&
      resources.every(({ items }, index) => before.resources[index]?.items === items);
    if (same) return before.text;
    const text = document.text(this.#parts.settings, resources);
    this.#lastData = { resources, text };
    return text;
  }

  /** All resources of the kinds that the policy may read; no capability is needed for them (spec kubewarden.md 6.5). */
  #resources(plurals: boolean, signal: AbortSignal): Promise<ResourceSnapshot[]> {
    const { caller, capabilities, kubernetes } = this.#parts;
    const snapshots = capabilities.snapshots(kubernetes, { kinds: caller.contextAwareResources, plurals, signal });
    return orAborted(snapshots, signal, "the time for the evaluation is up");
  }

  /** @param reasons takes why host calls failed */
  #run(call: GuestCall, context?: EvaluationContext, review?: Review, reasons?: Reasons): Promise<JobResult> {
    const { module, pool, limits, caller, capabilities, log, timeoutMs } = this.#parts;
    const request = review?.kind === "admission" ? review.request.uid : undefined;
    const job: Job = {
      key: context ? this.id : checkKey(this.id),
      module,
      call,
      limits,
      deadline: context?.deadline ?? Number.POSITIVE_INFINITY,
      ...(timeoutMs !== undefined && { timeoutMs: context ? timeoutMs : timeoutMs * LOAD_TIMEOUT_FACTOR }),
      ...(!context && { isCheck: true }),
      // The signal is made when somebody asks for it; most calls never take so long.
      ...(context && { isAborted: () => context.signal.aborted }),
      onHostCall: (message, killed) =>
        capabilities.serve(message, { caller, signal: killed, failed: (reason) => reasons?.add(reason) }),
      onLog: (message) => log(logEntry(this.id, request, message)),
    };
    return pool.run(job);
  }
}
