/** Modules for several processes that load the same configuration at the same time: fetched once, found in the download folder by all. */
import { setTimeout as delay } from "node:timers/promises";
import type { Config, ConfigEntry, Member } from "../config/index.js";
import { createModuleFetcher, type ModuleFetcherOptions } from "../fetch/index.js";

/** How long the processes wait for it: a registry that does not answer must not hold up the policies that need none. */
const WITHIN_MS = 60_000;

/** The addresses of modules that are downloaded, those of members included. */
export function downloads(entries: readonly (ConfigEntry | Member["policy"])[]): readonly string[] {
  return entries.flatMap((entry) => {
    if (entry.kind === "module") return entry.module.kind === "file" ? [] : [entry.module.location];
    return entry.kind === "group" ? downloads(entry.members.map(({ policy }) => policy)) : [];
  });
}

/** Fills the download folder. Never rejects: who loads a policy says what is wrong with its module. */
export async function prefetchModules(config: Config, options: ModuleFetcherOptions): Promise<void> {
  const wanted = downloads(config.entries);
  if (wanted.length === 0) return;
  const fetcher = createModuleFetcher({ ...options, warn: () => {} });
  const over = new AbortController();
  const limit = delay(WITHIN_MS, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([Promise.allSettled(wanted.map((location) => fetcher.fetch(location))), limit]);
  over.abort();
  await fetcher.close();
}
