/** Policies of a policies.yaml, by their ids: of any kind, groups and their members among them. */
import type { Config, ConfigEntry } from "../../config/index.js";

/** The configuration with nothing but what these ids need. */
export function onlyNeeded(config: Config, ids: readonly string[]): Config {
  const entries = new Map(config.entries.map((entry) => [entry.id, entry]));
  const needed = new Set<ConfigEntry>();
  const take = (id: string): void => {
    const entry = entries.get(id) ?? entries.get(id.slice(0, Math.max(id.indexOf("/"), 0)));
    if (entry === undefined || needed.has(entry)) return;
    needed.add(entry);
    if (entry.kind !== "group") return;
    for (const { policy } of entry.members) if (policy.kind === "reference") take(policy.id);
  };
  for (const id of ids) take(id);
  return { ...config, entries: config.entries.filter((entry) => needed.has(entry)) };
}
