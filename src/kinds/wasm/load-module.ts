import type { ModuleAddress, ModuleEntry } from "../../config/index.js";
import { FetchError, fetchFailureText } from "../../fetch/index.js";
import { LoadError } from "../../loader/load-error.js";
import type { Policy } from "../../policy/index.js";
import { readMetadataOfBytes, WasmLoadError, type WasmRuntime, type WasmSource } from "../../wasm/index.js";
import { compileCelModule } from "../cel-module/policy.js";

/** Gets a module's bytes. Rejects with an error whose message is for the operator. */
export type FetchModule = (address: ModuleAddress) => Promise<Uint8Array>;

/** A page of WASM memory has 64 KiB. */
const PAGES_PER_MIB = 16;

/** The title in the metadata of Kubewarden's module that runs CEL rules. */
const CEL_MODULE_TITLE = "cel-policy";

/** What modules become policies with. */
export interface ModuleWorld {
  readonly runtime: WasmRuntime;
  readonly fetchModule: FetchModule;
  /** Milliseconds an evaluation may take when its entry says nothing; Infinity for no limit. */
  readonly policyTimeout: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** A WASM policy from its entry; rules for Kubewarden's CEL module become a CEL policy where that answers the same. */
export function moduleLoader(world: ModuleWorld): (entry: ModuleEntry) => Promise<Policy> {
  const { runtime, fetchModule } = world;
  return async (entry) => {
    const bytes = await fetchModule(entry.module).catch((cause: unknown) => {
      throw unfetched(entry, cause);
    });
    try {
      const native = nativePolicy(entry, bytes, world);
      if (native !== undefined) return native;
      return await runtime.load({
        id: entry.id,
        bytes,
        settings: entry.settings,
        contextAwareResources: entry.contextAwareResources,
        hostCapabilities: entry.hostCapabilities,
        ...(entry.timeoutEvalSeconds !== undefined && { timeoutMs: entry.timeoutEvalSeconds * 1000 }),
        ...(entry.memoryLimitMiB !== undefined && { memoryPages: entry.memoryLimitMiB * PAGES_PER_MIB }),
        ...(entry.executionMode !== undefined && {
          executionMode: entry.executionMode as NonNullable<WasmSource["executionMode"]>,
        }),
      });
    } catch (cause) {
      if (!(cause instanceof WasmLoadError)) throw cause;
      const place = cause.code === "wasm-settings" ? ["settings"] : ["module"];
      throw new LoadError(cause.message, [entry.origin.error(place, cause.message)], { cause });
    }
  };
}

/** The same policy without its module: 22 MB less, and hundreds of times faster. */
function nativePolicy(entry: ModuleEntry, bytes: Uint8Array, { policyTimeout, now }: ModuleWorld): Policy | undefined {
  const { id, native, executionMode, settings, timeoutEvalSeconds } = entry;
  if (!native || (executionMode !== undefined && executionMode !== "wasi")) return undefined;
  const title = readMetadataOfBytes(bytes)?.annotations["io.kubewarden.policy.title"];
  if (title !== CEL_MODULE_TITLE) return undefined;
  const timeoutMs = timeoutEvalSeconds === undefined ? policyTimeout : timeoutEvalSeconds * 1000;
  return compileCelModule(settings, { id, timeoutMs, now });
}

/** The operator reads the reason, a client only which module: reasons may name paths of this machine. */
function unfetched({ id, module, origin }: ModuleEntry, cause: unknown): LoadError {
  const error =
    cause instanceof FetchError ? cause : new FetchError("unexpected failure", { stage: "download", cause });
  // Fetch messages mark members with `#` (spec kubewarden.md 1.4).
  const reason = fetchFailureText(id.replace("/", "/#"), module.text, error);
  const forClients = module.kind === "file" ? `Error while downloading policy '${id}' from ${module.text}` : reason;
  return new LoadError(forClients, [origin.error(["module"], reason)], { cause });
}
