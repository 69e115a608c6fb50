/** `--shadow-policies`: a second policies file, whose policies are asked beside those that are served. */
import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { loadConfig, type Problem } from "../config/index.js";
import type { PolicyLoader } from "../loader/index.js";
import { createPolicySet, type ServedPolicy } from "../policy/served/policy-set.js";
import { withShadows } from "../policy/served/shadow/versions.js";
import { filesOf } from "./files-of.js";
import type { LoadResult } from "./policy-source.js";

/**
 * A result with the policies of the file to be put in the shadow of those that are served; never rejects. When nothing of the file can be used nothing is in shadow.
 * Counts go on over reloads until one of the files of either set has changed.
 * @param warn whether policies in shadow that cannot do without a cluster are told, each with a warning
 */
export async function withShadowFile(
  result: LoadResult,
  file: string,
  loader: PolicyLoader,
  warn: boolean,
): Promise<LoadResult> {
  const read = loadConfig(file);
  const more = (problems: readonly Problem[], files: readonly string[]): LoadResult => ({
    ...result,
    files: [...result.files, ...files],
    problems: [...result.problems, ...problems],
    errors: result.errors + problems.filter(({ severity }) => severity === "error").length,
  });
  if (!read.ok) return more(read.problems, [file]);
  const loaded = await loader.load(read.config, result.policies.generation);
  const files = filesOf(read.config);
  const doubts = warn ? loaded.clusterNeeded.flatMap(({ warning }) => warning ?? []) : [];
  const shadows = { policies: loaded.policies, version: await digestOf([...result.files, ...files]) };
  return { ...more([...read.problems, ...loaded.problems, ...doubts], files), shadows };
}

/** The result of files alone, with the policies that are in shadow. */
export function joined(result: LoadResult): LoadResult {
  const { policies } = result;
  const entries = shadowed([...policies.entries.values()], result);
  return { ...result, policies: createPolicySet(entries, policies.generation) };
}

/** Policies with those that a result has in shadow. */
export function shadowed(
  served: readonly ServedPolicy[],
  { shadows }: Pick<LoadResult, "shadows">,
): readonly ServedPolicy[] {
  return shadows === undefined ? served : withShadows(served, shadows);
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
