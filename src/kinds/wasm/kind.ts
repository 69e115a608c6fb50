import { CAPABILITY_PATHS, parseCapabilities } from "../../config/capability-patterns.js";
import type { ModuleEntry } from "../../config/entry.js";
import { WasmLoadError, type WasmRuntime } from "../../wasm/index.js";
import type { Needs } from "../../world/needs.js";
import type { ModuleKind } from "../kind.js";
import { LoadError } from "../load-error.js";
import { pluginParts } from "./plugin.js";

/** A page of WASM memory has 64 KiB. */
const PAGES_PER_MIB = 16;
/** Keys of entries that are for Extism plugins. */
const PLUGIN_KEYS = ["config", "allowedHosts", "logLevel"] as const;
const KUBERNETES_CAPABILITIES = "kubernetes/";

/** WASM modules of every guest protocol. */
export const wasmKind = (runtime: WasmRuntime): ModuleKind => ({
  needs: needsOf,
  async policy(entry, files) {
    const plugin = pluginParts(entry, files.plugin);
    try {
      return await runtime.load({
        id: entry.id,
        bytes: files.bytes,
        ...(files.digest !== undefined && { digest: files.digest }),
        ...(files.used && { prepared: files.used }),
        settings: entry.settings,
        contextAwareResources: entry.contextAwareResources,
        hostCapabilities: entry.hostCapabilities,
        warmStart: entry.warmStart,
        ...(entry.timeoutEvalSeconds !== undefined && { timeoutMs: entry.timeoutEvalSeconds * 1000 }),
        ...(entry.memoryLimitMiB !== undefined && { memoryPages: entry.memoryLimitMiB * PAGES_PER_MIB }),
        ...(entry.executionMode !== undefined && { executionMode: entry.executionMode }),
        ...(entry.namespace !== undefined && { namespace: entry.namespace }),
        ...(plugin && { plugin }),
      });
    } catch (cause) {
      if (!(cause instanceof WasmLoadError)) throw cause;
      const place = placeOf(entry, cause.code);
      throw new LoadError(cause.message, [entry.origin.error(place, cause.message)], { cause });
    }
  },
});

/** What of an entry is wrong. */
function placeOf(entry: ModuleEntry, code: WasmLoadError["code"]): string[] {
  if (code === "wasm-settings") return ["settings"];
  const ofPlugins = code === "wasm-plugin" ? PLUGIN_KEYS.filter((key) => entry[key] !== undefined) : [];
  return ofPlugins.length > 0 ? ofPlugins.slice(0, 1) : ["module"];
}

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
