import { readFile } from "node:fs/promises";
import { addressPath, type ModuleAddress, type ModuleEntry } from "../config/index.js";
import type { Policy } from "../policy/index.js";
import { WasmLoadError, type WasmRuntime, type WasmSource } from "../wasm/index.js";
import { LoadError } from "./load-error.js";

/** Gets a module's bytes. Rejects with an error whose message is for the operator. */
export type FetchModule = (address: ModuleAddress) => Promise<Uint8Array>;

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

/** The message for clients names the module as the configuration does, never a path of this machine. */
function unfetched(entry: ModuleEntry, cause: unknown): LoadError {
  const reason = cause instanceof Error ? cause.message : "unknown reason";
  const message = `Error while downloading policy '${entry.id}' from ${entry.module.text}`;
  return new LoadError(message, [entry.origin.error(["module"], `${message}: ${reason}`)], { cause });
}

/** Reads modules that are files. */
export async function readLocalModule(address: ModuleAddress): Promise<Uint8Array> {
  return await readFile(addressPath(address));
}
