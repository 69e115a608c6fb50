/** `json.patch` as Rego has it: paths may be lists of steps, and no key of an object is special. */
import { setKey } from "../../../data/plain-object.js";
import { isJsonObject, sameValue } from "../../../data/same-value.js";
import { printRego } from "../rego-value.js";
import { objectOf } from "./operands.js";

/** A step into a value: a text, or whatever else a list of steps holds. */
type Path = readonly unknown[];

/** @throws when the patch is none, or does not fit the document */
export function applyPatch(target: unknown, patch: readonly unknown[]): unknown {
  const document = new Document(copyOf(target));
  for (const operation of patch) apply(document, objectOf(operation, "json.patch"));
  return document.get([]);
}

function apply(document: Document, operation: Record<string, unknown>): void {
  const path = pathOf(operation.path);
  switch (operation.op) {
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
      const from = pathOf(operation.from);
      const value = document.get(from);
      document.remove(from);
      document.add(path, value);
      break;
    }
    case "copy":
      document.add(path, copyOf(document.get(pathOf(operation.from))));
      break;
    case "test":
      if (!sameValue(document.get(path), newValue(operation))) throw new Error("json.patch: a test failed");
      break;
    default:
      throw new Error("json.patch: unknown operation");
  }
}

function newValue(operation: Record<string, unknown>): unknown {
  if (!Object.hasOwn(operation, "value")) throw new Error("json.patch: missing value");
  return copyOf(operation.value);
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

/** Collections are copied, as they are changed in place; numbers that keep their text stay what they are. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isJsonObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) setKey(copy, key, copyOf(member));
  return copy;
}

class Document {
  /** The document is the only element; none once it has been removed. */
  readonly #root: unknown[];

  constructor(value: unknown) {
    this.#root = [value];
  }

  get(path: Path): unknown {
    if (this.#root.length === 0) throw missing();
    let value = this.#root[0];
    for (const step of path) value = member(value, step);
    return value;
  }

  add(path: Path, value: unknown): void {
    const last = path.at(-1);
    if (path.length === 0) {
      this.#root[0] = value;
      return;
    }
    const parent = this.get(path.slice(0, -1));
    if (Array.isArray(parent)) parent.splice(indexOf(last, parent.length, parent.length), 0, value);
    else if (isJsonObject(parent)) setKey(parent as Record<string, unknown>, keyOf(last), value);
    else throw missing();
  }

  remove(path: Path): void {
    if (path.length === 0) {
      this.get(path);
      this.#root.length = 0;
      return;
    }
    const last = path.at(-1);
    const parent = this.get(path.slice(0, -1));
    member(parent, last);
    if (Array.isArray(parent)) parent.splice(indexOf(last, parent.length, parent.length - 1), 1);
    else delete (parent as Record<string, unknown>)[keyOf(last)];
  }
}

function member(value: unknown, step: unknown): unknown {
  if (Array.isArray(value)) return value[indexOf(step, value.length, value.length - 1)];
  if (!isJsonObject(value) || typeof step !== "string" || !Object.hasOwn(value, step)) throw missing();
  return value[step];
}

/** @param most the highest index that will do */
function indexOf(step: unknown, length: number, most: number): number {
  let index = typeof step === "number" ? step : Number.NaN;
  if (step === "-") index = length;
  // The sign is odd, but Rego takes it; only zeros in front are refused.
  else if (typeof step === "string" && /^(?:0|[+-]\d+|[1-9]\d*)$/.test(step)) index = Number(step);
  if (!(index >= 0 && index <= most)) throw missing();
  return index;
}

function keyOf(step: unknown): string {
  return typeof step === "string" ? step : printRego(step);
}

function missing(): Error {
  return new Error("json.patch: a path leads nowhere");
}
