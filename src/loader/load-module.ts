import type { ModuleAddress, ModuleEntry } from "../config/index.js";
import { FetchError, fetchFailureText } from "../fetch/index.js";
import type { Policy } from "../policy/index.js";
import { WasmLoadError, type WasmRuntime, type WasmSource } from "../wasm/index.js";
import { LoadError } from "./load-error.js";

/** Gets a module's bytes. Rejects with an error whose message is for the operator. */
export type FetchModule = (address: ModuleAddress) => Promise<Uint8Array>;

/** A page of WASM memory has 64 KiB. */
const PAGES_PER_MIB = 16;

/** A WASM policy from its entry. */
export function moduleLoader(runtime: WasmRuntime, fetchModule: FetchModule): (entry: ModuleEntry) => Promise<Policy> {
  return async (entry) => {
    const bytes = await fetchModule(entry.module).catch((cause: unknown) => {
      throw unfetched(entry, cause);
    });
    try {
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

/** The operator reads the reason, a client only which module: reasons may name paths of this machine. */
function unfetched({ id, module, origin }: ModuleEntry, cause: unknown): LoadError {
  const error =
    cause instanceof FetchError ? cause : new FetchError("unexpected failure", { stage: "download", cause });
  // Fetch messages mark members with `#` (spec kubewarden.md 1.4).
  const reason = fetchFailureText(id.replace("/", "/#"), module.text, error);
  const forClients = module.kind === "file" ? `Error while downloading policy '${id}' from ${module.text}` : reason;
  return new LoadError(forClients, [origin.error(["module"], reason)], { cause });
}
