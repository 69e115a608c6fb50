/** Modules for several processes that load the same configuration at the same time: fetched once, found in the download folder by all. */
import { setTimeout as delay } from "node:timers/promises";
import type { Config, ConfigEntry, Member, ModuleEntry } from "../config/index.js";
import { createModuleFetcher, type ModuleFetcherOptions, type ModuleLimits } from "../fetch/index.js";

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

/** Fills the download folder. Never rejects: who loads a policy says what is wrong with its module. */
export async function prefetchModules(config: Config, options: ModuleFetcherOptions): Promise<void> {
  const wanted = downloads(config.entries);
  if (wanted.length === 0) return;
  const fetcher = createModuleFetcher({ ...options, warn: () => {} });
  const over = new AbortController();
  const limit = delay(WITHIN_MS, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([Promise.allSettled(wanted.map(({ location, limits }) => fetcher.file(location, limits))), limit]);
  over.abort();
  await fetcher.close();
}
