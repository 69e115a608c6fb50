import { setImmediate as nextTurn } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { parseJson, stringifyJson } from "../../data/json.js";
import { isObject, type JsonObject, member, nameOf, namespaceOf } from "../object.js";
import type { ObjectTexts } from "../reader.js";
import { type ByteLog, type LogSource, MemoryLog } from "./byte-log.js";
import { ResourceError } from "./errors.js";
import { MAX_STORE_OBJECTS } from "./limits.js";
import type { TextPieces } from "./text-pieces.js";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Bytes of text, about, whose objects are kept read because somebody has asked for them by name. */
const READ_BYTES = 4 * 1024 * 1024;
/** Bytes of objects that are gone or have changed, beside as many as there are now, after which the others move to another log. */
const MOST_WASTE = 4 * 1024 * 1024;
/** Objects that move at a time, while requests wait. */
const MOVED_AT_ONCE = 200;

/** Where an object's text stands. Each version of an object has an entry of its own. */
export interface StoredEntry {
  log: ByteLog;
  at: number;
  readonly length: number;
}

/** Told what becomes of entries: an entry that is new, has moved, or (`undefined`) is gone. */
export type EntrySink = (key: string, entry: StoredEntry | undefined) => void;

/** What lists leave out of their items. */
export interface ItemIdentity {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The objects of a store, by namespace and name, and how much there may be of them. They are held as texts: read they take several times as much. */
export class StoredItems {
  readonly #identity: ItemIdentity;
  readonly #newLog: () => ByteLog;
  readonly #entries = new Map<string, StoredEntry>();
  readonly #read = new LRUCache<StoredEntry, JsonObject>({
    maxSize: READ_BYTES,
    sizeCalculation: (_, { length }) => 1 + length,
  });
  /** All objects read, from when somebody wants them so. */
  #whole: Map<StoredEntry, JsonObject> | undefined;
  #all: readonly JsonObject[] | undefined;
  #texts: ObjectTexts | undefined;
  #log: ByteLog;
  #bytes = 0;
  /** What is being left. */
  #old: ByteLog | undefined;
  /** Told of every change, for those who hold the same entries. */
  sink: EntrySink | undefined;

  /** @param newLog makes what texts are written to; default: in memory */
  constructor(identity: ItemIdentity, newLog: () => ByteLog = () => new MemoryLog()) {
    this.#identity = identity;
    this.#newLog = newLog;
    this.#log = this.#begun();
  }

  /** Where its entries stand. */
  get logs(): readonly ByteLog[] {
    return this.#old === undefined ? [this.#log] : [this.#log, this.#old];
  }

  /** All entries, by key. */
  get entries(): ReadonlyMap<string, StoredEntry> {
    return this.#entries;
  }

  /** All, by namespace and name. They stay read from now on. */
  all(): readonly JsonObject[] {
    if (this.#all === undefined) {
      const before = this.#whole;
      const whole = new Map<StoredEntry, JsonObject>();
      for (const [, entry] of this.#sorted()) whole.set(entry, before?.get(entry) ?? readEntry(entry));
      this.#whole = whole;
      this.#all = [...whole.values()];
    }
    return this.#all;
  }

  /** Their texts, by namespace and name; the same until something changes. */
  texts(): ObjectTexts {
    this.#texts ??= new EntryTexts(
      this.#sorted().map(([, entry]) => entry),
      this.#bytes,
    );
    return this.#texts;
  }

  get(namespace: string, name: string): JsonObject | undefined {
    const entry = this.#entries.get(`${namespace}\0${name}`);
    if (entry === undefined) return undefined;
    const known = this.#whole?.get(entry) ?? this.#read.get(entry);
    if (known !== undefined) return known;
    const object = readEntry(entry);
    this.#read.set(entry, object);
    return object;
  }

  /** @throws ResourceError when there are too many */
  put(object: unknown): void {
    if (!isObject(object)) return;
    const kept = trimmed({ ...this.#identity, ...object });
    const bytes = Buffer.from(stringifyJson(kept));
    const at = this.#append(bytes);
    this.set(keyOf(object), { log: this.#log, at, length: bytes.length });
    if (this.#entries.size > MAX_STORE_OBJECTS) {
      throw new ResourceError(
        `there are more than ${MAX_STORE_OBJECTS} objects of kind ${this.#identity.kind}: narrow the list by a selector`,
      );
    }
    if (this.#old === undefined && this.#log.size > 2 * this.#bytes + MOST_WASTE) void this.#move();
  }

  delete(object: unknown): void {
    if (isObject(object)) this.remove(keyOf(object));
  }

  /** Takes an entry that stands in some log already. */
  set(key: string, entry: StoredEntry): void {
    this.#forget(key);
    this.#entries.set(key, entry);
    this.#bytes += entry.length;
    this.sink?.(key, entry);
  }

  remove(key: string): void {
    if (!this.#entries.has(key)) return;
    this.#forget(key);
    this.#entries.delete(key);
    this.sink?.(key, undefined);
  }

  /** Nobody puts anything any more. */
  close(): void {
    this.#log.close();
  }

  #begun(): ByteLog {
    try {
      return this.#newLog();
    } catch {
      // There can be no file now.
      return new MemoryLog();
    }
  }

  /** @returns where it stands in the log that is written then */
  #append(bytes: Uint8Array): number {
    try {
      return this.#log.append(bytes);
    } catch {
      // The disk is full, or has gone. What stands in the file can be read still.
      this.#log = new MemoryLog();
      return this.#log.append(bytes);
    }
  }

  #forget(key: string): void {
    const before = this.#entries.get(key);
    if (before !== undefined) {
      this.#bytes -= before.length;
      this.#read.delete(before);
    }
    this.#all = undefined;
    this.#texts = undefined;
  }

  #sorted(): [string, StoredEntry][] {
    // Names are ASCII, and NUL comes before all of it.
    return [...this.#entries].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** Writes what there is to another log, so that the old one and what is gone with it can be let go. */
  async #move(): Promise<void> {
    const old = this.#log;
    this.#old = old;
    this.#log = this.#begun();
    let moved = 0;
    for (const [key, entry] of [...this.#entries]) {
      if (entry.log !== old || this.#entries.get(key) !== entry) continue;
      entry.at = this.#append(textOf(entry));
      entry.log = this.#log;
      this.sink?.(key, entry);
      if (++moved % MOVED_AT_ONCE === 0) await nextTurn();
    }
    old.close();
    this.#old = undefined;
  }
}

/** Texts of entries as they were at one moment. */
class EntryTexts implements ObjectTexts {
  readonly #entries: readonly StoredEntry[];

  constructor(
    entries: readonly StoredEntry[],
    readonly bytes: number,
  ) {
    this.#entries = entries;
  }

  get count(): number {
    return this.#entries.length;
  }

  identity(index: number): object {
    return this.#at(index);
  }

  text(index: number): Uint8Array {
    return textOf(this.#at(index));
  }

  pieces(head: Uint8Array, tail: Uint8Array): TextPieces | undefined {
    const logs = new Map<ByteLog, number>();
    const sources: LogSource[] = [];
    const places = new Float64Array(3 * this.#entries.length);
    let length = head.length + tail.length + Math.max(0, this.#entries.length - 1);
    for (const [index, entry] of this.#entries.entries()) {
      let log = logs.get(entry.log);
      if (log === undefined) {
        const { source } = entry.log;
        if (source === undefined) return undefined;
        log = sources.push(source) - 1;
        logs.set(entry.log, log);
      }
      places[3 * index] = log;
      places[3 * index + 1] = entry.at;
      places[3 * index + 2] = entry.length;
      length += entry.length;
    }
    return { length, head, tail, logs: sources, places };
  }

  #at(index: number): StoredEntry {
    const entry = this.#entries[index];
    if (entry === undefined) throw new RangeError(`there is no object ${index}`);
    return entry;
  }
}

const textOf = ({ log, at, length }: StoredEntry): Buffer => log.read(at, length);
const readEntry = (entry: StoredEntry): JsonObject => parseJson(textOf(entry).toString("utf8")) as JsonObject;
const keyOf = (object: JsonObject): string => `${namespaceOf(object)}\0${nameOf(object)}`;

/** Without what no policy reads and much memory holds (spec kubewarden.md 7.6). */
export function trimmed(object: JsonObject): JsonObject {
  const metadata = member(object, "metadata");
  if (!isObject(metadata)) return object;
  const annotations = member(metadata, "annotations");
  const kept: Record<string, unknown> = { ...metadata };
  if (Object.hasOwn(metadata, "managedFields")) kept.managedFields = [];
  if (isObject(annotations) && Object.hasOwn(annotations, LAST_APPLIED)) {
    const { [LAST_APPLIED]: _, ...others } = annotations;
    kept.annotations = others;
  }
  return { ...object, metadata: kept };
}
