/**
 * Finds further mistakes of invalid entries: modules are fetched, documents and expressions compiled. Nothing of them is served, and no guest runs:
 * an entry with mistakes could give it other settings or permissions than were meant.
 */
import type { Config, ConfigEntry, GroupEntry, ModuleEntry, PolicyEntry, Problem } from "../config/index.js";
import type { Kinds, Warn } from "../kinds/kind.js";
import { LoadError } from "../kinds/load-error.js";
import { prepareDocuments } from "../kinds/resource-entry.js";
import { createUnavailablePolicy } from "../kinds/unavailable-policy.js";
import { coded, unforeseen } from "./coded-problems.js";
import type { LoadingOptions } from "./loader.js";

/** The readable parts of entries with mistakes. */
export const salvagedEntries = (entries: readonly ConfigEntry[]): readonly PolicyEntry[] =>
  entries.flatMap((entry) => (entry.kind === "invalid" && entry.salvaged !== undefined ? [entry.salvaged] : []));

/** Finds every error and warning of them that loading would find; never rejects. */
export async function diagnose(
  { entries }: Pick<Config, "entries">,
  options: Pick<LoadingOptions, "kinds" | "fetchModule">,
): Promise<readonly Problem[]> {
  const diagnosis = new Diagnosis(options);
  for (const entry of salvagedEntries(entries)) await diagnosis.look(entry);
  return diagnosis.problems;
}

/** One run (disposable). */
class Diagnosis {
  readonly problems: Problem[] = [];
  readonly #kinds: Kinds;
  readonly #fetchModule: LoadingOptions["fetchModule"];
  readonly #warn: Warn = (problem) => this.problems.push(coded(problem));

  constructor({ kinds, fetchModule }: Pick<LoadingOptions, "kinds" | "fetchModule">) {
    this.#kinds = kinds;
    this.#fetchModule = fetchModule;
  }

  async look(entry: PolicyEntry): Promise<void> {
    try {
      await this.#load(entry);
    } catch (cause) {
      const problems = cause instanceof LoadError ? cause.problems : [unforeseen(entry, cause)];
      this.problems.push(...problems.map((problem) => coded(problem, cause, entry)));
    }
  }

  async #load(entry: PolicyEntry): Promise<void> {
    switch (entry.kind) {
      case "module":
        return this.#module(entry);
      case "cel":
        this.#kinds.inline.prepare(entry, this.#warn);
        return;
      case "resource":
        prepareDocuments(entry, this.#kinds.documents, this.#warn);
        return;
      case "group":
        return this.#group(entry);
    }
  }

  async #module(entry: ModuleEntry): Promise<void> {
    const files = await this.#fetchModule(entry, this.#warn);
    try {
      if (entry.neverRun) return;
      for (const kind of this.#kinds.modules) if ((await kind.policy(entry, files)) !== undefined) return;
    } finally {
      files.release?.();
    }
  }

  async #group(entry: GroupEntry): Promise<void> {
    for (const { policy } of entry.members) if (policy.kind !== "reference") await this.look(policy);
    if (entry.expression === "") return;
    const names = new Set(entry.members.map(({ name }) => name));
    const members = [...names].map((name) => ({ name, policy: createUnavailablePolicy(name, ""), timeout: 0 }));
    this.#kinds.group.policy(entry, members, this.#warn);
  }
}
