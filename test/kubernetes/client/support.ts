/** A client of the test's own cluster, with little patience. */
import type { TestContext } from "node:test";
import {
  type Cluster,
  type ClusterOptions,
  findConnection,
  openCluster,
} from "../../../src/kubernetes/client/index.js";
import { clusterWorld } from "../../../src/world/cluster.js";
import type { World } from "../../../src/world/world.js";
import type { FakeApiServer } from "./fake-api-server.js";

/** Nobody ends what is asked with it. */
export const PATIENT: AbortSignal = new AbortController().signal;

export { until } from "../../support/until.js";

/** How long policies wait for an object, unless a test is about that: an API server on a busy machine is not late. */
const PATIENCE_MS = 600_000;

/** A client, its notes, and a clock that can be put forward. */
export interface TestCluster extends Pick<Cluster, "reader" | "close">, Pick<World, "resources" | "authorizer"> {
  /** The client itself. */
  readonly cluster: Cluster;
  /** The client's clock. */
  readonly now: () => number;
  /** How many lists are being watched. */
  readonly stores: number;
  readonly notes: string[];
  /** Milliseconds added to the clock. */
  skip(milliseconds: number): void;
}

/** Opens a client; it is closed after the test. */
export function connect(
  context: TestContext,
  server: FakeApiServer,
  options: Partial<ClusterOptions> & { kubeconfig?: string; waitMs?: number } = {},
): TestCluster {
  const notes: string[] = [];
  let ahead = 0;
  const now = () => performance.now() + ahead;
  const connection = findConnection({ kubeconfig: options.kubeconfig ?? server.kubeconfig(), env: {}, now });
  const cluster = openCluster({
    connection,
    now,
    note: (message) => notes.push(message),
    timing: { silence: 5_000, firstBackoff: 20, lastBackoff: 100, staleness: 300_000 },
    ...options,
  });
  context.after(() => cluster.close());
  const world = clusterWorld(cluster, now, options.waitMs ?? PATIENCE_MS);
  return {
    cluster,
    now,
    reader: cluster.reader,
    resources: world.resources,
    authorizer: world.authorizer,
    get stores() {
      return cluster.stores.size;
    },
    close: () => cluster.close(),
    notes,
    skip: (milliseconds) => {
      ahead += milliseconds;
    },
  };
}

export const PODS = { apiVersion: "v1", kind: "Pod" };

/** A pod. */
export const pod = (name: string, namespace = "default", labels: Record<string, string> = {}, more: object = {}) => ({
  metadata: { name, namespace, labels, ...more },
});

/** The names of objects. */
export const names = (objects: readonly unknown[]): string[] =>
  objects.map((object) => (object as { metadata: { name: string } }).metadata.name);
