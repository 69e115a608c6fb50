/** Loads a policies.yaml as it is going to be, to see what comes of a new entry before anything is written. */
import { parseConfig } from "../../config/index.js";
import { type CommandIo, UsageError } from "../../data/command-io.js";
import { createLoader, type LoadedConfig } from "../../loader/index.js";

/**
 * Does something with one entry and those that it needs, loaded from a text.
 * @param text of the whole file
 * @param path of the file, where relative paths in it start
 * @throws UsageError when the text is no configuration
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
