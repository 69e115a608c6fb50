import type { ModuleEntry } from "../../config/entry.js";
import { CAPABILITY_PATHS, parseCapabilities } from "../../host-capabilities/patterns.js";
import { WasmLoadError, type WasmRuntime } from "../../wasm/index.js";
import type { Needs } from "../../world/needs.js";
import type { ModuleKind } from "../kind.js";
import { LoadError } from "../load-error.js";

/** A page of WASM memory has 64 KiB. */
const PAGES_PER_MIB = 16;
const KUBERNETES_CAPABILITIES = "kubernetes/";

/** WASM modules of every guest protocol. */
export const wasmKind = (runtime: WasmRuntime): ModuleKind => ({
  needs: needsOf,
  async policy(entry, bytes) {
    try {
      return await runtime.load({
        id: entry.id,
        bytes,
        settings: entry.settings,
        contextAwareResources: entry.contextAwareResources,
        hostCapabilities: entry.hostCapabilities,
        warmStart: entry.warmStart,
        ...(entry.timeoutEvalSeconds !== undefined && { timeoutMs: entry.timeoutEvalSeconds * 1000 }),
        ...(entry.memoryLimitMiB !== undefined && { memoryPages: entry.memoryLimitMiB * PAGES_PER_MIB }),
        ...(entry.executionMode !== undefined && { executionMode: entry.executionMode }),
      });
    } catch (cause) {
      if (!(cause instanceof WasmLoadError)) throw cause;
      const place = cause.code === "wasm-settings" ? ["settings"] : ["module"];
      throw new LoadError(cause.message, [entry.origin.error(place, cause.message)], { cause });
    }
  },
});

function needsOf({ contextAwareResources, hostCapabilities }: ModuleEntry): Needs {
  const grants = parseCapabilities(hostCapabilities);
  const lists = contextAwareResources.length > 0;
  const granted = CAPABILITY_PATHS.some((path) => path.startsWith(KUBERNETES_CAPABILITIES) && grants.allows(path));
  // `*` grants everything, and is the controller's default: it does not say that the guest will ask for resources.
  const named = hostCapabilities.some((pattern) => pattern.startsWith(KUBERNETES_CAPABILITIES));
  const requires = [
    ...(lists ? [{ what: "the kinds in `contextAwareResources`" }] : []),
    ...(named ? [{ what: "its Kubernetes host capabilities" }] : []),
  ];
  return { asks: lists || granted, requires, parameters: [] };
}
