/** Finds test files (spec kyverno.md 8.5). */
import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** The name of Kyverno's test files, unless the caller has another. */
export const DEFAULT_FILE_NAME = "kyverno-test.yaml";

/**
 * The files of that name in a folder and all folders below it, hidden ones too, in order of their names.
 * @throws the file system's error for an unreadable folder
 */
export async function findTestFiles(folder: string, fileName: string = DEFAULT_FILE_NAME): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const found: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await findTestFiles(path, fileName)));
    else if (entry.name === fileName) found.push(path);
  }
  return found;
}
