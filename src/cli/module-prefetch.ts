import { loadConfig } from "../config/index.js";
import type { ModuleShare } from "../fetch/index.js";
import { prefetchModules } from "../loader/prefetch.js";
import { fetchOptions } from "./fetch-options.js";
import type { CommandIo } from "./io.js";
import { policiesFile } from "./policies-file.js";

/**
 * Fetches the modules of the options' policies into the download folder, as often as called: several processes are about to load them.
 * @param share of all processes
 * @throws as {@link fetchOptions} does; what it makes never rejects
 */
export function modulePrefetch(
  values: Readonly<Record<string, unknown>>,
  env: CommandIo["env"],
  share: ModuleShare,
): () => Promise<void> {
  const options = { ...fetchOptions(values, env, () => {}), share };
  return async () => {
    const shadows = typeof values.shadowPolicies === "string" ? [values.shadowPolicies] : [];
    for (const file of [policiesFile(values), ...shadows]) {
      const read = loadConfig(file);
      if (read.ok) await prefetchModules(read.config, options);
    }
  };
}
