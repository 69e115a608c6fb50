/** What an entry says of an Extism plugin. */
import type { ModuleEntry } from "../../config/entry.js";
import { DEFAULT_HTTP_RESPONSE_BYTES } from "../../host-capabilities/http/grant.js";
import { parseHostPatterns } from "../../host-capabilities/http/host-patterns.js";
import { type PluginParts, VARIABLE_BYTES } from "../../wasm/index.js";

/** Undefined for an entry that says nothing of the kind. */
export function pluginParts({ config, allowedHosts, logLevel }: ModuleEntry): PluginParts | undefined {
  if (config === undefined && allowedHosts === undefined && logLevel === undefined) return undefined;
  return {
    environment: { config: config ?? {}, logLevel: logLevel ?? "trace", varBytes: VARIABLE_BYTES },
    ...(allowedHosts && {
      http: { hosts: parseHostPatterns(allowedHosts), maxResponseBytes: DEFAULT_HTTP_RESPONSE_BYTES },
    }),
  };
}
