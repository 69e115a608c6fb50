import { CAPABILITY_PATHS, parseCapabilities } from "../../config/capability-patterns.js";
import type { ModuleEntry } from "../../config/entry.js";
import { parseHostPatterns } from "../../config/host-patterns.js";
import type { PluginManifest } from "../../config/plugin-manifest/read.js";
import { DEFAULT_HTTP_RESPONSE_BYTES, type HttpGrant, MAX_HTTP_RESPONSE_BYTES } from "../../wasm/host/http/grant.js";
import {
  MAX_VARIABLE_BYTES,
  type PluginParts,
  VARIABLE_BYTES,
  WasmLoadError,
  type WasmRuntime,
} from "../../wasm/index.js";
import type { Needs } from "../../world/needs.js";
import type { ModuleContents, ModuleKind } from "../kind.js";
import { LoadError } from "../load-error.js";

// The settings of an Extism plugin in an entry and its manifest. The entry goes before the manifest, but limits of either apply.

/** The plugin's settings; undefined for an entry without any whose module has no manifest. */
function pluginParts(entry: ModuleEntry, plugin: ModuleContents["plugin"]): PluginParts | undefined {
  const { config, logLevel, allowedHosts } = entry;
  if (plugin === undefined && config === undefined && logLevel === undefined && allowedHosts === undefined)
    return undefined;
  const { manifest, linked } = plugin ?? {};
  const http = httpOf(allowedHosts, manifest);
  return {
    environment: {
      config: { ...manifest?.config, ...config },
      logLevel: logLevel ?? "trace",
      varBytes: Math.min(manifest?.maxVarBytes ?? VARIABLE_BYTES, MAX_VARIABLE_BYTES),
    },
    ...(http && { http }),
    ...(manifest?.timeoutMs !== undefined && { timeoutMs: manifest.timeoutMs }),
    ...(manifest?.maxPages !== undefined && { memoryPages: manifest.maxPages }),
    ...(linked && linked.length > 0 && { linked }),
  };
}

/** The allowed hosts: a downloaded manifest grants nothing by itself; where both name hosts, both must. */
function httpOf(
  allowedHosts: readonly string[] | undefined,
  manifest: PluginManifest | undefined,
): HttpGrant | undefined {
  const lists = [allowedHosts, manifest?.allowedHosts].filter((list) => list !== undefined);
  if (lists.length === 0 || (allowedHosts === undefined && manifest?.isLocal === false)) return undefined;
  const patterns = lists.map(parseHostPatterns);
  return {
    hosts: { allows: (hostname) => patterns.every((each) => each.allows(hostname)) },
    maxResponseBytes: Math.min(manifest?.maxHttpResponseBytes ?? DEFAULT_HTTP_RESPONSE_BYTES, MAX_HTTP_RESPONSE_BYTES),
  };
}

/** A page of WASM memory has 64 KiB. */
const PAGES_PER_MIB = 16;
/** Keys of entries that are for Extism plugins. */
const PLUGIN_KEYS = ["config", "allowedHosts", "logLevel"] as const;
const KUBERNETES_CAPABILITIES = "kubernetes/";

/** WASM modules of every guest protocol. */
export const wasmKind = (runtime: WasmRuntime): ModuleKind => ({
  needs: needsOf,
  async policy(entry, files) {
    const contents = await files.read();
    const plugin = pluginParts(entry, contents.plugin);
    // That of a manifest is not its main module's.
    const digest = contents.plugin === undefined ? files.digest : undefined;
    try {
      return await runtime.load({
        id: entry.id,
        bytes: contents.bytes,
        ...(digest !== undefined && { digest }),
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

/** The key of an entry that has the error. */
function placeOf(entry: ModuleEntry, code: WasmLoadError["code"]): string[] {
  if (code === "wasm-settings") return ["settings"];
  const ofPlugins = code === "wasm-plugin" ? PLUGIN_KEYS.filter((key) => entry[key] !== undefined) : [];
  return ofPlugins.length > 0 ? ofPlugins.slice(0, 1) : ["module"];
}

function needsOf({ contextAwareResources, hostCapabilities }: ModuleEntry): Needs {
  const grants = parseCapabilities(hostCapabilities);
  const lists = contextAwareResources.length > 0;
  const granted = CAPABILITY_PATHS.some((path) => path.startsWith(KUBERNETES_CAPABILITIES) && grants.allows(path));
  // `*` grants everything, and is the controller's default: it does not mean that the guest will ask for resources.
  const named = hostCapabilities.some((pattern) => pattern.startsWith(KUBERNETES_CAPABILITIES));
  const requires = [
    ...(lists ? [{ what: "the kinds in `contextAwareResources`" }] : []),
    ...(named ? [{ what: "its Kubernetes host capabilities" }] : []),
  ];
  return { asks: lists || granted, requires, parameters: [] };
}
