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

/** Bytes of text, about, whose objects are kept parsed because they were read by name. */
const READ_BYTES = 4 * 1024 * 1024;
/** Bytes of removed or changed objects, beside as many as there are now, after which the others move to another log. */
const MOST_WASTE = 4 * 1024 * 1024;
/** Number of objects moved at a time, while requests wait. */
const MOVED_AT_ONCE = 200;
/** Bytes of objects that are parsed at a time when all are wanted: some milliseconds, while requests wait. */
const READ_AT_ONCE = 256 * 1024;

/** The place of an object's text. Each version of an object has an entry of its own. */
export interface StoredEntry {
  log: ByteLog;
  at: number;
  readonly length: number;
}

/** Receives entries: one that is new, has moved, or (`undefined`) was removed. */
export type EntrySink = (key: string, entry: StoredEntry | undefined) => void;

/** The members that lists omit from their items. */
export interface ItemIdentity {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The objects of a store, by namespace and name, up to a limit. They are kept as texts: parsed they take several times as much memory. */
export class StoredItems {
  readonly #identity: ItemIdentity;
  readonly #newLog: () => ByteLog;
  readonly #entries = new Map<string, StoredEntry>();
  readonly #read = new LRUCache<StoredEntry, JsonObject>({
    maxSize: READ_BYTES,
    sizeCalculation: (_, { length }) => 1 + length,
  });
  /** Objects that stay parsed, because all were read. */
  readonly #whole = new Map<StoredEntry, JsonObject>();
  #wholeBytes = 0;
  /** The parsing of all objects while it is under way. */
  #reading: Promise<void> | undefined;
  /** All keys in order, and their entries, once they are needed. */
  #order: { readonly keys: string[]; readonly entries: StoredEntry[] } | undefined;
  #all: readonly JsonObject[] | undefined;
  #texts: ObjectTexts | undefined;
  /** The logs of the entries; the last one is written. */
  #logs: readonly ByteLog[];
  #bytes = 0;
  #moves = true;
  #closed = false;
  /** Receives every change, for holders of the same entries. */
  sink: EntrySink | undefined;

  /** @param newLog makes the log for texts; default: in memory */
  constructor(identity: ItemIdentity, newLog: () => ByteLog = () => new MemoryLog()) {
    this.#identity = identity;
    this.#newLog = newLog;
    this.#logs = [this.#begun()];
  }

  /** The logs of its entries. */
  get logs(): readonly ByteLog[] {
    return this.#logs;
  }

  /** All entries, by key. */
  get entries(): ReadonlyMap<string, StoredEntry> {
    return this.#entries;
  }

  /** Whether {@link all} has little to parse. */
  get isRead(): boolean {
    return this.#bytes - this.#wholeBytes <= READ_AT_ONCE;
  }

  /** All objects, by namespace and name. They stay parsed from now on: where there may be many, {@link readAll} comes first. */
  all(): readonly JsonObject[] {
    this.#all ??= this.#sorted().map((entry) => this.#whole.get(entry) ?? this.#readWhole(entry));
    return this.#all;
  }

  /** Parses all objects, with turns for others in between, so that {@link all} has little to do. */
  async readAll(): Promise<void> {
    while (!this.isRead) {
      this.#reading ??= this.#readInTurns().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
  }

  /** The texts of all objects, by namespace and name; the same until something changes. */
  texts(): ObjectTexts {
    this.#texts ??= new EntryTexts(this.#sorted(), this.#bytes);
    return this.#texts;
  }

  get(namespace: string, name: string): JsonObject | undefined {
    const entry = this.#entries.get(`${namespace}\0${name}`);
    if (entry === undefined) return undefined;
    const known = this.#whole.get(entry) ?? this.#read.get(entry);
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
    const { log, at } = this.#append(bytes);
    this.set(keyOf(object), { log, at, length: bytes.length });
    if (this.#entries.size > MAX_STORE_OBJECTS) {
      throw new ResourceError(
        `there are more than ${MAX_STORE_OBJECTS} objects of kind ${this.#identity.kind}: narrow the list by a selector`,
      );
    }
    const size = this.#logs.reduce((sum, log) => sum + log.size, 0);
    if (this.#moves && size > 2 * this.#bytes + MOST_WASTE) void this.#move();
  }

  delete(object: unknown): void {
    if (isObject(object)) this.remove(keyOf(object));
  }

  /** Adds an entry whose text stands in a log already. */
  set(key: string, entry: StoredEntry): void {
    const replaced = this.#entries.has(key) ? 1 : 0;
    this.#forget(key);
    this.#entries.set(key, entry);
    this.#bytes += entry.length;
    if (this.#order !== undefined) {
      const place = placeOf(key, this.#order.keys);
      this.#order.keys.splice(place, replaced, key);
      this.#order.entries.splice(place, replaced, entry);
    }
    this.sink?.(key, entry);
  }

  remove(key: string): void {
    if (!this.#entries.has(key)) return;
    this.#forget(key);
    this.#entries.delete(key);
    if (this.#order !== undefined) {
      const place = placeOf(key, this.#order.keys);
      this.#order.keys.splice(place, 1);
      this.#order.entries.splice(place, 1);
    }
    this.sink?.(key, undefined);
  }

  /** Ends writing. */
  close(): void {
    this.#closed = true;
    this.#moves = false;
    for (const log of this.#logs) log.close();
  }

  #begun(): ByteLog {
    try {
      return this.#newLog();
    } catch {
      // A file cannot be created now.
      return new MemoryLog();
    }
  }

  /** @returns the place of the bytes */
  #append(bytes: Uint8Array): Pick<StoredEntry, "log" | "at"> {
    const log = this.#logs.at(-1);
    try {
      if (log !== undefined) return { log, at: log.append(bytes) };
    } catch {
      // The disk is full, or gone. The contents of the file can still be read.
    }
    const next = new MemoryLog();
    this.#logs = [...this.#logs, next];
    return { log: next, at: next.append(bytes) };
  }

  #forget(key: string): void {
    const before = this.#entries.get(key);
    if (before !== undefined) {
      this.#bytes -= before.length;
      this.#read.delete(before);
      if (this.#whole.delete(before)) this.#wholeBytes -= before.length;
    }
    this.#all = undefined;
    this.#texts = undefined;
  }

  #sorted(): StoredEntry[] {
    if (this.#order === undefined) {
      // Names are ASCII, and NUL comes before all of it.
      const sorted = [...this.#entries].sort(([a], [b]) => (a < b ? -1 : 1));
      this.#order = { keys: sorted.map(([key]) => key), entries: sorted.map(([, entry]) => entry) };
    }
    return [...this.#order.entries];
  }

  #readWhole(entry: StoredEntry): JsonObject {
    const object = readEntry(entry);
    this.#whole.set(entry, object);
    this.#wholeBytes += entry.length;
    return object;
  }

  async #readInTurns(): Promise<void> {
    let read = 0;
    for (const [key, entry] of [...this.#entries]) {
      if (this.#whole.has(entry) || this.#entries.get(key) !== entry) continue;
      this.#readWhole(entry);
      read += entry.length;
      if (read < READ_AT_ONCE) continue;
      await nextTurn();
      read = 0;
    }
  }

  /** Writes the current entries to another log, so that the old ones can be released with the removed entries. */
  async #move(): Promise<void> {
    this.#moves = false;
    const left = new Set(this.#logs);
    this.#logs = [...left, this.#begun()];
    let moved = 0;
    for (const [key, entry] of [...this.#entries]) {
      if (this.#closed) break;
      if (!left.has(entry.log) || this.#entries.get(key) !== entry) continue;
      try {
        const { log, at } = this.#append(textOf(entry));
        entry.log = log;
        entry.at = at;
      } catch {
        // It can't be read, which its readers will find out. It stays where it is, and all others, too.
        return;
      }
      this.sink?.(key, entry);
      if (++moved % MOVED_AT_ONCE === 0) await nextTurn();
    }
    if (this.#closed) return;
    for (const log of left) log.close();
    this.#logs = this.#logs.filter((log) => !left.has(log));
    this.#moves = true;
  }
}

/** The index of a key in the order, or where it would stand. */
function placeOf(key: string, order: readonly string[]): number {
  let [from, to] = [0, order.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((order[middle] ?? "") < key) from = middle + 1;
    else to = middle;
  }
  return from;
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
    const logs: ByteLog[] = [];
    const sources: LogSource[] = [];
    const places = new Float64Array(3 * this.#entries.length);
    let length = head.length + tail.length + Math.max(0, this.#entries.length - 1);
    let at = 0;
    for (const entry of this.#entries) {
      let log = logs.indexOf(entry.log);
      if (log < 0) {
        const { source } = entry.log;
        if (source === undefined) return undefined;
        sources.push(source);
        log = logs.push(entry.log) - 1;
      }
      places[at++] = log;
      places[at++] = entry.at;
      places[at++] = entry.length;
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

/** The object without members that no policy reads and that take much memory (spec kubewarden.md 7.6). */
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
