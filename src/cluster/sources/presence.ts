/** Finds out which of the watched kinds a cluster has, and in which version. */
import type { Clock } from "../../data/clock.js";
import { isNotFound, reasonOf } from "../../kubernetes/client/errors.js";
import { followUntil } from "../../kubernetes/client/follow.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import { FIRST_RETRY_MS } from "../../kubernetes/client/limits.js";
import { apiRoot, groupRoot } from "../../kubernetes/client/paths.js";
import type { ListTarget } from "../../kubernetes/client/watched-list.js";
import { member, nameOf, text } from "../../kubernetes/object.js";
import type { Logger } from "../../telemetry/logger.js";
import type { Contact } from "../contact.js";
import { GONE_TIMES, PRESENCE_POLL_MS, PRESENCE_SOON_MS, PRESENCE_SOON_TIMES } from "./limits.js";
import { resourceName, type WatchedKind } from "./watched-kinds.js";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** `waiting`: not known yet. `unreadable`: it exists, but in none of the versions that we can read. */
export type Presence = "waiting" | "absent" | "unreadable" | { readonly version: string };

/** The options. */
export interface PresenceOptions {
  readonly cluster: Pick<Cluster, "http" | "follow">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly contact: Contact;
  readonly kinds: readonly WatchedKind[];
  readonly signal: AbortSignal;
  /** Called when a kind has come, gone, or is served in another version. */
  readonly changed: (kind: WatchedKind, presence: Presence) => void;
}

/** Names of definitions. */
class Names implements ListTarget {
  readonly all = new Set<string>();
  put(object: unknown): void {
    this.all.add(nameOf(object));
  }
  delete(object: unknown): void {
    this.all.delete(nameOf(object));
  }
}

/** Asks discovery about the groups of the watched kinds whenever a definition of theirs changes. */
export class KindPresence {
  readonly #options: PresenceOptions;
  readonly #known = new Map<WatchedKind, Presence>();
  /** The known definitions; `refused`: they may not be watched; absent: not known yet. */
  #definitions: Names | "refused" | undefined;
  /** Number of consecutive answers without each kind. */
  readonly #misses = new Map<WatchedKind, { readonly times: number; readonly at: number }>();
  /** Groups that are being asked about; true: once more after that. */
  readonly #asking = new Map<string, boolean>();

  constructor(options: PresenceOptions) {
    this.#options = options;
    const { cluster, clock, kinds, signal } = options;
    followUntil<Names>(signal, {
      clock,
      begin: () =>
        cluster.follow({
          path: DEFINITIONS,
          query: {},
          metadataOnly: true,
          target: () => new Names(),
          listed: (names) => this.#listed(names),
          changed: (object) => this.#definitionChanged(nameOf(object)),
        }),
      failed: (error, refused) => this.#failed(error, refused),
    });
    for (const group of groupsOf(kinds.filter(({ builtIn }) => builtIn))) this.ask(group);
    this.#poll();
  }

  /** The known state of a kind. */
  of(kind: WatchedKind): Presence {
    return this.#known.get(kind) ?? "waiting";
  }

  /** Asks about a group: its state may have changed. */
  ask(group: string): void {
    if (this.#options.signal.aborted) return;
    if (this.#asking.has(group)) {
      this.#asking.set(group, true);
      return;
    }
    this.#asking.set(group, false);
    void this.#ask(group).finally(() => {
      const again = this.#asking.get(group) === true;
      this.#asking.delete(group);
      if (again) this.ask(group);
    });
  }

  #listed(names: Names): void {
    this.#options.contact.made();
    this.#definitions = names;
    for (const group of groupsOf(this.#options.kinds)) this.ask(group);
  }

  #definitionChanged(name: string): void {
    this.#options.contact.made();
    const kind = this.#options.kinds.find((each) => resourceName(each) === name);
    if (kind === undefined) return;
    this.#misses.delete(kind);
    this.ask(kind.group);
  }

  #failed(error: unknown, refused: boolean): void {
    const { contact, log, kinds } = this.#options;
    contact.saw(error);
    if (!refused || this.#definitions === "refused") return;
    this.#definitions = "refused";
    log.warn("definitions of custom resources may not be watched: kinds that come later are noticed after up to 10 s", {
      reason: reasonOf(error),
    });
    for (const group of groupsOf(kinds)) this.ask(group);
  }

  /** Polls where new kinds are not reported, and for kinds that take long to be served. */
  #poll(): void {
    const { clock, signal, kinds } = this.#options;
    if (signal.aborted) return;
    clock.after(PRESENCE_POLL_MS, () => {
      const wanted = kinds.filter((kind) => this.#definitions === "refused" || this.#misses.has(kind));
      for (const group of groupsOf(wanted)) this.ask(group);
      this.#poll();
    });
  }

  async #ask(group: string): Promise<void> {
    const { kinds, contact, signal, clock } = this.#options;
    const own = kinds.filter((kind) => kind.group === group);
    try {
      const served = await this.#versionsOf(group);
      const plurals = new Map<string, readonly string[]>();
      for (const version of new Set(own.flatMap(({ versions }) => versions)))
        if (served.includes(version)) plurals.set(version, await this.#pluralsOf(group, version));
      if (signal.aborted) return;
      contact.made();
      for (const kind of own) {
        const version = kind.versions.find((each) => plurals.get(each)?.includes(kind.plural));
        if (version === undefined) this.#missed(kind);
        else this.#found(kind, version);
      }
      if (own.some((kind) => this.#isSoon(kind))) clock.after(PRESENCE_SOON_MS, () => this.ask(group));
    } catch (error) {
      if (signal.aborted) return;
      contact.saw(error);
      clock.after(FIRST_RETRY_MS, () => this.ask(group));
    }
  }

  /** Whether it is asked again at once. Where removed kinds are not reported, an existing one is not given up within a second. */
  #isSoon(kind: WatchedKind): boolean {
    const known = this.of(kind) === "waiting" || this.#isDefined(kind);
    return known && (this.#misses.get(kind)?.times ?? PRESENCE_SOON_TIMES) < PRESENCE_SOON_TIMES;
  }

  #isDefined(kind: WatchedKind): boolean {
    const definitions = kind.builtIn ? "refused" : this.#definitions;
    return definitions instanceof Names && definitions.all.has(resourceName(kind));
  }

  #found(kind: WatchedKind, version: string): void {
    this.#misses.delete(kind);
    const before = this.of(kind);
    if (typeof before === "object" && before.version === version) return;
    this.#set(kind, { version });
  }

  /** Records that discovery does not have a kind. Only the definitions tell at once what that means: an API server that starts has not read them yet. */
  #missed(kind: WatchedKind): void {
    const definitions = kind.builtIn ? "refused" : this.#definitions;
    if (definitions === undefined) return;
    const defined = this.#isDefined(kind);
    if (definitions !== "refused" && !defined) {
      this.#misses.delete(kind);
      this.#set(kind, "absent");
      return;
    }
    const now = this.#options.clock.now();
    const before = this.#misses.get(kind);
    // All sources of a group ask at the same moment when their lists fail: that counts once.
    const isMoment = before !== undefined && now - before.at < PRESENCE_POLL_MS / 2;
    if (!defined && isMoment && this.of(kind) !== "waiting") return;
    const misses = (before?.times ?? 0) + 1;
    this.#misses.set(kind, { times: misses, at: now });
    if (defined && misses >= PRESENCE_SOON_TIMES) this.#set(kind, "unreadable");
    if (defined || misses < GONE_TIMES) return;
    this.#misses.delete(kind);
    this.#set(kind, "absent");
  }

  #set(kind: WatchedKind, presence: Presence): void {
    if (this.of(kind) === presence) return;
    this.#known.set(kind, presence);
    if (presence === "unreadable")
      this.#options.log.error(
        "policies cannot be read: the cluster serves their kind in no version known here; what was read before goes on being served",
        {
          resource: resourceName(kind),
          known: kind.versions.join(", "),
        },
      );
    this.#options.changed(kind, presence);
  }

  async #versionsOf(group: string): Promise<readonly string[]> {
    const listed = member(await this.#document(groupRoot(group)), "versions");
    return (Array.isArray(listed) ? listed : []).map((each) => text(each, "version"));
  }

  async #pluralsOf(group: string, version: string): Promise<readonly string[]> {
    const listed = member(await this.#document(apiRoot({ group, version })), "resources");
    return (Array.isArray(listed) ? listed : []).map((each) => text(each, "name"));
  }

  /** The document at a path; `undefined` when there is none. */
  async #document(path: string): Promise<unknown> {
    const { cluster, signal } = this.#options;
    try {
      return (await cluster.http.get(path, {}, signal)).value;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

const groupsOf = (kinds: readonly WatchedKind[]): ReadonlySet<string> => new Set(kinds.map(({ group }) => group));
