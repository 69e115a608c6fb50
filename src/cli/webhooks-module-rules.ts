/** Rules that the modules of a policies.yaml suggest, for `webhooks`: their metadata are read, without running them. */

import { type ModuleRules, needsModuleRules, type SuggestedRules } from "../cluster/webhooks/from-entries.js";
import { type ConfigEntry, formatProblem, type ModuleEntry } from "../config/index.js";
import { type CommandIo, say } from "../data/command-io.js";
import { errorText } from "../data/error-text.js";
import { createModuleFetcher, type ModuleFetcher } from "../fetch/index.js";
import { fetchOptions } from "../loader/fetch-options.js";
import { LoadError } from "../loader/index.js";
import { moduleFiles } from "../loader/module-files.js";
import type { LoaderSettings } from "../loader/settings.js";
import { readMetadataOfBytes } from "../wasm/index.js";

/**
 * Fetches, as the server would, the modules of entries without rules in the file, and reads their suggested rules.
 * @throws an error that names the file when the sources or the required signatures can't be read
 */
export async function moduleRules(
  entries: readonly ConfigEntry[],
  settings: LoaderSettings,
  { stderr }: CommandIo,
): Promise<ModuleRules> {
  const wanted = modulesOf(entries);
  if (wanted.length === 0) return new Map();
  const options = fetchOptions(settings, (message) => say(stderr, `warning: ${message}`));
  const fetcher = createModuleFetcher(options);
  try {
    const read = wanted.map(async (entry) => [entry.id, await suggested(entry, fetcher)] as const);
    const found = await Promise.all(read);
    return new Map(found.flatMap(([id, rules]) => (rules === undefined ? [] : [[id, rules] as const])));
  } finally {
    await fetcher.close();
  }
}

/** The module entries, including those of members. */
function modulesOf(entries: readonly ConfigEntry[]): readonly ModuleEntry[] {
  return entries.flatMap((entry): readonly ModuleEntry[] => {
    if (entry.kind === "invalid") return [];
    if (entry.kind === "group")
      return modulesOf(entry.members.flatMap(({ policy }) => (policy.kind === "reference" ? [] : [policy])));
    return needsModuleRules(entry) ? [entry] : [];
  });
}

async function suggested(entry: ModuleEntry, fetcher: ModuleFetcher): Promise<SuggestedRules | string | undefined> {
  try {
    const { read, release } = await moduleFiles(entry, fetcher, () => {});
    const { bytes } = await read().finally(release);
    return readMetadataOfBytes(bytes);
  } catch (error) {
    return `has a module whose metadata can't be read: ${reasonOf(error)}`;
  }
}

/** The reason in the words for the operator, not in those for clients. */
function reasonOf(error: unknown): string {
  if (!(error instanceof LoadError)) return errorText(error);
  const [problem] = error.problems;
  if (problem !== undefined) return formatProblem(problem);
  return error.detail ?? errorText(error.cause ?? error);
}
