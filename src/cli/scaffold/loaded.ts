/** Loads a policies.yaml with a new entry, to test it before anything is written. */
import { parseConfig } from "../../config/index.js";
import { type CommandIo, UsageError } from "../../data/command-io.js";
import { createLoader, type LoadedConfig } from "../../loader/index.js";

/**
 * Runs work with one entry and those that it needs, loaded from a text.
 * @param text the text of the whole file
 * @param path the path of the file, for its relative paths
 * @throws UsageError when the text is not a configuration
 */
export async function withLoaded<T>(
  text: string,
  path: string,
  env: CommandIo["env"],
  work: (loaded: LoadedConfig, policyTimeout: number) => Promise<T>,
): Promise<T> {
  const read = parseConfig(text, path);
  if (!read.ok) throw new UsageError(read.message);
  const loader = createLoader({ environment: env });
  try {
    return await work(await loader.load(read.config), loader.policyTimeout);
  } finally {
    loader.close();
  }
}
