/** What an entry and its manifest say of an Extism plugin. The entry goes before the manifest, but limits hold where either of them has one. */
import type { ModuleEntry } from "../../config/entry.js";
import { parseHostPatterns } from "../../config/host-patterns.js";
import type { PluginManifest } from "../../config/plugin-manifest/read.js";
import { DEFAULT_HTTP_RESPONSE_BYTES, type HttpGrant, MAX_HTTP_RESPONSE_BYTES } from "../../wasm/host/http/grant.js";
import { MAX_VARIABLE_BYTES, type PluginParts, VARIABLE_BYTES } from "../../wasm/index.js";
import type { ModuleFiles } from "../kind.js";

/** Undefined for an entry that says nothing of the kind, of a module that is no manifest's. */
export function pluginParts(entry: ModuleEntry, plugin: ModuleFiles["plugin"]): PluginParts | undefined {
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

/** A manifest that was downloaded grants nothing by itself; where both name hosts, both must. */
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
