/** `--shadow-policies`: a second policies file, whose policies are asked beside those that are served. */
import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { filesOf, loadConfig, type Problem } from "../config/index.js";
import type { ShadowSet } from "../policy/served/shadow/versions.js";
import type { PolicyLoader } from "./index.js";

/** What the file has come to. */
interface LoadedShadows {
  readonly problems: readonly Problem[];
  /** Files and folders that were read. */
  readonly files: readonly string[];
  /** Absent: nothing of the file can be used. */
  readonly shadows?: ShadowSet;
}

/**
 * Loads the policies of the file; never rejects. Counts go on over reloads until one of the files of either set has changed.
 * @param served files of the policies that are served
 * @param warn whether policies in shadow that cannot do without a cluster are told, each with a warning
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

/** Digits of a version: enough to tell those of one server apart. */
const DIGITS = 12;

/** Of what is in the files; folders among them only name files. The same in all processes that see the same files. */
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
      // One that has just gone is noticed, and all is loaded anew.
    }
  }
  return hash.digest("hex").slice(0, DIGITS);
}
