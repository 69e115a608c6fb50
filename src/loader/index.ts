/** Turns configurations into sets of policies, any number of times. */

import { availableParallelism } from "node:os";
import type { Config, ConfigEntry } from "../config/index.js";
import { SYSTEM_CLOCK } from "../data/clock.js";
import { PublicError } from "../data/public-text.js";
import {
  createModuleFetcher,
  ImageInspector,
  ImageMetadata,
  ImageTrustReader,
  localModuleShare,
  type ModuleFetcher,
  openImageLayouts,
  openRegistries,
} from "../fetch/index.js";
import { createKinds } from "../kinds/registry.js";
import type { KubernetesVersion, Watcher } from "../kinds/shared/index.js";
import { type Cluster, DEFAULT_NAMESPACE, podNamespace } from "../kubernetes/client/index.js";
import { ServerRelease } from "../kubernetes/client/server-release.js";
import type { StoreChannel } from "../kubernetes/client/shared/mirrored-stores.js";
import type { Logger } from "../telemetry/logger.js";
import { createHostCapabilities, type Executor } from "../wasm/host/index.js";
import { createWasmRuntime } from "../wasm/index.js";
import { type ClusterAccess, clusterWorld, openAccess, outerWorldFor, warmUp } from "../world/cluster.js";
import type { ExternalData } from "../world/external.js";
import type { Needs } from "../world/needs.js";
import { addressGuard, closedExternal, openExternal } from "../world/open-external.js";
import { clusterAccess } from "./cluster-access.js";
import { diagnose, salvagedEntries } from "./diagnosis.js";
import { fetchOptions, type LoaderFetchOptions } from "./fetch-options.js";
import { ClusterPolicies } from "./from-cluster/cluster-policies.js";
import { fetchingUnder } from "./from-cluster/fetching.js";
import { type LoadedConfig, type LoadingOptions, loadEntries } from "./loader.js";
import { moduleFiles } from "./module-files.js";
import { NamespaceModules } from "./namespace-modules.js";
import { downloads } from "./prefetch.js";
import { DEFAULT_POLICY_TIMEOUT_MS, type LoaderSettings } from "./settings.js";

export { LoadError } from "../kinds/load-error.js";
export { createWebhooks } from "../kinds/registry.js";
export { type Executor, recordSession, replaySession, SessionError } from "../wasm/host/index.js";
export { findCluster } from "../world/cluster.js";
export type { ClusterPolicies, LoadedClusterPolicies } from "./from-cluster/cluster-policies.js";
export type { ClusterNeed, LoadedConfig } from "./loader.js";

/** Options of a loader beside its settings. */
export interface LoaderOptions {
  /** Receives guests' lines and refusals, and warnings about downloads and watches of a cluster; absent: they are dropped. */
  readonly logger?: Logger;
  /** Replaces the settings for fetching, and the state that processes share. */
  readonly fetch?: Partial<LoaderFetchOptions>;
  /** Where another process watches the cluster's lists for this one. */
  readonly shared?: StoreChannel | undefined;
  /** Records or replays what guests ask of the host. Default: neither. */
  readonly executor?: Executor;
  /** Whether policies may make no calls outside of this process, whatever else is set; default no. Modules are still fetched. */
  readonly closed?: boolean;
  /** Watches the evaluation of CEL policies and groups: coverage, or an explanation. */
  readonly watcher?: Watcher;
  /** Check the types of CEL policies' expressions against the schemas of the kinds they match: for `check`. */
  readonly typeCheck?: boolean;
  /** Look for all mistakes of invalid entries too, with their modules: for `check`. */
  readonly diagnose?: boolean;
  /** The Kubernetes that policies of admissionregistration.k8s.io must be stored by: for `check`. */
  readonly kubernetesVersion?: KubernetesVersion;
  /** A newer release, of which warnings say what it decides otherwise: for `check`. */
  readonly upgrade?: KubernetesVersion | undefined;
}

/** Loads configurations. */
export interface PolicyLoader {
  /** Milliseconds that an evaluation may take where its entry says nothing. */
  readonly policyTimeout: number;
  /** The cluster that policies look things up in; undefined without one. */
  readonly access: ClusterAccess | undefined;
  /** The client of that cluster; undefined where there is none. It is closed with the loader. */
  readonly cluster: Cluster | undefined;
  /** The Kubernetes as which policies of admissionregistration.k8s.io are evaluated that are loaded now; `""` for the default. */
  readonly evaluatedAs: () => string;
  /** Data that expressions may look up. */
  readonly external: ExternalData;
  /** Never rejects: what cannot be loaded becomes an unavailable policy. */
  load(config: Config, generation?: number): Promise<LoadedConfig>;
  /**
   * Policies of a cluster, which are loaded one by one.
   * @param changed called when loading them again would give other policies, though the cluster has the same documents
   */
  clusterPolicies(changed: () => void): ClusterPolicies;
  /** Ends the worker threads. */
  close(): void;
}

/** Host calls of guests that may make none. */
const refuseCalls: Executor = () => Promise.reject(new PublicError("nothing outside of the request may be asked here"));

/**
 * Creates a loader by these settings. Worker threads start when the first guest runs.
 * @throws UsageError for lists of HTTP servers that can't be read, and folders that are not image layouts
 * @throws an error that names the file where one of the settings can't be used
 */
export function createLoader(settings: LoaderSettings, options: LoaderOptions = {}): PolicyLoader {
  const { policyTimeout = DEFAULT_POLICY_TIMEOUT_MS, workers = availableParallelism(), processors } = settings;
  const { egress = {}, warmStart, costFactor } = settings;
  const { logger, shared, closed = false } = options;
  const now = () => performance.now();
  const warn = (message: string): void => logger?.warn(message);
  const guests = logger?.named("policy_log");
  const found = clusterAccess(settings);
  const access = shared !== undefined && found !== undefined && "connection" in found ? { ...found, shared } : found;
  const fetch = { share: localModuleShare(), ...fetchOptions(settings, warn), ...options.fetch };
  const executor = closed ? refuseCalls : options.executor;
  const guard = addressGuard(egress);
  const registries = openRegistries(fetch, guard);
  const { imageLayouts = [] } = settings;
  const layouts = imageLayouts.length > 0 ? openImageLayouts(imageLayouts) : undefined;
  const registry = layouts ?? registries.registry;
  const images = closed ? undefined : new ImageInspector(registry, fetch.signatures);
  const cluster = closed
    ? undefined
    : openAccess(access, now, (message, level) => logger?.log(level ?? "warn", message));
  const world = cluster && clusterWorld(cluster, now);
  const reached: typeof registries.reached = (access, secret) => layouts ?? registries.reached(access, secret);
  const external = closed
    ? closedExternal()
    : openExternal({
        readImage: (image, signal, ...access) => new ImageMetadata(reached(...access)).read(image, signal),
        askRegistries: (access, secret) => new ImageTrustReader(reached(access, secret), fetch.signatures),
        namespace: settings.namespace ?? podNamespace() ?? DEFAULT_NAMESPACE,
        now,
        egress,
        cluster,
      });
  const { kubernetesVersion: given } = settings;
  const release =
    cluster === undefined || given !== undefined || options.diagnose === true
      ? undefined
      : new ServerRelease({
          clock: SYSTEM_CLOCK,
          ask: async () => (await cluster.http.get("/version", {}, cluster.signal)).value,
        });
  const evaluatedAs = (): string => given ?? release?.current ?? "";
  const runtime = createWasmRuntime({
    workers,
    ...(processors !== undefined && { processors }),
    ...(warmStart !== undefined && { warmStart }),
    defaultTimeoutMs: Number.isFinite(policyTimeout) ? policyTimeout : null,
    log: ({ policy, level, message, fields }) => guests?.log(level, message, { policy_id: policy, ...fields }),
    capabilities: createHostCapabilities({
      violation: (message, fields) => logger?.error(message, fields),
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
    ...(given && { evaluatedAs: given }),
    ...(options.upgrade && { upgrade: options.upgrade }),
    ...(release && { release }),
    runtime,
    policyTimeout,
    now,
    httpInNamespaced: egress.forNamespaced ?? false,
  });
  const missing = access !== undefined && cluster === undefined;
  const worldFor = (needs: Needs) => ({
    ...outerWorldFor(needs, world, missing, now, external.data),
    ...(costFactor !== undefined && { costFactor }),
  });
  let connecting: Promise<void> | undefined;
  const foresee = (needs: Needs): Promise<void> | undefined => {
    if (world === undefined || !needs.asks) return undefined;
    if (needs.parameters.length + (needs.namedParameters?.length ?? 0) > 0) return warmUp(world, needs);
    // Policies without parameters wait for the same.
    connecting ??= warmUp(world, needs).finally(() => {
      connecting = undefined;
    });
    return connecting;
  };
  // Files of a policy that is no longer in use may be removed: policies are replaced and kept in many places, so garbage collection tells.
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
    policyTimeout,
    access,
    cluster,
    evaluatedAs,
    external: external.data,
    clusterPolicies: (changed) => {
      release?.listeners.push(changed);
      return new ClusterPolicies({
        clock: SYSTEM_CLOCK,
        conditions: evaluatedAs,
        fetcher: ({ terms }) => createModuleFetcher({ ...fetchingUnder(terms, fetch), guard }),
        async load(config, fetcher, warm) {
          // Policies of a cluster come and change while the process serves others, or waits for the first one.
          runtime.serve();
          for (const { location, limits } of downloads(config.entries)) fetcher.file(location, limits).catch(() => {});
          const loading = await loadingWith(config.entries, fetcher);
          // Its first request may wait for that; changes of other policies must not.
          const later = (needs: Needs): undefined => {
            const work = foresee(needs);
            if (work !== undefined) warm(work);
          };
          return loadEntries(config, { ...loading, prefetch: later });
        },
        changed,
      });
    },
    load: async (config, generation) => {
      // One fetcher for each load: equal addresses are fetched once, and a reload asks again.
      const fetcher = createModuleFetcher(fetch);
      // All at once; loading a policy then waits for its own module, and reports its failure.
      const salvaged = options.diagnose === true ? salvagedEntries(config.entries) : [];
      const entries = [...config.entries, ...salvaged];
      for (const { location, limits } of downloads(entries)) fetcher.file(location, limits).catch(() => {});
      try {
        const loading = await loadingWith(entries, fetcher);
        const loaded = await loadEntries(config, loading, generation);
        if (salvaged.length === 0) return loaded;
        return { ...loaded, problems: [...loaded.problems, ...(await diagnose(config, loading))] };
      } finally {
        // At a second load the process most likely serves the first.
        runtime.serve();
        await fetcher.close();
      }
    },
    close() {
      release?.close();
      runtime.close();
      void registries.close();
      void external.close();
      void cluster?.close();
    },
  };
}
