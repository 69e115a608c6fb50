/** Loads modules as policies and runs their calls in worker threads. */

import { availableParallelism } from "node:os";
import { CapabilityPatternError, parseCapabilities } from "../config/capability-patterns.js";
import { stringifyJson } from "../data/json.js";
import { type KubernetesReader, NO_CLUSTER } from "../kubernetes/reader.js";
import { callProtocol } from "./call-protocol.js";
import { WasmLoadError } from "./errors.js";
import type { PreparedSettings, Protocol } from "./guest-protocol.js";
import type { HostCapabilities, ResourceKind } from "./host/host.js";
import type { HttpGrant } from "./host/http/grant.js";
import { DEFAULT_GUEST_LIMITS, DEFAULT_TIMEOUT_MS, type GuestLimits } from "./limits.js";
import { ModuleStore, type NamedModule } from "./module/prepare.js";
import { textPayload } from "./payload.js";
import { LoadedPolicy } from "./policy.js";
import { LONG_START_UNITS } from "./policy-start.js";
import { type PluginEnvironment, printEnvironment } from "./protocols/extism/environment.js";
import { gatekeeper } from "./protocols/gatekeeper/protocol.js";
import { opa } from "./protocols/opa/protocol.js";
import { wasi } from "./protocols/wasi/protocol.js";
import { PAGE_BYTES } from "./rewrite/snapshot/memory-snapshot.js";
import type { ExecutionMode } from "./run/guest/call.js";
import { MainThreadCalls, type MainThreadStatus } from "./run/main-thread/main-thread-calls.js";
import { type Clock, systemClock } from "./run/threads/clock.js";
import { WorkerPool } from "./run/threads/pool.js";
import type { PoolStatus } from "./run/threads/status.js";
import type { GuestLogEntry, WasmPolicy } from "./wasm-policy.js";

/** The protocol of a mode. */
export function protocolOf(mode: ExecutionMode): Protocol {
  return PROTOCOLS[mode];
}

const PROTOCOLS: Readonly<Record<ExecutionMode, Protocol>> = {
  extism: callProtocol((exports) => exports.has("validate_settings")),
  // Every waPC guest checks its settings, whatever its exports.
  "kubewarden-wapc": callProtocol(() => true),
  wasi,
  opa,
  gatekeeper,
};

const HIDDEN_SETTING = "the setting `kubernetes` is hidden from the policy: the cluster's resources stand in its place";

/** Options of a runtime. */
export interface WasmRuntimeOptions {
  /** Calls that run side by side. */
  readonly workers: number;
  /** Processors that this process may use. Default: those that it may run on. */
  readonly processors?: number;
  /** Milliseconds per call unless the policy says otherwise; null for no limit. Default {@link DEFAULT_TIMEOUT_MS}. */
  readonly defaultTimeoutMs?: number | null;
  readonly limits?: Partial<GuestLimits>;
  /** Receives guests' log lines. */
  readonly log: (entry: GuestLogEntry) => void;
  /** The host capabilities for guests. */
  readonly capabilities: HostCapabilities;
  /** Reader of the resources in `contextAwareResources` for Rego policies. Default: no cluster, and such policies fail. */
  readonly kubernetes?: KubernetesReader;
  /** False: no policy's instances start from a captured state. Default true. */
  readonly warmStart?: boolean;
  /** Units of fuel of a start that is worth a state. Default {@link LONG_START_UNITS}. */
  readonly longStartUnits?: number;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** A module to be loaded as a policy. */
export interface WasmSource {
  /** `<name>`, or `<group>/<member>`. */
  readonly id: string;
  readonly bytes: Uint8Array;
  /** `sha256:<hex>` of the bytes, where that is known. */
  readonly digest?: string;
  /** Called when the bytes are no longer needed: then the runtime owns them, and may transfer them to a thread. Absent: the caller keeps them. */
  readonly prepared?: () => void;
  /** A map, in the value model of `data/json`. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Milliseconds; absent: the runtime's default. */
  readonly timeoutMs?: number;
  /** Most pages (64 KiB each) of its memory; absent: the runtime's limit. */
  readonly memoryPages?: number;
  readonly contextAwareResources?: readonly ResourceKind[];
  /** Patterns of spec kubewarden.md 1.5; none: nothing is allowed. */
  readonly hostCapabilities?: readonly string[];
  /** The only namespace whose objects it may read; absent: all that it was granted. */
  readonly namespace?: string;
  /** False: each of its instances starts cold. */
  readonly warmStart?: boolean;
  /** The kind of the module, when its metadata lacks it or has it wrong. */
  readonly executionMode?: ExecutionMode;
  /** Parts of an Extism plugin; with them, a module of another kind is refused. */
  readonly plugin?: PluginParts;
}

/** Parts of an Extism plugin beside those of every module. */
export interface PluginParts {
  readonly environment: PluginEnvironment;
  /** Its HTTP requests; absent: none. */
  readonly http?: HttpGrant;
  /** Limits of the manifest: they hold beside those of {@link WasmSource} and the runtime. */
  readonly timeoutMs?: number;
  readonly memoryPages?: number;
  /** Modules beside the main one. */
  readonly linked?: readonly NamedModule[];
}

/** Loads modules and runs them. */
export interface WasmRuntime {
  /**
   * Prepares the module (the same bytes once, however many policies use them) and makes it check its settings.
   * @throws WasmLoadError
   */
  load(source: WasmSource): Promise<WasmPolicy>;
  /** Called when the process may have requests to answer: from then on modules are prepared on a thread. */
  serve(): void;
  status(): RuntimeStatus;
  /** Ends all threads. Calls under way are answered as failures. */
  close(): void;
}

/** Numbers for metrics. */
export interface RuntimeStatus extends PoolStatus {
  /** Calls on the main thread. */
  readonly inline: MainThreadStatus;
}

/** Makes a runtime. Threads start with the first call. */
export function createWasmRuntime(options: WasmRuntimeOptions): WasmRuntime {
  const limits: GuestLimits = { ...DEFAULT_GUEST_LIMITS, ...options.limits };
  const clock = options.clock ?? systemClock;
  const processors = options.processors ?? availableParallelism();
  const pool = new WorkerPool(options.workers, clock, { ...options, processors });
  const inline = new MainThreadCalls(() => clock.now(), processors);
  const store = new ModuleStore();
  let states = 0;
  const fallback =
    options.defaultTimeoutMs === undefined ? DEFAULT_TIMEOUT_MS : (options.defaultTimeoutMs ?? undefined);

  return {
    async load(source) {
      const grants = grantsOf(source);
      const { plugin } = source;
      const memoryPages = narrowed(source.memoryPages ?? limits.memoryPages, plugin?.memoryPages);
      const { bytes, digest, executionMode, prepared } = source;
      const about = { isOwn: prepared !== undefined, ...(digest !== undefined && { digest }) };
      const module = await store.prepare(bytes, memoryPages, executionMode, plugin?.linked, about);
      prepared?.();
      if (plugin && module.mode !== "extism") throw notAPlugin(module.mode);
      const settings: PreparedSettings = {
        value: source.settings,
        bytes: textPayload(stringifyJson(source.settings)),
        ...(plugin && { environment: textPayload(printEnvironment(plugin.environment)) }),
      };
      const timeoutMs = narrowed(source.timeoutMs ?? fallback, plugin?.timeoutMs);
      const policy = new LoadedPolicy(source.id, {
        module,
        settings,
        protocol: protocolOf(module.mode),
        pool,
        inline,
        limits: { ...limits, memoryPages },
        caller: {
          policy: source.id,
          capabilities: grants,
          memoryBytes: memoryPages * PAGE_BYTES,
          contextAwareResources: source.contextAwareResources ?? [],
          ...(source.namespace !== undefined && { namespace: source.namespace }),
          ...(plugin?.http && { http: plugin.http }),
        },
        capabilities: options.capabilities,
        kubernetes: options.kubernetes ?? NO_CLUSTER,
        log: options.log,
        warmStart: (source.warmStart ?? true) && (options.warmStart ?? true),
        longStartUnits: options.longStartUnits ?? LONG_START_UNITS,
        now: () => clock.now(),
        // Prepared modules count up from 1.
        newId: () => --states,
        ...(timeoutMs !== undefined && { timeoutMs }),
      });
      await inline.load(module.mode);
      const problem = await policy.loadProblem();
      if (problem) throw problem;
      if (module.mode === "opa" && hidesSetting(source))
        options.log({ policy: source.id, level: "warn", message: HIDDEN_SETTING, fields: {} });
      return policy;
    },
    serve: () => store.leaveMainThread(),
    status: () => ({ ...pool.status(), inline: inline.status }),
    close() {
      pool.close();
      store.close();
    },
  };
}

/** Whether an OPA policy has a setting at the key of the cluster's resources (spec kubewarden.md 6.5). */
function hidesSetting({ settings, contextAwareResources = [] }: WasmSource): boolean {
  return contextAwareResources.length > 0 && Object.hasOwn(settings, "kubernetes");
}

/** The smaller one of a limit and an optional other one. */
function narrowed(limit: number, other: number | undefined): number;
function narrowed(limit: number | undefined, other: number | undefined): number | undefined;
function narrowed(limit: number | undefined, other: number | undefined): number | undefined {
  return limit === undefined || other === undefined ? (limit ?? other) : Math.min(limit, other);
}

const notAPlugin = (mode: ExecutionMode): WasmLoadError =>
  new WasmLoadError(
    "wasm-plugin",
    `the module is of the kind ${mode}: config, allowedHosts, logLevel and manifests are for Extism modules`,
  );

function grantsOf({ id, hostCapabilities }: WasmSource) {
  try {
    return parseCapabilities(hostCapabilities ?? []);
  } catch (error) {
    if (!(error instanceof CapabilityPatternError)) throw error;
    throw new WasmLoadError(
      "wasm-capability-pattern",
      `bootstrap failure: invalid hostCapabilities pattern for policy ${id}: ${error.message}`,
      { cause: error },
    );
  }
}
