/** The loader's door: one object that turns configurations into sets of policies, as often as asked. */

import type { Config, ConfigEntry } from "../config/index.js";
import { SYSTEM_CLOCK } from "../data/clock.js";
import { PublicError } from "../data/public-text.js";
import {
  createModuleFetcher,
  ImageInspector,
  ImageMetadata,
  localModuleShare,
  type ModuleFetcher,
  type ModuleFetcherOptions,
  openRegistries,
  type SignatureChecks,
} from "../fetch/index.js";
import { createKinds } from "../kinds/registry.js";
import type { KubernetesVersion, Watcher } from "../kinds/shared/index.js";
import { createHostCapabilities, type Executor, type ViolationSink } from "../wasm/host/index.js";
import { createWasmRuntime, type GuestLogEntry } from "../wasm/index.js";
import { type ClusterAccess, clusterWorld, openAccess, outerWorldFor, warmUp } from "../world/cluster.js";
import type { Needs } from "../world/needs.js";
import { addressGuard, closedExternal, type EgressOptions, openExternal } from "../world/open-external.js";
import { diagnose, salvagedEntries } from "./diagnosis.js";
import { ClusterPolicies } from "./from-cluster/cluster-policies.js";
import { fetchingUnder } from "./from-cluster/fetching.js";
import { type LoadedConfig, type LoadingOptions, loadEntries } from "./loader.js";
import { moduleFiles } from "./module-files.js";
import { NamespaceModules } from "./namespace-modules.js";
import { downloads } from "./prefetch.js";

export { LoadError } from "../kinds/load-error.js";
export { createWebhooks } from "../kinds/registry.js";
export { type Executor, recordSession, replaySession, SessionError } from "../wasm/host/index.js";
export { type ClusterAccess, findCluster } from "../world/cluster.js";
export { EgressListError } from "../world/http/egress-rules.js";
export { type EgressOptions, type OpenHttp, openHttp } from "../world/open-external.js";
export type { ClusterPolicies, LoadedClusterPolicies } from "./from-cluster/cluster-policies.js";
export { RolledOutPolicies } from "./from-cluster/rolled-out-policies.js";
export type { ClusterNeed, LoadedConfig } from "./loader.js";

/** How modules are fetched, and images looked at for guests. */
export interface LoaderFetchOptions extends ModuleFetcherOptions {
  /** Checks the signatures of images; absent: guests can't ask about images. */
  readonly signatures?: SignatureChecks;
}

/** What a loader needs. */
export interface PolicyLoaderOptions {
  /** Milliseconds an evaluation may take when its entry says nothing; Infinity for no limit. */
  readonly policyTimeout: number;
  /** What the cost limits of CEL policies are multiplied by; default 1, as Kubernetes has them. */
  readonly costFactor?: number;
  /** Threads that run guests. */
  readonly workers: number;
  /** Processors that this process may use. Default: as many as it may run on. */
  readonly processors?: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** How modules are fetched. */
  readonly fetch: LoaderFetchOptions;
  /** What guests log. */
  readonly log: (entry: GuestLogEntry) => void;
  /** Records or replays what guests ask of the host. Default: neither. */
  readonly executor?: Executor;
  /** Told when a guest asks for what it was not granted. */
  readonly violation: ViolationSink;
  /** False: instances of modules all start anew. */
  readonly warmStart?: boolean;
  /** Where Kubernetes objects are looked up; absent: nowhere but in files. */
  readonly cluster?: ClusterAccess;
  /** Where policies may send HTTP requests to. */
  readonly egress?: EgressOptions;
  /** Whether policies may ask nobody outside of this process, whatever else is set; default no. Modules are fetched all the same. */
  readonly closed?: boolean;
  /** Told what hinders watches of a cluster. */
  readonly note?: (message: string) => void;
  /** Watches the evaluation of CEL policies and groups: coverage, or an explanation. */
  readonly watcher?: Watcher;
  /** Check the types of CEL policies' expressions against the schemas of the kinds they match: for `check`. */
  readonly typeCheck?: boolean;
  /** Look for all mistakes of invalid entries too, with their modules: for `check`. */
  readonly diagnose?: boolean;
  /** The Kubernetes that policies of admissionregistration.k8s.io must be stored by: for `check`. */
  readonly kubernetesVersion?: KubernetesVersion;
}

/** Loads configurations. */
export interface PolicyLoader {
  /** Never rejects: what cannot be loaded becomes an unavailable policy. */
  load(config: Config, generation?: number): Promise<LoadedConfig>;
  /**
   * Policies of a cluster, which are loaded one by one.
   * @param changed told when loading them once more would bring others, though the cluster has the same
   */
  clusterPolicies(changed: () => void): ClusterPolicies;
  /** Ends the worker threads. */
  close(): void;
}

/** What guests get that may ask nobody. */
const refuseCalls: Executor = () => Promise.reject(new PublicError("nothing outside of the request may be asked here"));

/**
 * Makes a loader. Worker threads start when the first guest runs.
 * @throws EgressListError
 */
export function createPolicyLoader(options: PolicyLoaderOptions): PolicyLoader {
  const { policyTimeout, workers, processors, now, log, violation } = options;
  const fetch = { ...options.fetch, share: options.fetch.share ?? localModuleShare() };
  const executor = options.closed ? refuseCalls : options.executor;
  const guard = addressGuard(options.egress);
  const { registry, close: closeRegistries } = openRegistries(fetch, guard);
  const images = options.closed ? undefined : fetch.signatures && new ImageInspector(registry, fetch.signatures);
  const cluster = options.closed ? undefined : openAccess(options.cluster, now, options.note ?? (() => {}));
  const world = cluster && clusterWorld(cluster, now);
  const metadata = new ImageMetadata(registry);
  const external = options.closed
    ? closedExternal()
    : openExternal({
        readImage: (reference, signal) => metadata.read(reference, signal),
        now,
        ...(options.egress && { egress: options.egress }),
        ...(cluster && { cluster }),
      });
  const runtime = createWasmRuntime({
    workers,
    ...(processors !== undefined && { processors }),
    ...(options.warmStart !== undefined && { warmStart: options.warmStart }),
    defaultTimeoutMs: Number.isFinite(policyTimeout) ? policyTimeout : null,
    log,
    capabilities: createHostCapabilities({
      violation,
      http: external.plugins,
      ...(images && { images }),
      ...(executor && { executor }),
      ...(cluster && { kubernetes: cluster.reader }),
    }),
    ...(cluster && { kubernetes: cluster.reader }),
  });
  const kinds = createKinds({
    ...(options.watcher && { watcher: options.watcher }),
    typeCheck: options.typeCheck ?? false,
    ...(options.kubernetesVersion && { kubernetesVersion: options.kubernetesVersion }),
    runtime,
    policyTimeout,
    now,
    httpInNamespaced: options.egress?.forNamespaced ?? false,
  });
  const missing = options.cluster !== undefined && cluster === undefined;
  const { costFactor } = options;
  const worldFor = (needs: Needs) => ({
    ...outerWorldFor(needs, world, missing, now, external.data),
    ...(costFactor !== undefined && { costFactor }),
  });
  const foresee = (needs: Needs) => (world && needs.asks ? warmUp(world, needs) : undefined);
  // The files of a policy that nobody has any more may go: where it is kept, replaced and kept again many hands decide.
  const served = new FinalizationRegistry<() => void>((release) => release());
  const inUse = new NamespaceModules();
  const loadingWith = async (entries: readonly ConfigEntry[], fetcher: ModuleFetcher): Promise<LoadingOptions> => ({
    kinds: await kinds.for(entries),
    fetchModule: (entry, warn) => moduleFiles(entry, fetcher, warn, inUse),
    keep: (policy, release) => served.register(policy, release),
    worldFor,
    prefetch: foresee,
    policyTimeout,
    watcher: options.watcher,
  });
  return {
    clusterPolicies: (changed) =>
      new ClusterPolicies({
        clock: SYSTEM_CLOCK,
        fetcher: ({ terms }) => createModuleFetcher({ ...fetchingUnder(terms, fetch), guard }),
        async load(config, fetcher, warm) {
          // They come and change while the process serves others, or waits for the first one.
          runtime.serve();
          for (const { location, limits } of downloads(config.entries)) fetcher.file(location, limits).catch(() => {});
          const loading = await loadingWith(config.entries, fetcher);
          // Its first request may wait for that, but no other policy's change.
          const later = (needs: Needs): undefined => {
            const work = foresee(needs);
            if (work !== undefined) warm(work);
          };
          return loadEntries(config, { ...loading, prefetch: later });
        },
        changed,
      }),
    load: async (config, generation) => {
      // One fetcher for each load: equal addresses are fetched once, and a reload asks again.
      const fetcher = createModuleFetcher(fetch);
      // All at once; who loads a policy then waits for its own, and says what went wrong with it.
      const salvaged = options.diagnose === true ? salvagedEntries(config.entries) : [];
      const entries = [...config.entries, ...salvaged];
      for (const { location, limits } of downloads(entries)) fetcher.file(location, limits).catch(() => {});
      try {
        const loading = await loadingWith(entries, fetcher);
        const loaded = await loadEntries(config, loading, generation);
        if (salvaged.length === 0) return loaded;
        return { ...loaded, problems: [...loaded.problems, ...(await diagnose(config, loading))] };
      } finally {
        // Who loads again most likely serves what was loaded before.
        runtime.serve();
        await fetcher.close();
      }
    },
    close() {
      runtime.close();
      void closeRegistries();
      void external.close();
      void cluster?.close();
    },
  };
}
