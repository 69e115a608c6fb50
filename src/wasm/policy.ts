/** A loaded module as a policy. */
import type { Caller, CapabilityContext, HostCapabilities } from "../host-capabilities/host.js";
import type { Outcome } from "../policy/outcome.js";
import type { EvaluationContext } from "../policy/policy.js";
import type { Review } from "../policy/review.js";
import type { GuestLimits } from "./limits.js";
import { logEntry } from "./log.js";
import type { PolicyMetadata } from "./module/metadata.js";
import type { PreparedModule } from "./module/prepare.js";
import type { Job, JobResult } from "./pool/job.js";
import type { WorkerPool } from "./pool/pool.js";
import type { PreparedSettings, Protocol } from "./protocol.js";
import type { GuestLogEntry, WasmPolicy } from "./runtime.js";
import type { ExecutionMode, GuestCall } from "./worker/messages.js";

/** What a policy shares with its runtime. */
export interface PolicySurroundings {
  readonly pool: WorkerPool;
  readonly limits: GuestLimits;
  readonly caller: Caller;
  readonly capabilities: HostCapabilities;
  readonly log: (entry: GuestLogEntry) => void;
  /** Milliseconds per call. */
  readonly timeoutMs?: number;
}

/** See {@link WasmPolicy}. */
export class LoadedPolicy implements WasmPolicy {
  readonly kind = "wasm";
  readonly implementation: ExecutionMode;
  readonly digest: string;
  readonly metadata?: PolicyMetadata;

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
    const call = this.protocol.validateCall(review, this.settings);
    if ("verdict" in call) return call;
    return this.protocol.outcome(await this.run(call, context.deadline, context.signal), review);
  }

  /** Has the module check its settings; undefined when they are valid. */
  async settingsProblem(): Promise<string | undefined> {
    const call = this.protocol.settingsCall(this.settings, this.module.exports);
    return call && this.protocol.settingsProblem(await this.run(call, Number.POSITIVE_INFINITY));
  }

  private run(call: GuestCall, deadline: number, signal?: AbortSignal): Promise<JobResult> {
    const { pool, limits, caller, capabilities, log, timeoutMs } = this.surroundings;
    const job: Job = {
      key: this.id,
      module: this.module,
      mode: this.module.mode,
      call,
      limits,
      deadline,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(signal && { signal }),
      onHostCall(message, killed) {
        const circumstances: CapabilityContext = { caller, signal: killed };
        return capabilities.serve(message, circumstances);
      },
      onLog: (message) => log(logEntry(this.id, message)),
    };
    return pool.run(job);
  }
}
