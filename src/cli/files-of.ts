/** Which files a configuration is made of. */
import { addressPath, type Config, type ConfigEntry } from "../config/index.js";

/** Files and folders that were read for a configuration, and the local modules of its entries: to be looked after. */
export function filesOf({ files, entries }: Config): string[] {
  return [...files, ...entries.flatMap(moduleFiles)];
}

/** The local module files of an entry and its members: they are looked after like the configuration. */
function moduleFiles(entry: ConfigEntry): string[] {
  if (entry.kind === "module") return entry.module.kind === "file" ? [addressPath(entry.module)] : [];
  if (entry.kind !== "group") return [];
  return entry.members.flatMap(({ policy }) => (policy.kind === "reference" ? [] : moduleFiles(policy)));
}
