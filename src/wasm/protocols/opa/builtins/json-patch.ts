/** `json.patch` as in Rego: paths may be lists of steps, and keys of objects and items of sets are values of any kind. */
import { JSON_MAX_DEPTH } from "../../../../data/json-reader.js";
import { equalityText, RegoObject, RegoSet, sortedEntries, WrittenNumber } from "../rego-value.js";
import { integerOfText, isRegoObject, memberOf, objectOf } from "./operands.js";

/** A step into a value: a text, or any item of a list of steps. */
type Path = readonly unknown[];

/** Most characters that the operations of a patch may copy, since copies of copies grow without end: as much as the longest answer of a guest. */
const MOST_COPIED = 16 * 1024 * 1024;
/** Size of a value beside its characters: about its bytes in memory. */
const VALUE_SIZE = 64;

/**
 * Applies a patch.
 * @param work charges the work, about one unit a byte; may throw
 * @throws when the patch is invalid, or does not fit the document
 */
export function applyPatch(target: unknown, patch: readonly unknown[], work: (units: number) => void): unknown {
  const document = new Document(target, work);
  for (const operation of patch) apply(document, objectOf(operation, "json.patch"));
  return document.finished();
}

function apply(document: Document, operation: object): void {
  const path = pathOf(memberOf(operation, "path"));
  switch (memberOf(operation, "op")) {
    case "add":
      document.add(path, newValue(operation));
      break;
    case "remove":
      document.remove(path);
      break;
    case "replace": {
      const value = newValue(operation);
      document.remove(path);
      document.add(path, value);
      break;
    }
    case "move": {
      const from = pathOf(memberOf(operation, "from"));
      const value = document.get(from);
      document.remove(from);
      document.add(path, value);
      break;
    }
    case "copy":
      document.add(path, document.get(pathOf(memberOf(operation, "from"))));
      break;
    case "test":
      document.test(path, newValue(operation));
      break;
    default:
      throw new Error("json.patch: unknown operation");
  }
}

function newValue(operation: object): unknown {
  const value = memberOf(operation, "value");
  if (value === undefined) throw new Error("json.patch: missing value");
  return value;
}

function pathOf(path: unknown): Path {
  if (Array.isArray(path)) return path;
  if (typeof path !== "string") throw new Error("json.patch: a path must be a string or an array");
  if (path === "") return [];
  return path
    .replace(/^\/+/, "")
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** An object or a set that is changed in place: its keys and values by equality of keys. A set's values are its items. */
class Members {
  readonly entries = new Map<string, [key: unknown, value: unknown]>();
  constructor(readonly isSet: boolean) {}
}

/** The document while it is changed. */
class Document {
  /** The document is the only element; empty once it has been removed. */
  readonly #root: unknown[];
  readonly #work: (units: number) => void;
  #room = Number.POSITIVE_INFINITY;

  constructor(target: unknown, work: (units: number) => void) {
    this.#work = work;
    this.#root = [this.#copy(target)];
    this.#room = MOST_COPIED;
  }

  finished(): unknown {
    return finished(this.get([]));
  }

  /** The value at a path. It belongs to the document: {@link add} copies it. */
  get(path: Path): unknown {
    if (this.#root.length === 0) throw missing();
    let value = this.#root[0];
    for (const step of path) value = this.#member(value, step);
    return value;
  }

  test(path: Path, value: unknown): void {
    if (this.#equality(finished(this.get(path))) !== this.#equality(value))
      throw new Error("json.patch: a test failed");
  }

  add(path: Path, added: unknown): void {
    const value = this.#copy(added, path.length);
    const last = path.at(-1);
    if (path.length === 0) {
      this.#root[0] = value;
      return;
    }
    const parent = this.get(path.slice(0, -1));
    if (Array.isArray(parent)) {
      const index = indexOf(last, parent.length, parent.length);
      this.#work(parent.length - index);
      parent.splice(index, 0, value);
    } else if (parent instanceof Members) {
      const key = this.#equality(last);
      if (parent.isSet && key !== this.#equality(finished(value)))
        throw new Error("json.patch: an item of a set must be its own key");
      parent.entries.set(key, [last, value]);
    } else throw missing();
  }

  remove(path: Path): void {
    if (path.length === 0) {
      this.get(path);
      this.#root.length = 0;
      return;
    }
    const last = path.at(-1);
    const parent = this.get(path.slice(0, -1));
    this.#member(parent, last);
    if (Array.isArray(parent)) {
      const index = indexOf(last, parent.length, parent.length - 1);
      this.#work(parent.length - index);
      parent.splice(index, 1);
    } else (parent as Members).entries.delete(this.#equality(last));
  }

  #member(value: unknown, step: unknown): unknown {
    if (Array.isArray(value)) return value[indexOf(step, value.length, value.length - 1)];
    const entry = value instanceof Members ? value.entries.get(this.#equality(step)) : undefined;
    if (entry === undefined) throw missing();
    return entry[1];
  }

  /** The text that is the same for equal values. */
  #equality(value: unknown): string {
    const text = equalityText(value);
    this.#work(VALUE_SIZE + text.length);
    return text;
  }

  /** Converts a value to one that can be changed in place. Numbers that keep their text stay unchanged. */
  #copy(value: unknown, depth = 0): unknown {
    if (depth > JSON_MAX_DEPTH) throw new Error("json.patch: the patch nests the document too deeply");
    const size = VALUE_SIZE + (typeof value === "string" ? value.length : 0);
    this.#room -= size;
    if (this.#room < 0) throw new Error("json.patch: the patch makes the document too large");
    this.#work(size);
    if (Array.isArray(value)) return value.map((item) => this.#copy(item, depth + 1));
    const copy = new Members(value instanceof RegoSet || (value instanceof Members && value.isSet));
    for (const [key, member] of entriesOf(value) ?? []) {
      const text = this.#equality(key);
      this.#room -= text.length;
      copy.entries.set(text, [key, this.#copy(member, depth + 1)]);
    }
    return entriesOf(value) === undefined ? value : copy;
  }
}

/** The members of an object, or the items of a set with themselves as keys; `undefined` of any other value. */
function entriesOf(value: unknown): Iterable<readonly [unknown, unknown]> | undefined {
  if (value instanceof Members) return value.entries.values();
  if (value instanceof RegoSet) return value.items.map((item) => [item, item] as const);
  return isRegoObject(value) ? sortedEntries(value) : undefined;
}

/** Converts a value that was changed in place back. */
function finished(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(finished);
  if (!(value instanceof Members)) return value;
  const entries = [...value.entries.values()].map(([key, member]) => [key, finished(member)] as const);
  return value.isSet ? new RegoSet(entries.map(([, item]) => item)) : new RegoObject(entries);
}

/** @param most the highest valid index */
function indexOf(step: unknown, length: number, most: number): number {
  const text = step instanceof WrittenNumber ? step.text : String(step);
  const known = typeof step === "string" || typeof step === "number" || step instanceof WrittenNumber;
  // A text must not have leading zeros.
  const isIndex = known && (typeof step !== "string" || text === "0" || !text.startsWith("0"));
  const index = step === "-" ? length : Number(isIndex ? (integerOfText(text) ?? -1n) : -1n);
  if (!(index >= 0 && index <= most)) throw missing();
  return index;
}

function missing(): Error {
  return new Error("json.patch: a path leads nowhere");
}
