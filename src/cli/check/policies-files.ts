import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../../data/command-io.js";
import { type LoaderSettings, policiesFile } from "../../loader/settings.js";

/** Deepest folder below one that is named. */
const MAX_DEPTH = 16;
/** Most configurations of one run: more are a wrong folder. */
const MAX_FILES = 1000;
/** Folders that hold what others have made. */
const PASSED_OVER: ReadonlySet<string> = new Set(["node_modules"]);
const NAMES: ReadonlySet<string> = new Set(["policies.yaml", "policies.yml"]);

/**
 * The configurations that are named: files, and of folders every policies.yaml and policies.yml in them and below. `-` stays what it is.
 * @throws UsageError
 */
export function policiesFiles(named: readonly string[], settings: LoaderSettings): readonly string[] {
  const start = named.length === 0 ? [policiesFile(settings)] : named;
  const files = start.flatMap((name) => {
    if (name === "-" || !isFolder(name)) return [name];
    const found = inFolder(name, 0);
    if (found.length === 0) throw new UsageError(`${name}: there is no policies.yaml or policies.yml in this folder`);
    return found;
  });
  if (files.length > MAX_FILES) throw new UsageError(`found ${files.length} configurations, at most ${MAX_FILES}`);
  return [...new Set(files)];
}

/** What isn't there is said when it is read. */
function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function inFolder(folder: string, depth: number): readonly string[] {
  if (depth > MAX_DEPTH) return [];
  const entries = readdirSync(folder, { withFileTypes: true }).sort((left, right) => (left.name < right.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return NAMES.has(entry.name) ? [path] : [];
    const isOurs = entry.isDirectory() && !entry.name.startsWith(".") && !PASSED_OVER.has(entry.name);
    return isOurs ? inFolder(path, depth + 1) : [];
  });
}
