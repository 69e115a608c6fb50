/** Policies of files and of a cluster as one set: both may change, each by itself. */
import { ClusterDocuments, type ClusterEntryOptions, ClusterEntryReader } from "../config/from-cluster/index.js";
import { type PolicyLoader, RolledOutPolicies } from "../loader/index.js";
import { createPolicySet } from "../policy/served/policy-set.js";
import type { ClusterSource, LoadResult, PolicySource } from "./policy-source.js";
import { shadowed } from "./shadow-policies.js";

/**
 * The source of both.
 * @param loadFile reads the files anew
 */
export function createClusterSource(
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
