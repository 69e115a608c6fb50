/** `--shadow-policies`: a second policies file, whose policies are asked beside those that are served. */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { loadConfig, type Problem } from "../config/index.js";
import type { PolicySet } from "../evaluation/policy-set.js";
import { withShadows } from "../evaluation/shadow/versions.js";
import type { ClusterNeed, PolicyLoader } from "../loader/index.js";
import { filesOf } from "./files-of.js";

/** What became of it. */
export interface ShadowedPolicies {
  /** Those that are served, with their shadows. */
  readonly policies: PolicySet;
  readonly problems: readonly Problem[];
  /** Files and folders that were read for the shadows. */
  readonly files: readonly string[];
  /** Policies in shadow that cannot do without a cluster. */
  readonly clusterNeeded: readonly ClusterNeed[];
}

/**
 * Puts the policies of a file in the shadow of those that are served; never rejects. When nothing of the file can be used nothing is in shadow. Counts go on over
 * reloads until one of the files of either set has changed.
 * @param files of the policies that are served
 */
export async function withShadowPolicies(
  policies: PolicySet,
  files: readonly string[],
  file: string,
  loader: PolicyLoader,
): Promise<ShadowedPolicies> {
  const read = loadConfig(file);
  if (!read.ok) return { policies, problems: read.problems, files: [file], clusterNeeded: [] };
  const loaded = await loader.load(read.config, policies.generation);
  const own = filesOf(read.config);
  const version = digestOf([...files, ...own]);
  return {
    policies: withShadows(policies, loaded.policies, version),
    problems: [...read.problems, ...loaded.problems],
    files: own,
    clusterNeeded: loaded.clusterNeeded,
  };
}

/** Digits of a version: enough to tell those of one server apart. */
const DIGITS = 12;

/** Of what is in the files; folders among them only name files. The same in all processes that see the same files. */
function digestOf(files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of [...new Set(files)].sort()) {
    try {
      if (statSync(file).isFile()) hash.update(file).update("\0").update(readFileSync(file)).update("\0");
    } catch {
      // One that has just gone is noticed, and all is loaded anew.
    }
  }
  return hash.digest("hex").slice(0, DIGITS);
}
