/** Keeps the stores of several processes: each list is watched once, and stored once in a file that all of them read. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { ClusterUnreachable } from "../errors.js";
import type { StoredEntry } from "../stored-items.js";
import type { WatchStore } from "../watch-store.js";
import type { WatchStores } from "../watch-stores.js";
import { FileLog } from "./file-log.js";
import { type FromKeeper, type SharedEntry, type ToKeeper, toWire } from "./messages.js";
import { KEY_BYTES } from "./sealed-file.js";

/** Interval of checks without an event: stores that have become too old, or were removed. */
export const LOOK_MS = 1_000;
/** Most entries in one message: a process reads each in one go. */
const ENTRIES_AT_ONCE = 1_000;

/** The files of logs, in a folder that is private to this user: one for each process that keeps lists. */
export class LogFolder {
  readonly #path: string;
  readonly #key = randomBytes(KEY_BYTES).toString("base64");
  #logs = 0;

  /** Removes the files of an earlier process that was killed: a pod's volume outlives its processes. */
  constructor() {
    const own = `policy-server-lists-${hostname()}-`;
    for (const name of readdirSync(tmpdir())) {
      if (name.startsWith(own) && !isOthers(Number(/^[0-9]+/.exec(name.slice(own.length))?.[0]))) {
        removeIfMay(join(tmpdir(), name));
      }
    }
    this.#path = mkdtempSync(join(tmpdir(), `${own}${process.pid}-`));
  }

  /** A new log. */
  newLog(): FileLog {
    const number = ++this.#logs;
    return new FileLog({ number, path: join(this.#path, String(number)), key: this.#key });
  }

  /** Removes all. */
  remove(): void {
    rmSync(this.#path, { recursive: true, force: true });
  }
}

/** Removes a folder, unless another user owns it: any user may create one of that name in a public folder. */
function removeIfMay(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // It stays.
  }
}

/** Whether another process with that number runs: in a container the former process had the same number as this one. */
function isOthers(pid: number): boolean {
  if (pid === process.pid || !Number.isInteger(pid)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

const givenUp = (): ClusterUnreachable => new ClusterUnreachable("the list is not watched any more");

/** A store as one process uses it. */
interface Subscription {
  readonly open: Extract<ToKeeper, { type: "open" }>;
  readonly store: WatchStore;
  /** The only key that the process wants. */
  readonly only: string | undefined;
  put: Map<string, StoredEntry | undefined>;
  /** The problem that the process was told of, as long as it lasts. */
  problem: string | undefined;
  /** Whether the process has all entries, so that later changes are in {@link put}. */
  whole: boolean;
  /** The version that the process was told. */
  told: string;
  takenBack: () => void;
}

/** A process that uses the stores. */
export class KeptProcess {
  readonly #stores: WatchStores;
  readonly #send: (message: FromKeeper) => void;
  readonly #subscriptions = new Map<number, Subscription>();
  /** The logs that the process knows. */
  readonly #logs = new Set<FileLog>();
  #telling = false;

  /** @param send sends a message to the process; never throws */
  constructor(stores: WatchStores, send: (message: FromKeeper) => void) {
    this.#stores = stores;
    this.#send = send;
  }

  hear(message: ToKeeper): void {
    switch (message.type) {
      case "open":
        this.#open(message);
        return;
      case "used":
        for (const id of message.ids) this.#touch(id);
        return;
      case "close":
        this.#drop(message.id);
    }
  }

  /** To be called every {@link LOOK_MS}. */
  look(): void {
    // Entries in a removed log must be replaced before the log is removed.
    this.#tell(this.#subscriptions.values());
    const used = new Set<unknown>();
    for (const { store } of this.#subscriptions.values()) {
      for (const log of store.items?.logs ?? []) used.add(log);
    }
    for (const log of this.#logs) {
      if (used.has(log)) continue;
      this.#logs.delete(log);
      this.#send({ type: "log-gone", number: log.place.number });
    }
  }

  /** Must be called when the process has ended. */
  end(): void {
    for (const id of [...this.#subscriptions.keys()]) this.#drop(id);
  }

  #storeOf({ resource, selection }: Subscription["open"]): WatchStore {
    return selection.kind === "list"
      ? this.#stores.of(resource, selection.scope)
      : this.#stores.named(resource, selection.namespace, selection.name);
  }

  #open(open: Subscription["open"]): void {
    const store = this.#storeOf(open);
    const { selection } = open;
    const only = selection.kind === "named" ? `${selection.namespace}\0${selection.name}` : undefined;
    const subscription: Subscription = {
      open,
      store,
      only,
      put: new Map(),
      problem: undefined,
      whole: false,
      told: "",
      takenBack: () => {},
    };
    this.#drop(open.id);
    this.#subscriptions.set(open.id, subscription);
    subscription.takenBack = store.observe({
      listed: () => {
        subscription.whole = false;
        this.#tell([subscription]);
      },
      entry: (key, entry) => {
        if (only !== undefined && key !== only) return;
        subscription.put.set(key, entry);
        this.#tellSoon();
      },
      version: () => this.#tellSoon(),
    });
    this.#tell([subscription]);
    const ended = (): void => {
      if (this.#subscriptions.get(open.id) === subscription) this.#tell([subscription]);
    };
    store.ready.then(ended, ended);
    void store.ended.then(ended);
  }

  /** Marks the store as used. */
  #touch(id: number): void {
    const subscription = this.#subscriptions.get(id);
    if (subscription !== undefined && !subscription.store.stopped) this.#storeOf(subscription.open);
  }

  #drop(id: number): void {
    this.#subscriptions.get(id)?.takenBack();
    this.#subscriptions.delete(id);
  }

  /** Sends changes. */
  #tell(subscriptions: Iterable<Subscription>): void {
    const states = new Map<string, number[]>();
    for (const subscription of subscriptions) {
      const version = this.#tellEntries(subscription);
      if (version === undefined) continue;
      const ids = states.get(version) ?? [];
      states.set(version, ids);
      ids.push(subscription.open.id);
    }
    for (const [version, ids] of states) this.#send({ type: "state", ids, version });
  }

  /**
   * Sends a problem, as long as there is one: the process' entries must then not be used, not for a moment. Otherwise sends changes.
   * @returns the version that was sent
   */
  #tellEntries(subscription: Subscription): string | undefined {
    const { store, open, only, put, whole } = subscription;
    // A process that has waited for the first list of a removed store gets it.
    const problem = store.problem() ?? (store.stopped && whole ? givenUp() : undefined);
    if (problem !== undefined) return this.#tellProblem(subscription, problem, store.stopped);
    const { items } = store;
    if (items === undefined) return undefined;
    try {
      if (!whole) this.#sendAll(open.id, items.entries, only);
      else if (put.size > 0) this.#sendEntries(open.id, false, put, only !== undefined);
      else if (subscription.problem === undefined && subscription.told === store.version) return undefined;
    } catch (cause) {
      return this.#tellProblem(subscription, new ClusterUnreachable("what is watched cannot be read", { cause }), true);
    }
    subscription.put = new Map();
    subscription.whole = true;
    subscription.problem = undefined;
    subscription.told = store.version;
    return store.version;
  }

  #tellProblem(subscription: Subscription, problem: Error, final: boolean): undefined {
    if (subscription.problem === problem.message) return;
    subscription.problem = problem.message;
    this.#send({ type: "problem", id: subscription.open.id, problem: toWire(problem), final });
  }

  /** Sends all changes of a turn of the event loop together. */
  #tellSoon(): void {
    if (this.#telling) return;
    this.#telling = true;
    setImmediate(() => {
      this.#telling = false;
      this.#tell(this.#subscriptions.values());
    });
  }

  #sendAll(id: number, entries: ReadonlyMap<string, StoredEntry>, only: string | undefined): void {
    if (only !== undefined) {
      const entry = entries.get(only);
      this.#sendEntries(id, true, new Map(entry && [[only, entry]]), true);
      return;
    }
    const all = [...entries];
    for (let from = 0; from === 0 || from < all.length; from += ENTRIES_AT_ONCE) {
      this.#sendEntries(id, from === 0, new Map(all.slice(from, from + ENTRIES_AT_ONCE)), false);
    }
  }

  #sendEntries(id: number, anew: boolean, changed: ReadonlyMap<string, StoredEntry | undefined>, texts: boolean): void {
    const put: SharedEntry[] = [];
    const gone: string[] = [];
    for (const [key, entry] of changed) {
      if (entry === undefined) gone.push(key);
      else put.push(this.#shared(key, entry, texts));
    }
    this.#send({ type: "entries", id, anew, put, gone });
  }

  #shared(key: string, { log, at, length }: StoredEntry, text: boolean): SharedEntry {
    if (text || !(log instanceof FileLog)) return [key, log.read(at, length).toString("utf8")];
    if (!this.#logs.has(log)) {
      this.#logs.add(log);
      this.#send({ type: "log", place: log.place });
    }
    return [key, log.place.number, at, length];
  }
}
