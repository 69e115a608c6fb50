/** Loads policies by settings: those of files and those of a cluster as one set; the server, the commands and the library share it. */

import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { resolve } from "node:path";
import {
  type ClusterDelta,
  ClusterDocuments,
  type ClusterEntryOptions,
  ClusterEntryReader,
  type LoadedPolicyReport,
} from "../config/from-cluster/index.js";
import { type ConfigResult, filesOf, formatProblem, loadConfig, type Problem } from "../config/index.js";
import { createPolicySet, type PolicySet, type ServedPolicy } from "../policy/served/policy-set.js";
import { type ShadowSet, withShadows } from "../policy/served/shadow/versions.js";
import type { ClusterAccess } from "../world/cluster.js";
import { type ClusterProblem, clusterProblem } from "./cluster-access.js";
import { RolledOutPolicies } from "./from-cluster/rolled-out-policies.js";
import { type ClusterNeed, createLoader, type LoaderOptions, type PolicyLoader } from "./index.js";
import { givenFile, type LoaderSettings, policiesFile } from "./settings.js";

// `--shadow-policies`: a second policies file, whose policies are evaluated beside the served ones.

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
async function loadShadows(
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

/** Policies that will fail without a cluster. */
export interface WithoutCluster extends ClusterProblem {
  readonly needing: readonly ClusterNeed[];
}

/** The result of loading. */
export interface LoadResult {
  readonly file: string;
  readonly policies: PolicySet;
  /** Files and folders that were read. */
  readonly files: readonly string[];
  /** Every error and warning in order of place. */
  readonly problems: readonly Problem[];
  /** The number of errors among them. */
  readonly errors: number;
  /** The reason why nothing of the file can be used; then there are no policies. */
  readonly fatal?: string;
  /** Set when some of the policies will fail: they need a cluster, and none is found. */
  readonly withoutCluster?: WithoutCluster;
  /** Policies for the shadow of all served ones, those of a cluster included. */
  readonly shadows?: ShadowSet;
  /** The part from a cluster; absent: no policies come from one. */
  readonly fromCluster?: FromCluster;
}

/** The part of what was loaded that came from a cluster. */
export interface FromCluster {
  /** Whether a policy is the cluster's: such a policy keeps no others from being served. */
  readonly has: (id: string) => boolean;
  /** States of the policies that were loaded anew since the last ones that were served; after a delta that holds everything, of all. */
  readonly reports: readonly LoadedPolicyReport[];
  /** Must be called when all of this is served. */
  readonly taken: () => void;
}

/** The threads and caches of loading. Loads any number of times. */
export interface PolicySource {
  readonly policyTimeout: number;
  /** The cluster that policies look things up in; undefined without one. */
  readonly access: ClusterAccess | undefined;
  /** Reads the files anew. */
  load(generation?: number): Promise<LoadResult>;
  /** Absent: no policies come from a cluster. */
  readonly cluster?: ClusterSource;
  close(): void;
}

/** Policies that come from a cluster, beside those of the files. */
export interface ClusterSource {
  /**
   * Applies changes of the cluster, and loads them; the policies of files stay as served.
   * @returns undefined when the delta begins at another version than the present one
   */
  load(delta: ClusterDelta, generation: number): Promise<LoadResult | undefined>;
  /** Called when loading an empty delta would give other policies than before, such as one whose module has arrived; there is one listener. */
  wanted: () => void;
}

// Policies of files and of a cluster as one set: both may change, each by itself.

/**
 * Creates the source of both.
 * @param loadFile reads the files anew
 */
function createClusterSource(
  loadFile: (generation: number) => Promise<LoadResult>,
  loader: PolicyLoader,
  options: ClusterEntryOptions,
): Pick<PolicySource, "load" | "close"> & { readonly cluster: ClusterSource } {
  const documents = new ClusterDocuments();
  const reader = new ClusterEntryReader(options);
  const cluster: ClusterSource = {
    wanted: () => {},
    load: (delta, generation) =>
      inTurn(async () => {
        const isFirst = documents.version === 0;
        if (!documents.apply(delta)) return undefined;
        if (delta.base === 0) policies.tellAll();
        // Of another release the policies of files are evaluated otherwise, too.
        const isKept = served !== undefined && release === loader.evaluatedAs();
        return together(isKept ? (served as LoadResult) : await loadFile(generation), generation, isFirst);
      }),
  };
  const policies = new RolledOutPolicies(reader, () => loader.clusterPolicies(() => cluster.wanted()));
  /** The result of the served files; rejected ones don't count. */
  let served: LoadResult | undefined;
  /** The Kubernetes as which those are evaluated. */
  let release: string | undefined;
  /** Loads run one after the other: each continues from the result of the last. */
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = turn.then(work);
    turn = next.catch(() => {});
    return next;
  };

  /** Joins the files' policies and the cluster's into one set. */
  const together = async (file: LoadResult, generation: number, isFirst = false): Promise<LoadResult> => {
    if (file.fatal !== undefined) return file;
    const own = file.policies.entries;
    const version = loader.evaluatedAs();
    const loaded = await policies.load(documents.documents, (id) => own.has(id), isFirst);
    const isNew = file !== served;
    const problems = [...(isNew ? file.problems : []), ...loaded.problems];
    return {
      ...file,
      policies: createPolicySet(shadowed([...own.values(), ...loaded.served], file), generation, documents.sets),
      problems,
      errors: errorsIn(problems),
      fromCluster: {
        has: (id) => !own.has(id),
        reports: loaded.reports,
        taken: () => {
          served = file;
          release = version;
          loaded.taken();
        },
      },
    };
  };
  return {
    cluster,
    load: (generation = 1) => inTurn(async () => together(await loadFile(generation), generation)),
    close: () => {
      policies.close();
      loader.close();
    },
  };
}

/** Options of loading beside the settings. */
export interface SourceOptions extends LoaderOptions {
  /** Whether policies that need a cluster are loaded where none is found, with a warning each; default: nothing is loaded then. */
  readonly warnWithoutCluster?: boolean;
  /** Reads the configuration in place of the whole file, at each load: a part of it, or another text. */
  readonly read?: (file: string) => ConfigResult;
}

/** Creates a source by these settings. */
export function createPolicySource(
  settings: LoaderSettings,
  { warnWithoutCluster = false, read: given, ...special }: SourceOptions = {},
): PolicySource {
  const loader = createLoader(settings, special);
  const { policyTimeout, access } = loader;
  const { fileOptional = false, fromCluster, shadowFile } = settings;
  const warn = warnWithoutCluster && (access === undefined || "missing" in access);
  const read = given ?? ((file: string) => loadConfig(file, { salvage: special.diagnose ?? false }));
  const problem = (needing: readonly string[]) => clusterProblem(access, needing, settings);
  const loadFile = async (generation: number): Promise<LoadResult> => {
    const file = fromCluster !== undefined || fileOptional ? givenFile(settings) : policiesFile(settings);
    const own =
      file === undefined
        ? noFile(generation, fileOptional)
        : await load({ file, loader, generation, problem, warn, read });
    if (shadowFile === undefined || own.fatal !== undefined) return own;
    const { shadows, files, problems: more } = await loadShadows(shadowFile, own.files, loader, warn);
    const problems = [...own.problems, ...more];
    const all = { ...own, files: [...own.files, ...files], problems, errors: errorsIn(problems) };
    return shadows === undefined ? all : { ...all, shadows };
  };
  const source =
    fromCluster === undefined
      ? { load: async (generation = 1) => withShadowsOf(await loadFile(generation)), close: () => loader.close() }
      : createClusterSource(loadFile, loader, fromCluster);
  return { policyTimeout, access, ...source };
}

/**
 * The result without a file: the cluster has the policies, or there are none yet.
 * @param mayCome whether to watch for one that may come
 */
const noFile = (generation: number, mayCome: boolean): LoadResult => ({
  file: "",
  policies: createPolicySet([], generation),
  files: mayCome ? [resolve(policiesFile({}))] : [],
  problems: [],
  errors: 0,
});

interface Loading {
  readonly file: string;
  readonly loader: PolicyLoader;
  readonly generation: number;
  /** The reason why policies that need a cluster can't be served. */
  readonly problem: (clusterNeeded: readonly string[]) => ClusterProblem | undefined;
  /** Whether to warn about each of them. */
  readonly warn: boolean;
  readonly read: (file: string) => ConfigResult;
}

async function load({ file, loader, generation, problem, warn, read: readFile }: Loading): Promise<LoadResult> {
  const read = readFile(file);
  const nothing = { file, policies: createPolicySet([], generation), errors: 1 };
  if (!read.ok) {
    const { salvaged, message: fatal } = read;
    const loaded = salvaged && (await loader.load(salvaged.config, generation));
    const more = loaded === undefined ? [] : [...loaded.problems, ...loaded.neverDenying];
    return { ...nothing, files: [file], problems: salvaged ? [...salvaged.problems, ...more] : read.problems, fatal };
  }
  const { config } = read;
  const loaded = await loader.load(config, generation);
  const missing = problem(loaded.clusterNeeded.map(({ id }) => id));
  const ofWhole = { file, line: 1, column: 1, path: [] };
  if (missing !== undefined && !warn) {
    const whole: Problem = { severity: "error", ...ofWhole, message: missing.refusal, code: "CLUSTER_NEEDED" };
    const problems = [...read.problems, ...loaded.problems, whole];
    return { ...nothing, files: config.files, problems, fatal: missing.refusal };
  }
  const doubts: Problem[] =
    missing === undefined ? [] : [{ severity: "warning", ...ofWhole, message: missing.why, code: "CLUSTER_NEEDED" }];
  if (warn) doubts.push(...loaded.clusterNeeded.flatMap(({ warning }) => warning ?? []));
  const problems = [...read.problems, ...loaded.problems, ...loaded.neverDenying, ...doubts];
  const withoutCluster = missing && { ...missing, needing: loaded.clusterNeeded };
  const { policies } = loaded;
  return {
    file,
    policies,
    files: filesOf(config),
    problems,
    errors: errorsIn(problems),
    ...(withoutCluster && { withoutCluster }),
  };
}

/** The result of files alone, with the policies in shadow. */
const withShadowsOf = (result: LoadResult): LoadResult => ({
  ...result,
  policies: createPolicySet(shadowed([...result.policies.entries.values()], result), result.policies.generation),
});

/** Served policies with the shadows of a result. */
const shadowed = (served: readonly ServedPolicy[], { shadows }: LoadResult): readonly ServedPolicy[] =>
  shadows === undefined ? served : withShadows(served, shadows);

const errorsIn = (problems: readonly Problem[]): number =>
  problems.filter(({ severity }) => severity === "error").length;

/** All problems as lines for display. */
export const problemLines = ({ problems }: LoadResult): string[] => problems.map(formatProblem);
