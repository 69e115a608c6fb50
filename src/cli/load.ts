/** From options to loaded policies: what `serve`, `check` and `eval` share. */
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { ClusterDocuments, type ClusterEntryOptions, ClusterEntryReader } from "../config/from-cluster/index.js";
import {
  type Config,
  type ConfigResult,
  formatProblem,
  loadConfig,
  type Problem,
  parseConfig,
} from "../config/index.js";
import type { ModuleShare } from "../fetch/index.js";
import type { StoreChannel } from "../kubernetes/client/shared/mirrored-stores.js";
import {
  type ClusterAccess,
  createPolicyLoader,
  type PolicyLoader,
  type PolicyLoaderOptions,
  RolledOutPolicies,
} from "../loader/index.js";
import { createPolicySet } from "../policy/served/policy-set.js";
import type { Logger } from "../telemetry/logger.js";
import { withEgress } from "./egress-options.js";
import { fetchOptions } from "./fetch-options.js";
import { filesOf } from "./files-of.js";
import type { CommandIo } from "./io.js";
import { type ClusterProblem, clusterAccess, clusterProblem } from "./kubernetes-options.js";
import { clusterEntryOptions } from "./namespaced-options.js";
import { givenFile, policiesFile } from "./policies-file.js";
import type { ClusterSource, LoadResult, PolicySource } from "./policy-source.js";
import { joined, shadowed, withShadowFile } from "./shadow-policies.js";

// Policies of files and of a cluster as one set: both may change, each by itself.

/**
 * The source of both.
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
        return together(served ?? (await loadFile(generation)), generation, isFirst);
      }),
  };
  const policies = new RolledOutPolicies(reader, () => loader.clusterPolicies(() => cluster.wanted()));
  /** What the files came to that are served; those that were kept out count for nothing. */
  let served: LoadResult | undefined;
  /** One after the other: each goes on from what the last one has left. */
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = turn.then(work);
    turn = next.catch(() => {});
    return next;
  };

  /** A set of the files' policies and the cluster's. */
  const together = async (file: LoadResult, generation: number, isFirst = false): Promise<LoadResult> => {
    if (file.fatal !== undefined) return file;
    const own = file.policies.entries;
    const loaded = await policies.load(documents.documents, (id) => own.has(id), isFirst);
    const isNew = file !== served;
    const problems = [...(isNew ? file.problems : []), ...loaded.problems];
    return {
      ...file,
      policies: createPolicySet(shadowed([...own.values(), ...loaded.served], file), generation, documents.sets),
      problems,
      errors: problems.filter(({ severity }) => severity === "error").length,
      fromCluster: {
        has: (id) => !own.has(id),
        reports: loaded.reports,
        taken: () => {
          served = file;
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

/** What a command asks of loading. */
export interface SourceOptions
  extends Pick<
    PolicyLoaderOptions,
    "watcher" | "typeCheck" | "diagnose" | "kubernetesVersion" | "executor" | "closed"
  > {
  /** Whether policies that need a cluster are loaded where none is found, with a warning each; default: nothing is loaded then. */
  readonly warnWithoutCluster?: boolean;
  /** The content of the policies file, asked for at each load; undefined, or absent: it is read. */
  readonly text?: () => string | undefined;
  /** Where another process watches the cluster's lists for this one. */
  readonly shared?: StoreChannel;
  /** What processes share of modules; absent: this one shares with none. */
  readonly modules?: ModuleShare;
  /** What is loaded in place of the whole file: a part of it, or what no file has. */
  readonly read?: (file: string) => ConfigResult;
}

/**
 * A source for the options `policies`, `policy-timeout`, `disable-timeout-protection`, `workers` and `processors`.
 * @param special what some commands ask of the loader beyond that
 */
export function createPolicySource(
  values: Readonly<Record<string, unknown>>,
  env: CommandIo["env"],
  logger?: Logger,
  { warnWithoutCluster = false, text, read, ...special }: SourceOptions = {},
): PolicySource {
  const { loader, policyTimeout, access } = createLoader(values, env, logger, special);
  const fromCluster = values.fromCluster === true;
  const reading = read ?? readerOf(text, special.diagnose === true);
  const problem = (needing: readonly string[]) => clusterProblem(access, needing, values);
  const shadowFile = typeof values.shadowPolicies === "string" ? values.shadowPolicies : undefined;
  const warn = warnWithoutCluster && (access === undefined || "missing" in access);
  const loadFile = async (generation: number): Promise<LoadResult> => {
    const file = fromCluster || values.fileOptional === true ? givenFile(values) : policiesFile(values);
    const own =
      file === undefined
        ? noFile(generation, values.fileOptional === true)
        : await load({ file, loader, generation, problem, warn, read: reading });
    return shadowFile === undefined || own.fatal !== undefined ? own : withShadowFile(own, shadowFile, loader, warn);
  };
  const common = { policyTimeout, access };
  if (!fromCluster)
    return {
      ...common,
      load: async (generation = 1) => joined(await loadFile(generation)),
      close: () => loader.close(),
    };
  return { ...common, ...createClusterSource(loadFile, loader, clusterEntryOptions(values)) };
}

/**
 * Where the cluster has the policies, and no file, or a person has none yet.
 * @param mayCome whether to look after one that may come
 */
const noFile = (generation: number, mayCome: boolean): LoadResult => ({
  file: "",
  policies: createPolicySet([], generation),
  files: mayCome ? [resolve(policiesFile({}))] : [],
  problems: [],
  errors: 0,
});

/** A loader for these options. */
export function createLoader(
  values: Readonly<Record<string, unknown>>,
  env: CommandIo["env"],
  logger?: Logger,
  { shared, modules, ...special }: Omit<SourceOptions, "warnWithoutCluster" | "text" | "read"> = {},
): { readonly loader: PolicyLoader; readonly policyTimeout: number; readonly access: ClusterAccess | undefined } {
  const policyTimeout =
    values.disableTimeoutProtection === true ? Number.POSITIVE_INFINITY : Number(values.policyTimeout ?? 2) * 1000;
  const found = clusterAccess(values, env);
  const access = shared !== undefined && found !== undefined && "connection" in found ? { ...found, shared } : found;
  const guests = logger?.named("policy_log");
  const loader = withEgress(values, (egress) =>
    createPolicyLoader({
      policyTimeout,
      ...(typeof values.celCostFactor === "number" && { costFactor: values.celCostFactor }),
      workers: typeof values.workers === "number" ? values.workers : availableParallelism(),
      ...(typeof values.processors === "number" && { processors: values.processors }),
      now: () => performance.now(),
      fetch: { ...fetchOptions(values, env, (message) => logger?.warn(message)), ...(modules && { share: modules }) },
      log: ({ policy, level, message, fields }) => guests?.log(level, message, { policy_id: policy, ...fields }),
      violation: (message, fields) => logger?.error(message, fields),
      ...(access && { cluster: access }),
      note: (message) => logger?.warn(message),
      egress,
      warmStart: values.disableWarmStart !== true,
      ...special,
    }),
  );
  return { loader, policyTimeout, access };
}

interface Loading {
  readonly file: string;
  readonly loader: PolicyLoader;
  readonly generation: number;
  /** What is in the way of serving policies that need a cluster. */
  readonly problem: (clusterNeeded: readonly string[]) => ClusterProblem | undefined;
  /** Whether that is a warning for each of them. */
  readonly warn: boolean;
  readonly read: (file: string) => ConfigResult;
}

/** Reads a configuration: from its file, or from the text that is there in its place. */
const readerOf =
  (text: SourceOptions["text"], salvage: boolean) =>
  (file: string): ConfigResult => {
    const given = text?.();
    return given === undefined ? loadConfig(file, { salvage }) : parseConfig(given, file, { salvage });
  };

async function load({ file, loader, generation, problem, warn, read: readFile }: Loading): Promise<LoadResult> {
  const read = readFile(file);
  const nothing = { file, policies: createPolicySet([], generation), errors: 1 };
  if (!read.ok) {
    const { salvaged, message: fatal } = read;
    const more = salvaged === undefined ? [] : (await loader.load(salvaged.config, generation)).problems;
    return { ...nothing, files: [file], problems: salvaged ? [...salvaged.problems, ...more] : read.problems, fatal };
  }
  const config: Config = read.config;
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
  const problems = [...read.problems, ...loaded.problems, ...doubts];
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const files = filesOf(config);
  const withoutCluster = missing && { ...missing, needing: loaded.clusterNeeded };
  return {
    file,
    policies: loaded.policies,
    files,
    problems,
    errors,
    ...(withoutCluster && { withoutCluster }),
  };
}

/** All problems as lines for a person. */
export function problemLines({ problems }: LoadResult): string[] {
  return problems.map(formatProblem);
}
