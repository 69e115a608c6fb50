/** `--shadow-policies`: a second policies file, whose policies are evaluated beside the served ones. */
import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { filesOf, loadConfig, type Problem } from "../config/index.js";
import type { ShadowSet } from "../policy/served/shadow/versions.js";
import type { PolicyLoader } from "./index.js";

/** The result of loading the file. */
interface LoadedShadows {
  readonly problems: readonly Problem[];
  /** Files and folders that were read. */
  readonly files: readonly string[];
  /** Absent when nothing of the file can be used. */
  readonly shadows?: ShadowSet;
}

/**
 * Loads the policies of the file; never rejects. Counts continue over reloads until one of the files of either set has changed.
 * @param served files of the policies that are served
 * @param warn whether to warn of each policy in shadow that needs a cluster
 */
export async function loadShadows(
  file: string,
  served: readonly string[],
  loader: PolicyLoader,
  warn: boolean,
): Promise<LoadedShadows> {
  const read = loadConfig(file);
  if (!read.ok) return { problems: read.problems, files: [file] };
  const { policies, problems, clusterNeeded } = await loader.load(read.config);
  const files = filesOf(read.config);
  const doubts = warn ? clusterNeeded.flatMap(({ warning }) => warning ?? []) : [];
  const version = await digestOf([...served, ...files]);
  return { problems: [...read.problems, ...problems, ...doubts], files, shadows: { policies, version } };
}

/** Digits of a version: enough to distinguish those of one server. */
const DIGITS = 12;

/** The digest of the files' content, the same in all processes; folders only name files. */
async function digestOf(files: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const file of [...new Set(files)].sort()) {
    try {
      if (!statSync(file).isFile()) continue;
      hash.update(file).update("\0");
      // Modules are large, and requests are served meanwhile.
      for await (const piece of createReadStream(file)) hash.update(piece);
      hash.update("\0");
    } catch {
      // A file that was just removed is noticed by the watch, and all is loaded anew.
    }
  }
  return hash.digest("hex").slice(0, DIGITS);
}
