import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { formatProblem } from "../../src/config/documents/problem.js";
import type { Config, ConfigEntry, PolicyEntry } from "../../src/config/entry.js";
import { type ConfigResult, parseConfig } from "../../src/config/load-config.js";

/** The configuration of a text in which nothing is wrong. */
export function goodConfig(text: string): Config {
  const result = parseConfig(text, "policies.yaml");
  assert.deepEqual(problemsOf(result), []);
  assert.ok(result.ok);
  return result.config;
}

/** The problems as they are shown. */
export function problemsOf(result: ConfigResult): string[] {
  return result.problems.map(formatProblem);
}

/** The problems of a text. */
export function problems(text: string): string[] {
  return problemsOf(parseConfig(text, "p.yaml"));
}

/** An entry that must be there and right. */
export function entryOf<K extends ConfigEntry["kind"]>(config: Config, id: string, kind: K): ConfigEntry & { kind: K } {
  const entry = config.entries.find((candidate) => candidate.id === id);
  assert.equal(entry?.kind, kind);
  return entry as ConfigEntry & { kind: K };
}

/** A folder of files that is gone after the test. */
export function folder(context: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), "config-"));
  context.after(() => rmSync(root, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

/** A policy without the part that knows its place, to be compared with. */
export function plain(entry: PolicyEntry): Record<string, unknown> {
  const { origin: _, ...others } = entry;
  return others;
}
