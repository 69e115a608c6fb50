/** All policies of a cluster with what belongs to them, in their present state. */
import type { ClusterDocument } from "../../config/from-cluster/cluster-document.js";
import type { Clock } from "../../data/clock.js";
import { parseJson } from "../../data/json.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import { member, nameOf, text } from "../../kubernetes/object.js";
import type { Logger } from "../../telemetry/logger.js";
import type { Contact } from "../contact.js";
import type { ClusterSettings } from "../settings.js";
import type { Items, WatchedItem } from "./items.js";
import { KindPresence, type Presence } from "./presence.js";
import { Source } from "./source.js";
import {
  CONFIG_MAP,
  CONFIG_MAP_FIELDS,
  isOfPolicies,
  isWatched,
  POLICY_EXCEPTION,
  POLICY_SERVER,
  resourceName,
  WATCHED_KINDS,
  type WatchedKind,
} from "./watched-kinds.js";

/** The options. */
export interface SourcesOptions {
  readonly cluster: Pick<Cluster, "http" | "follow">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly contact: Contact;
  readonly settings: ClusterSettings;
  /** Called with the keys of changed documents, and of those of which only the status has changed. */
  readonly changed: (documents: readonly string[], statuses: readonly string[]) => void;
  /** Called when {@link Sources.complete} or {@link Sources.unread} may have changed. */
  readonly moved: () => void;
}

/** A source that has not been read. */
export interface Unread {
  /** `<plural>.<group>`. */
  readonly resource: string;
  readonly why: string;
}

/** Follows all kinds of policies and what belongs to them. */
export class Sources {
  readonly #options: SourcesOptions;
  readonly #kinds: readonly WatchedKind[];
  readonly #stopping = new AbortController();
  readonly #presence: KindPresence;
  readonly #sources = new Map<WatchedKind, Source>();
  /** ConfigMaps that the PolicyServer names. */
  readonly #configMaps = new Map<string, Source>();
  /** Stands for a PolicyServer that can't be read: the required signatures of modules are not known, so that none is loaded. */
  readonly #unknownServer: WatchedItem;
  #wasServerUnknown = false;
  /** Number of ignored PolicyExceptions in the last message. */
  #exceptionsLeftOut = 0;
  /** ConfigMaps that a PolicyServer waits for: without them it would refuse modules that it allows. */
  readonly #waiting = new Set<string>();

  constructor(options: SourcesOptions) {
    this.#options = options;
    this.#kinds = WATCHED_KINDS.filter((kind) => isWatched(kind, options.settings));
    this.#unknownServer = unreadItem(POLICY_SERVER, options.settings.policyServer);
    const { cluster, clock, log, contact } = options;
    const { signal } = this.#stopping;
    this.#presence = new KindPresence({
      ...{ cluster, clock, log, contact, signal },
      kinds: this.#kinds,
      changed: (kind, presence) => this.#present(kind, presence),
    });
  }

  /** A document with its status. */
  item(key: string): WatchedItem | undefined {
    for (const source of this.#all()) {
      const item = source.items.get(key);
      if (item !== undefined) return item;
    }
    return key === this.#unknownServer.document.key && this.#isServerUnknown ? this.#unknownServer : undefined;
  }

  /** All documents. */
  *documents(): Iterable<ClusterDocument> {
    for (const source of this.#all()) for (const { document } of source.items.values()) yield document;
    if (this.#isServerUnknown) yield this.#unknownServer.document;
  }

  get #isServerUnknown(): boolean {
    const source = this.#sources.get(POLICY_SERVER);
    const isUnreadable = this.#presence.of(POLICY_SERVER) === "unreadable";
    if (source === undefined) return isUnreadable;
    const { state, items } = source;
    return items.size === 0 && (state === "refused" || state === "failed" || (isUnreadable && state !== "read"));
  }

  /** Whether each source was read, or is known not to be readable. */
  get complete(): boolean {
    const isSettled = ({ state }: Source): boolean => state === "read" || state === "refused";
    return (
      this.#kinds.every((kind) => this.#presence.of(kind) !== "waiting") &&
      [...this.#sources].every(([kind, source]) => isSettled(source) || this.#presence.of(kind) === "unreadable") &&
      [...this.#configMaps.values()].every(isSettled)
    );
  }

  /** Sources that exist, and have never been read. */
  get unread(): readonly Unread[] {
    const unread: Unread[] = [];
    for (const kind of this.#kinds) {
      const resource = resourceName(kind);
      const presence = this.#presence.of(kind);
      const source = this.#sources.get(kind);
      if (presence === "unreadable") unread.push({ resource, why: "it is served in no version known here" });
      else if (presence === "waiting")
        unread.push({ resource, why: "the API server has not said whether there are any" });
      else if (source !== undefined && source.state !== "read")
        unread.push({ resource, why: source.publicReason || "it is being read" });
    }
    for (const [name, source] of this.#configMaps)
      if (source.state !== "read")
        unread.push({ resource: `configmaps (${name})`, why: source.publicReason || "it is being read" });
    return unread;
  }

  /** Ends all watches. */
  stop(): void {
    this.#stopping.abort();
    for (const source of this.#all()) source.stop();
  }

  *#all(): Iterable<Source> {
    yield* this.#sources.values();
    yield* this.#configMaps.values();
  }

  #present(kind: WatchedKind, presence: Presence): void {
    const { settings, changed } = this.#options;
    const before = this.#sources.get(kind);
    before?.stop();
    // One that exists, but can't be read, was not withdrawn: its documents are still served.
    if (presence !== "unreadable") this.#sources.delete(kind);
    if (typeof presence === "object") {
      const { group, kind: name, plural, fieldSelector, wanted } = kind;
      const source = this.#source({
        kind: { group, version: presence.version, kind: name, plural },
        namespace: "",
        ...(fieldSelector && { fieldSelector: fieldSelector(settings) }),
        wanted: (object) => wanted?.(object, settings) ?? true,
        arePolicies: isOfPolicies(kind),
        ...(kind === POLICY_EXCEPTION && { listed: ({ unwanted }: Items) => this.#sayExceptions(unwanted) }),
        // In another version it is read anew: until then the known documents stay.
        ...(before && { before: before.items }),
        changed: (documents, statuses) => {
          if (kind !== POLICY_SERVER) {
            changed(documents, statuses);
            return;
          }
          changed([], statuses);
          for (const key of documents) this.#waiting.add(key);
          this.#lookAtPolicyServer();
        },
        unknown: () => this.#presence.ask(group),
        moved: () => {
          if (kind === POLICY_SERVER) this.#lookWhetherServerIsKnown();
          this.#moved();
        },
      });
      this.#sources.set(kind, source);
    } else if (before !== undefined && presence !== "unreadable") {
      changed([...before.items.keys()], []);
      if (kind === POLICY_SERVER) this.#lookAtPolicyServer();
    }
    if (kind === POLICY_SERVER) this.#lookWhetherServerIsKnown();
    this.#moved();
  }

  #lookWhetherServerIsKnown(): void {
    if (this.#wasServerUnknown === this.#isServerUnknown) return;
    this.#wasServerUnknown = this.#isServerUnknown;
    this.#waiting.add(this.#unknownServer.document.key);
  }

  #source(
    special: Pick<
      ConstructorParameters<typeof Source>[0],
      | "kind"
      | "namespace"
      | "fieldSelector"
      | "wanted"
      | "arePolicies"
      | "before"
      | "changed"
      | "listed"
      | "unknown"
      | "moved"
    >,
  ): Source {
    const { cluster, clock, log, contact } = this.#options;
    return new Source({ cluster, clock, log, contact, ...special });
  }

  /** Logs the ignored exceptions: at the start, and whenever a list shows another number. */
  #sayExceptions(leftOut: number): void {
    if (leftOut === this.#exceptionsLeftOut) return;
    this.#exceptionsLeftOut = leftOut;
    const message =
      "PolicyExceptions count for nothing but in the namespaces of --exception-namespaces: some are left out";
    if (leftOut > 0) this.#options.log.warn(message, { left_out: leftOut });
  }

  #moved(): void {
    const { changed, moved } = this.#options;
    if (this.#waiting.size > 0 && [...this.#configMaps.values()].every(({ state }) => state !== "waiting")) {
      changed([...this.#waiting], []);
      this.#waiting.clear();
    }
    moved();
  }

  /** Follows the ConfigMaps that the PolicyServer names, and stops following others. */
  #lookAtPolicyServer(): void {
    const { settings, changed } = this.#options;
    const [item] = [...(this.#sources.get(POLICY_SERVER)?.items.values() ?? [])];
    const spec = item === undefined ? undefined : member(parseJson(item.document.text), "spec");
    const names = CONFIG_MAP_FIELDS.map((field) => text(spec, field)).filter((name) => name !== "");
    for (const [name, source] of this.#configMaps) {
      if (names.includes(name)) continue;
      source.stop();
      this.#configMaps.delete(name);
      changed([...source.items.keys()], []);
    }
    for (const name of names) {
      if (this.#configMaps.has(name)) continue;
      const source = this.#source({
        kind: CONFIG_MAP,
        namespace: settings.namespace,
        fieldSelector: `metadata.name=${name}`,
        wanted: (object) => nameOf(object) === name,
        arePolicies: false,
        changed,
        unknown: () => {},
        moved: () => this.#moved(),
      });
      this.#configMaps.set(name, source);
    }
    this.#moved();
  }
}

/** Stands for an object that can't be read: without contents. */
const unreadItem = ({ group, kind }: WatchedKind, name: string): WatchedItem => ({
  document: { key: `${group}/${kind}//${name}`, uid: "", resourceVersion: "", generation: 0, text: "" },
  status: undefined,
});
