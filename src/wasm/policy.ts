/** A loaded module as a policy. */
import type { Caller, CapabilityContext, HostCapabilities } from "../host-capabilities/host.js";
import type { KubernetesReader, ResourceSnapshot } from "../host-capabilities/kubernetes/reader.js";
import type { Outcome } from "../policy/outcome.js";
import type { EvaluationContext } from "../policy/policy.js";
import type { Review } from "../policy/review.js";
import type { WasmLoadError } from "./errors.js";
import { fail } from "./failures.js";
import type { PreparedSettings, Protocol } from "./guest-protocol.js";
import { type GuestLimits, LOAD_PATIENCE } from "./limits.js";
import { logEntry } from "./log.js";
import type { PolicyMetadata } from "./module/metadata.js";
import type { PreparedModule } from "./module/prepare.js";
import type { Job, JobResult } from "./pool/job.js";
import type { WorkerPool } from "./pool/pool.js";
import type { GuestLogEntry, WasmPolicy } from "./wasm-policy.js";
import type { ExecutionMode, GuestCall } from "./worker/messages.js";

/** What a policy shares with its runtime. */
export interface PolicySurroundings {
  readonly pool: WorkerPool;
  readonly limits: GuestLimits;
  readonly caller: Caller;
  readonly capabilities: HostCapabilities;
  readonly kubernetes: KubernetesReader;
  readonly log: (entry: GuestLogEntry) => void;
  /** Milliseconds per call. */
  readonly timeoutMs?: number;
}

/** See {@link WasmPolicy}. */
export class LoadedPolicy implements WasmPolicy {
  readonly kind = "wasm";
  readonly immediate = false;
  readonly implementation: ExecutionMode;
  readonly digest: string;
  readonly metadata?: PolicyMetadata;
  private lastData: { readonly resources: readonly ResourceSnapshot[]; readonly text: string } | undefined;

  constructor(
    readonly id: string,
    private readonly module: PreparedModule,
    private readonly settings: PreparedSettings,
    private readonly protocol: Protocol,
    private readonly surroundings: PolicySurroundings,
  ) {
    this.implementation = module.mode;
    this.digest = module.digest;
    if (module.metadata) this.metadata = module.metadata;
  }

  async evaluate(review: Review, context: EvaluationContext): Promise<Outcome> {
    try {
      return await this.ask(review, context);
    } catch {
      // Nothing below should throw; if it does all the same, that must not become anything but a denial.
      return fail("internal", "internal server error: the policy could not be evaluated");
    }
  }

  private async ask(review: Review, context: EvaluationContext): Promise<Outcome> {
    let data = "";
    if (this.protocol.dataDocument) {
      try {
        data = await this.data(this.protocol.dataDocument, context.signal);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return fail("capability", `cannot perform a request via callback channel: ${reason}`);
      }
    }
    const call = this.protocol.validateCall(review, this.settings, data);
    if ("verdict" in call) return call;
    return this.protocol.outcome(await this.run(call, context, review), review);
  }

  /** Has the module check its settings; undefined when all is well. */
  async loadProblem(): Promise<WasmLoadError | undefined> {
    const call = this.protocol.loadCall(this.settings, this.module.exports);
    return call && this.protocol.loadProblem(await this.run(call));
  }

  /** The data document. It stays the same until the cluster's resources change: printing thousands of them takes the main thread long. */
  private async data(document: NonNullable<Protocol["dataDocument"]>, signal: AbortSignal): Promise<string> {
    const wanted = this.surroundings.caller.contextAwareResources.length > 0;
    const resources = wanted ? await this.resources(document.plurals, signal) : [];
    const before = this.lastData;
    const same =
      before?.resources.length === resources.length &&
      resources.every(({ items }, index) => before.resources[index]?.items === items);
    if (same) return before.text;
    const text = document.text(this.settings, resources);
    this.lastData = { resources, text };
    return text;
  }

  /** All resources of the kinds that the policy may read; no capability is needed for them (spec kubewarden.md 6.5). */
  private resources(plurals: boolean, signal: AbortSignal): Promise<ResourceSnapshot[]> {
    const { caller, capabilities, kubernetes } = this.surroundings;
    const snapshots = capabilities.snapshots(kubernetes, { kinds: caller.contextAwareResources, plurals, signal });
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(new Error("the time for the evaluation is up"));
      if (signal.aborted) giveUp();
      signal.addEventListener("abort", giveUp, { once: true });
      snapshots.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
    });
  }

  private run(call: GuestCall, context?: EvaluationContext, review?: Review): Promise<JobResult> {
    const { pool, limits, caller, capabilities, log, timeoutMs } = this.surroundings;
    const request = review?.kind === "admission" ? review.request.uid : undefined;
    const job: Job = {
      key: this.id,
      module: this.module,
      call,
      limits,
      deadline: context?.deadline ?? Number.POSITIVE_INFINITY,
      ...(timeoutMs !== undefined && { timeoutMs: context ? timeoutMs : timeoutMs * LOAD_PATIENCE }),
      // The signal is made when somebody asks for it; most calls never take so long.
      ...(context && { isAborted: () => context.signal.aborted }),
      onHostCall(message, killed) {
        const circumstances: CapabilityContext = { caller, signal: killed };
        return capabilities.serve(message, circumstances);
      },
      onLog: (message) => log(logEntry(this.id, request, message)),
    };
    return pool.run(job);
  }
}
