/** The policies that a cluster has, as a configuration: for `eval --from-cluster`. */
import { readDocuments } from "../../cluster/sources/read-once.js";
import { type ClusterEntryOptions, ClusterEntryReader, Rollouts } from "../../config/from-cluster/index.js";
import type { ConfigResult } from "../../config/index.js";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { openCluster } from "../../kubernetes/client/index.js";
import { findCluster } from "../../loader/index.js";
import type { LoaderSettings } from "../../loader/settings.js";

/**
 * Reads them once, in the versions that are in force, under the ids under which `serve --from-cluster` serves them.
 * @param isAsked whether problems of a policy are of interest
 * @throws UsageError without a way to a cluster
 */
export async function clusterConfig(
  { kubeconfig }: LoaderSettings,
  options: ClusterEntryOptions,
  isAsked: (id: string) => boolean,
  io: CommandIo,
): Promise<ConfigResult> {
  const now = () => performance.now();
  const access = findCluster({ env: io.env, now, ...(kubeconfig !== undefined && { kubeconfig }) });
  if ("missing" in access) throw new UsageError(access.missing);
  const cluster = openCluster({ connection: access.connection, now, note: () => {} });
  try {
    const { documents, problems: unread } = await readDocuments(cluster, options);
    for (const problem of unread) say(io.stderr, `warning: ${problem}`);
    const rollouts = new Rollouts();
    rollouts.update(new Map(documents.map((document) => [document.key, document])));
    const { entries } = new ClusterEntryReader(options).entries(rollouts.inForce);
    const read = entries.map((entry) => entry.read());
    const problems = read.flatMap((each) => (isAsked(String(each.entry.id)) ? each.problems : []));
    return { ok: true, config: { file: "the cluster", entries: read.map(({ entry }) => entry), files: [] }, problems };
  } finally {
    await cluster.close();
  }
}
