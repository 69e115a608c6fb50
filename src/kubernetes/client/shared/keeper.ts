/** Keeps the stores of several processes: each list is watched once, and held once in a file that all of them read. */
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

/** How often what has no event of its own is looked at: stores that have grown too old, or were given up. */
export const LOOK_MS = 1_000;
/** Entries in one message: each process reads it in one go. */
const ENTRIES_AT_ONCE = 1_000;

/** The files of logs, in a folder that nobody else may look into: one for each process that keeps lists. */
export class LogFolder {
  readonly #path: string;
  readonly #key = randomBytes(KEY_BYTES).toString("base64");
  #logs = 0;

  /** Removes what one before it has left that was killed: a pod's volume outlives its processes. */
  constructor() {
    const own = `policy-server-lists-${hostname()}-`;
    for (const name of readdirSync(tmpdir())) {
      if (name.startsWith(own) && !isOthers(Number(/^[0-9]+/.exec(name.slice(own.length))?.[0]))) {
        rmSync(join(tmpdir(), name), { recursive: true, force: true });
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

/** Whether another process of that number runs: in a container the one before had the number of this one. */
function isOthers(pid: number): boolean {
  if (pid === process.pid || !Number.isInteger(pid)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** A store as one process sees it. */
interface Subscription {
  readonly open: Extract<ToKeeper, { type: "open" }>;
  readonly store: WatchStore;
  /** The only key that is wanted. */
  readonly only: string | undefined;
  put: Map<string, StoredEntry | undefined>;
  problem: string | undefined;
  /** The version that it was told. */
  told: string;
  takenBack: () => void;
}

/** One process, as its keeper sees it. */
export class KeptProcess {
  readonly #stores: WatchStores;
  readonly #send: (message: FromKeeper) => void;
  readonly #subscriptions = new Map<number, Subscription>();
  /** Logs that were named to it. */
  readonly #logs = new Set<FileLog>();
  #flushing = false;

  /** @param send tells the process something; never throws */
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
    // What names a log that is left must have been told before the log goes.
    this.#flush();
    for (const [id, { store }] of this.#subscriptions) {
      if (store.stopped) this.#tellProblem(id, new ClusterUnreachable("the list is not watched any more"), true);
      else this.#tellProblem(id, store.problem(), store.failed !== undefined);
    }
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

  /** The process has gone. */
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
      told: "",
      takenBack: () => {},
    };
    this.#drop(open.id);
    this.#subscriptions.set(open.id, subscription);
    subscription.takenBack = store.observe({
      listed: () => this.#tellAll(subscription),
      entry: (key, entry) => {
        if (only !== undefined && key !== only) return;
        subscription.put.set(key, entry);
        this.#flushSoon();
      },
      version: () => this.#flushSoon(),
    });
    const told = (): void => {
      if (this.#subscriptions.get(open.id) !== subscription) return;
      this.#tellProblem(open.id, store.problem(), store.failed !== undefined);
    };
    if (store.items !== undefined) this.#tellAll(subscription);
    store.ready.then(told, told);
    void store.ended.then(told);
  }

  /** The store's place among others is that of one that is used. */
  #touch(id: number): void {
    const subscription = this.#subscriptions.get(id);
    if (subscription !== undefined && !subscription.store.stopped) this.#storeOf(subscription.open);
  }

  #drop(id: number): void {
    this.#subscriptions.get(id)?.takenBack();
    this.#subscriptions.delete(id);
  }

  #tellProblem(id: number, problem: Error | undefined, final: boolean): void {
    const subscription = this.#subscriptions.get(id);
    if (subscription === undefined || subscription.problem === problem?.message) return;
    subscription.problem = problem?.message;
    if (problem !== undefined) this.#send({ type: "problem", id, problem: toWire(problem), final });
    else if (subscription.store.items !== undefined) this.#tellState(id, subscription);
  }

  #tellAll(subscription: Subscription): void {
    const { store, only, open } = subscription;
    const { entries } = store.items ?? {};
    if (entries === undefined) return;
    subscription.put.clear();
    const wanted = only === undefined ? [...entries] : [...entries].filter(([key]) => key === only);
    for (let from = 0; from === 0 || from < wanted.length; from += ENTRIES_AT_ONCE) {
      this.#sendEntries(open.id, from === 0, new Map(wanted.slice(from, from + ENTRIES_AT_ONCE)), only !== undefined);
    }
    this.#tellState(open.id, subscription);
  }

  /** What has changed in a turn of the event loop is told together. */
  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    for (const [id, subscription] of this.#subscriptions) {
      const { store, put, only, told } = subscription;
      if (store.items === undefined || (put.size === 0 && told === store.version)) continue;
      if (put.size > 0) this.#sendEntries(id, false, put, only !== undefined);
      subscription.put = new Map();
      this.#tellState(id, subscription);
    }
  }

  #tellState(id: number, subscription: Subscription): void {
    const { store } = subscription;
    subscription.told = store.version;
    this.#send({ type: "state", id, version: store.version });
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
