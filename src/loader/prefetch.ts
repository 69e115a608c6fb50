/** Fetches modules for several processes that load the same configuration at the same time: each is fetched once, and all find it in the download folder. */
import { setTimeout as delay } from "node:timers/promises";
import { type ConfigEntry, loadConfig, type Member, type ModuleEntry } from "../config/index.js";
import { createModuleFetcher, type ModuleLimits, type ModuleShare } from "../fetch/index.js";
import { fetchOptions } from "./fetch-options.js";
import { type LoaderSettings, policiesFile } from "./settings.js";

/** Longest wait of the processes: a registry that does not answer must not delay policies that need none. */
const WITHIN_MS = 60_000;

/** A module that is downloaded. */
export interface Download {
  /** `ModuleAddress.location`. */
  readonly location: string;
  readonly limits: ModuleLimits;
}

/** The modules to be downloaded, those of members included. */
export function downloads(entries: readonly (ConfigEntry | Member["policy"])[]): readonly Download[] {
  return entries.flatMap((entry) => {
    if (entry.kind === "module")
      return entry.module.kind === "file" ? [] : [{ location: entry.module.location, limits: limitsOf(entry) }];
    return entry.kind === "group" ? downloads(entry.members.map(({ policy }) => policy)) : [];
  });
}

/** Limits of an entry's modules. */
export const limitsOf = ({ namespace, moduleLimits }: ModuleEntry): ModuleLimits => ({
  ...(namespace !== undefined && { namespace }),
  ...moduleLimits,
});

/**
 * Creates the prefetch of the settings' modules into the download folder, which several processes are about to load.
 * @param share the share of all processes
 * @throws as {@link fetchOptions} does; the prefetch never rejects: loading a policy reports the failure of its module
 */
export function modulePrefetch(settings: LoaderSettings, share: ModuleShare): () => Promise<void> {
  const options = { ...fetchOptions(settings), share };
  return async () => {
    for (const file of [policiesFile(settings), settings.shadowFile]) {
      const read = file === undefined ? undefined : loadConfig(file);
      const wanted = read?.ok ? downloads(read.config.entries) : [];
      if (wanted.length === 0) continue;
      const fetcher = createModuleFetcher(options);
      const over = new AbortController();
      const limit = delay(WITHIN_MS, undefined, { signal: over.signal }).catch(() => {});
      const fetched = Promise.allSettled(wanted.map(({ location, limits }) => fetcher.file(location, limits)));
      await Promise.race([fetched, limit]);
      over.abort();
      await fetcher.close();
    }
  };
}
