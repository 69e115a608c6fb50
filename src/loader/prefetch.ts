/** Modules for several processes that load the same configuration at the same time: fetched once, found in the download folder by all. */
import { setTimeout as delay } from "node:timers/promises";
import { type ConfigEntry, loadConfig, type Member, type ModuleEntry } from "../config/index.js";
import { createModuleFetcher, type ModuleLimits, type ModuleShare } from "../fetch/index.js";
import { fetchOptions } from "./fetch-options.js";
import { type LoaderSettings, policiesFile } from "./settings.js";

/** How long the processes wait for it: a registry that does not answer must not hold up the policies that need none. */
const WITHIN_MS = 60_000;

/** A module that is downloaded. */
export interface Download {
  /** `ModuleAddress.location`. */
  readonly location: string;
  readonly limits: ModuleLimits;
}

/** The modules that are downloaded, those of members included. */
export function downloads(entries: readonly (ConfigEntry | Member["policy"])[]): readonly Download[] {
  return entries.flatMap((entry) => {
    if (entry.kind === "module")
      return entry.module.kind === "file" ? [] : [{ location: entry.module.location, limits: limitsOf(entry) }];
    return entry.kind === "group" ? downloads(entry.members.map(({ policy }) => policy)) : [];
  });
}

/** What the modules of an entry are held to. */
export const limitsOf = ({ namespace, moduleLimits }: ModuleEntry): ModuleLimits => ({
  ...(namespace !== undefined && { namespace }),
  ...moduleLimits,
});

/**
 * Makes what fetches the modules of the settings' policies into the download folder, as often as called: several processes are about to load them.
 * @param share of all processes
 * @throws as {@link fetchOptions} does; what it makes never rejects: who loads a policy says what is wrong with its module
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
