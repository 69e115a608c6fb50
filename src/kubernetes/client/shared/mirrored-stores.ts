/** Stores that another process keeps: this one holds the place of each object's text, and the latest parsed objects. */
import { LRUCache } from "lru-cache";
import { parseJson } from "../../../data/json.js";
import { apiVersionOf } from "../../names.js";
import type { JsonObject } from "../../object.js";
import { isOlder } from "../../resource-version.js";
import type { ByteLog } from "../byte-log.js";
import type { ApiResource } from "../discovery.js";
import { ClusterUnreachable } from "../errors.js";
import type { ObjectStore, ObjectStores, StoreScope } from "../object-stores.js";
import { StoredItems } from "../stored-items.js";
import type { StoreBounds } from "../watch-stores.js";
import { FileLogReader } from "./file-log.js";
import { type FromKeeper, fromWire, type StoreSelection, type ToKeeper } from "./messages.js";

/** The channel to the process that keeps the stores. */
export interface StoreChannel {
  send(message: ToKeeper): void;
  /** Calls back with each message. */
  listen(hear: (message: FromKeeper) => void): void;
}

/** Interval at which the keeper is told which stores are used. */
const USED_EVERY_MS = 30_000;
/** Least time between two requests for a store that has failed: the keeper decides when it is read again. */
const ASKED_ANEW_MS = 200;
/** Most objects by name: the keeper limits their watches. */
const MAX_NAMED = 1_024;

/** A store that another process keeps. */
class MirroredStore implements ObjectStore {
  items: StoredItems | undefined;
  version = "";
  readonly ready: Promise<void>;
  used = true;
  #resolve: () => void = () => {};
  #reject: (reason: Error) => void = () => {};
  #coming: StoredItems | undefined;
  #problem: Error | undefined;

  constructor(
    readonly id: number,
    readonly since: number,
    readonly resource: ApiResource,
  ) {
    this.ready = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Waiting callers get the rejection; without any it must not end the process.
    this.ready.catch(() => {});
  }

  problem(): Error | undefined {
    return this.#problem;
  }

  async contents(): Promise<StoredItems> {
    // It may be usable again after a problem that earlier callers were told of.
    if (this.items === undefined && this.#problem === undefined) await this.ready;
    if (this.#problem !== undefined) throw this.#problem;
    if (this.items === undefined) throw new ClusterUnreachable("the list is not there");
    return this.items;
  }

  async all(): Promise<readonly JsonObject[]> {
    const items = await this.contents();
    await items.readAll();
    return items.all();
  }

  entries({ anew, put, gone }: Extract<FromKeeper, { type: "entries" }>, logOf: (number: number) => ByteLog): void {
    if (anew) this.#coming = new StoredItems({ apiVersion: apiVersionOf(this.resource), kind: this.resource.kind });
    const items = this.#coming ?? this.items;
    if (items === undefined) return;
    // Removed first, because there may already be as many as are allowed.
    for (const key of gone) items.remove(key);
    for (const entry of put) {
      if (entry.length === 4) items.set(entry[0], { log: logOf(entry[1]), at: entry[2], length: entry[3] });
      else items.put(parseJson(entry[1]));
    }
  }

  state(version: string): void {
    this.items = this.#coming ?? this.items;
    this.#coming = undefined;
    this.version = version;
    this.#problem = undefined;
    this.#resolve();
  }

  fail(problem: Error, final: boolean): void {
    this.#problem = problem;
    if (final) this.items = undefined;
    this.#reject(problem);
  }
}

/** {@link ObjectStores} that another process keeps. */
export class MirroredStores implements ObjectStores {
  readonly #channel: StoreChannel;
  readonly #gone: (resource: ApiResource) => void;
  readonly #now: () => number;
  readonly #lists: LRUCache<string, MirroredStore>;
  readonly #named: LRUCache<string, MirroredStore>;
  readonly #stores = new Map<number, MirroredStore>();
  readonly #logs = new Map<number, ByteLog>();
  readonly #telling: NodeJS.Timeout;
  #ids = 0;

  /** @param now monotonic milliseconds */
  constructor(channel: StoreChannel, { max, gone = () => {} }: Pick<StoreBounds, "max" | "gone">, now: () => number) {
    this.#channel = channel;
    this.#gone = gone;
    this.#now = now;
    const dispose = ({ id }: MirroredStore): void => {
      this.#stores.delete(id);
      channel.send({ type: "close", id });
    };
    this.#lists = new LRUCache({ max, dispose });
    this.#named = new LRUCache({ max: MAX_NAMED, dispose });
    channel.listen((message) => this.#hear(message));
    this.#telling = setInterval(() => this.#tellUsed(), USED_EVERY_MS);
    this.#telling.unref();
  }

  get size(): number {
    return this.#stores.size;
  }

  of(resource: ApiResource, scope: StoreScope): ObjectStore {
    const key = JSON.stringify([resource.group, resource.version, resource.plural, scope]);
    return this.#store(this.#lists, key, resource, { kind: "list", scope });
  }

  named(resource: ApiResource, namespace: string, name: string): ObjectStore {
    const place = [resource.group, resource.version, resource.plural];
    const whole = this.#lists.get(JSON.stringify([...place, { namespace: "" }]));
    const key = JSON.stringify([...place, namespace, name]);
    const seen = this.#named.peek(key)?.version ?? "";
    if (whole?.items !== undefined && whole.problem() === undefined && !isOlder(whole.version, seen)) return whole;
    return this.#store(this.#named, key, resource, { kind: "named", namespace, name });
  }

  close(): void {
    clearInterval(this.#telling);
    this.#lists.clear();
    this.#named.clear();
    for (const log of this.#logs.values()) log.close();
    this.#logs.clear();
  }

  #store(
    stores: LRUCache<string, MirroredStore>,
    key: string,
    resource: ApiResource,
    selection: StoreSelection,
  ): MirroredStore {
    const known = stores.get(key);
    if (known !== undefined && (known.problem() === undefined || this.#now() - known.since < ASKED_ANEW_MS)) {
      known.used = true;
      return known;
    }
    const store = new MirroredStore(++this.#ids, this.#now(), resource);
    this.#stores.set(store.id, store);
    stores.set(key, store);
    this.#channel.send({ type: "open", id: store.id, resource, selection });
    return store;
  }

  #hear(message: FromKeeper): void {
    switch (message.type) {
      case "log":
        this.#logs.set(message.place.number, new FileLogReader(message.place));
        return;
      case "log-gone":
        this.#logs.get(message.number)?.close();
        this.#logs.delete(message.number);
        return;
      case "entries":
        this.#stores.get(message.id)?.entries(message, (number) => this.#logs.get(number) ?? NO_LOG);
        return;
      case "state":
        for (const id of message.ids) this.#stores.get(id)?.state(message.version);
        return;
      case "problem": {
        const store = this.#stores.get(message.id);
        store?.fail(fromWire(message.problem), message.final);
        if (store !== undefined && message.problem.status === 404) this.#gone(store.resource);
      }
    }
  }

  #tellUsed(): void {
    const used = [...this.#stores.values()].filter((store) => store.used);
    for (const store of used) store.used = false;
    if (used.length > 0) this.#channel.send({ type: "used", ids: used.map(({ id }) => id) });
  }
}

/** The log of entries that were replaced while it was removed. */
const NO_LOG: ByteLog = {
  size: 0,
  append: () => 0,
  read: () => {
    throw new ClusterUnreachable("what was watched is not there any more");
  },
  close: () => {},
};
