/** External data from the network, for a server and some commands: HTTP servers, registries, a cluster if there is one. */
import type { LookupFunction } from "node:net";
import { PublicError } from "../data/public-text.js";
import type { Cluster } from "../kubernetes/client/index.js";
import { ClusterEntries, EntryKeeper } from "./entries/defined-entries.js";
import { type ExternalData, NO_ENTRIES, NO_EXTERNAL, NO_OBJECTS } from "./external.js";
import { guardedLookup, literalRefusal, systemResolve } from "./http/connector.js";
import { DEFAULT_BLOCKLIST, EgressRules, LINK_LOCAL } from "./http/egress-rules.js";
import { GuardedClient } from "./http/guarded-client.js";
import { isBlocked } from "./http/http-failure.js";
import type { HttpSource } from "./http/http-source.js";
import { NetworkHttp } from "./http/network-http.js";
import { type PluginReply, type PluginRequest, pluginHttp } from "./http/plugin-http.js";
import type { ImageAccess } from "./images/image-trust.js";
import { pullSecrets } from "./images/pull-secrets.js";
import { type ReadImage, RegistryImages } from "./images/registry-images.js";
import { type AskRegistries, RegistryTrust } from "./images/registry-trust.js";
import { ClusterObjects } from "./objects/cluster-objects.js";

/** The servers that policies may send requests to. */
export interface EgressOptions {
  /** Default: {@link DEFAULT_BLOCKLIST}. */
  readonly blocklist?: readonly string[];
  /** Default: none, which allows everything that is not blocked. */
  readonly allowlist?: readonly string[];
  /** Whether policies that are confined to a namespace may send requests; default no. */
  readonly forNamespaced?: boolean;
}

type ReadSecret = ReturnType<typeof pullSecrets>;

/** The sources. */
export interface ExternalOptions {
  readonly egress?: EgressOptions;
  /** Receives a reader of the Secrets that the access names. */
  readonly readImage: (...asked: [...Parameters<ReadImage>, ReadSecret]) => ReturnType<ReadImage>;
  readonly askRegistries: (access: ImageAccess, secret: ReadSecret) => AskRegistries;
  /** The server's namespace. */
  readonly namespace: string;
  /** Absent: questions that need one fail. */
  readonly cluster?: Cluster | undefined;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** HTTP servers only: for commands that have files for everything else. */
export interface OpenHttp {
  readonly http: HttpSource;
  /** Ends connections, and requests under way. */
  close(): Promise<void>;
}

/**
 * Nothing is connected before the first question.
 * @throws UsageError
 */
export function openHttp(egress: EgressOptions = {}): OpenHttp & { readonly client: GuardedClient } {
  const { blocklist = DEFAULT_BLOCKLIST, allowlist = [], forNamespaced = false } = egress;
  const client = new GuardedClient(new EgressRules({ blocklist, allowlist }));
  return { client, http: new NetworkHttp(client, forNamespaced), close: () => client.close() };
}

/** The addresses that no policy may cause a connection to: the guard of images, of modules and of guests' questions to registries. HTTP requests have their own. */
export interface AddressGuard {
  /** Why a host is never asked, whatever it resolves to; `undefined` when it is not blocked by its name. */
  refusal(url: URL): string | undefined;
  /** Resolves names for connections, and fails for those that lead to a blocked address. */
  readonly lookup: LookupFunction;
  /** Whether an error is such a failure. */
  isRefusal(error: unknown): boolean;
}

/**
 * The blocked hosts and addresses, with {@link LINK_LOCAL} ones unless the list is empty, for clients other than {@link openHttp} that send requests on behalf
 * of a policy.
 * @throws UsageError
 */
export function addressGuard({ blocklist = DEFAULT_BLOCKLIST }: EgressOptions = {}): AddressGuard {
  const all = blocklist.length === 0 ? blocklist : [...blocklist, ...LINK_LOCAL];
  const rules = new EgressRules({ blocklist: all, allowlist: [] });
  return {
    refusal: (url) => rules.refusal(url, url.origin) ?? literalRefusal(url.hostname, rules),
    lookup: guardedLookup(systemResolve, rules),
    isRefusal: isBlocked,
  };
}

/** Data with the connections that it needs. */
export interface OpenExternal {
  readonly data: ExternalData;
  /** HTTP requests of Extism plugins. */
  readonly plugins: (request: PluginRequest) => Promise<PluginReply>;
  /** Ends connections, and requests under way. */
  close(): Promise<void>;
}

/** No sources: for untrusted policies. */
export const closedExternal = (): OpenExternal => ({
  data: NO_EXTERNAL,
  plugins: () => Promise.reject(new PublicError("nothing outside of the request may be asked here")),
  close: () => Promise.resolve(),
});

/**
 * Nothing is connected before the first question.
 * @throws UsageError
 */
export function openExternal(options: ExternalOptions): OpenExternal {
  const { egress, readImage, askRegistries, namespace, cluster, now } = options;
  const { client, http, close } = openHttp(egress);
  const ended = new AbortController();
  const keeper = new EntryKeeper({ client, now, ...(cluster && { cluster }) });
  const objects = cluster && new ClusterObjects(cluster);
  const secret = pullSecrets(objects ?? NO_OBJECTS, namespace, now);
  return {
    plugins: pluginHttp(client),
    data: {
      objects: objects ?? NO_OBJECTS,
      http,
      images: new RegistryImages((...asked) => readImage(...asked, secret), now, ended.signal),
      trust: new RegistryTrust((access) => askRegistries(access, secret), now, ended.signal),
      entries:
        objects === undefined || cluster === undefined ? NO_ENTRIES : new ClusterEntries(objects, cluster, keeper, now),
      keeper,
    },
    async close() {
      ended.abort();
      await close();
    },
  };
}
