/**
 * Applies JSON Patches as the API server applies those of MutatingAdmissionPolicies: exactly as evanphx/json-patch v4 does, which differs from RFC 6902 (spec
 * mutating-admission-policy.md 6).
 */

import { isPrintable } from "../../data/go/quote.js";
import type { JsonObject } from "../object.js";
import type { PatchMemory } from "../patch-memory.js";
import { addChild, getChild, Problem, removeChild, setChild } from "./containers.js";
import { equalsJson } from "./equality.js";
import { jsonBytes } from "./json-text.js";
import { COPY_MAX_BYTES, OPERATION_WORK, PatchStop, Work } from "./limits.js";
import { type Child, type Container, Node, openValue } from "./node.js";
import type { PatchOperation } from "./operation.js";
import { type OutcomeError, outcomeError } from "./outcome.js";
import { containerValue, slotValue } from "./values.js";

/** A place in the tree: its container, and its key there. */
interface Place {
  readonly container: Container;
  readonly key: string;
}

/**
 * The place that a path names, `undefined` where its container does not exist or is a scalar. The text before the first slash is
 * ignored; a path without a slash names no place.
 */
function placeOf(root: Container, path: string, work: Work): Place | undefined {
  work.spend(path.length);
  const [, ...keys] = path.split("/");
  const last = keys.pop();
  if (last === undefined) return undefined;
  work.spend(OPERATION_WORK * keys.length);
  let container = root;
  for (const key of keys) {
    const next = getChild(container, unescaped(key));
    if (next === null || next instanceof Problem) return undefined;
    const opened = next.open(work);
    if (opened === undefined) return undefined;
    container = opened;
  }
  return { container, key: unescaped(last) };
}

/** The key of a path's part: `~1` is a slash and `~0` a tilde; any other tilde is itself. */
const unescaped = (key: string): string =>
  key.includes("~") ? key.replace(/~[01]/g, (code) => (code === "~1" ? "/" : "~")) : key;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const SUSPICIOUS = /[\u0000-\u0007\u000b\u000e-\u001f\u007f\u{10000}-\u{10ffff}]/gu;

/** The form of nearly all texts. */
const PLAIN = /^[ -~]*$/;

/**
 * The server quotes `op`, `path` and `from` as Go does and reads them as JSON, which does not have all of Go's escapes: the error of reading, or `undefined`
 * where the text is unchanged.
 */
function quotedTextError(text: string): string | undefined {
  if (PLAIN.test(text)) return undefined;
  for (const [character] of text.matchAll(SUSPICIOUS)) {
    const letter = escapeOf(character);
    if (letter !== undefined) return `invalid character '${letter}' in string escape code`;
  }
  return undefined;
}

function escapeOf(character: string): string | undefined {
  if (character === "\u0007") return "a";
  if (character === "\u000b") return "v";
  if (character.length === 1) return "x";
  return isPrintable(character) ? undefined : "U";
}

/** The result of a patch. */
export type PatchOutcome =
  /** A new object; the former one is unchanged. It shares unchanged parts with that and with the operations' values. */
  | { readonly kind: "patched"; readonly object: JsonObject }
  /** A `test` failed, so that the mutation does nothing; it counts as successful. */
  | { readonly kind: "unchanged" }
  /** The mutation fails, by failurePolicy; the message begins with `JSON Patch: `. */
  | { readonly kind: "error"; readonly message: string }
  /** The result is not an object of Kubernetes: 500 with reason InternalError, whatever the failurePolicy. */
  | ({ readonly kind: "internal" } & OutcomeError)
  /** The server's plugin panics: 500, whatever the failurePolicy. The message is Go's. */
  | { readonly kind: "panic"; readonly message: string };

/**
 * Applies a patch to an object (JSON in the model of `data/json`), all of it or nothing.
 * @param memory the kept facts about the parts of the object
 */
export function applyJsonPatch(
  object: JsonObject,
  operations: readonly PatchOperation[],
  memory?: PatchMemory,
): PatchOutcome {
  try {
    return new Patching(object, memory).apply(operations);
  } catch (stop) {
    if (!(stop instanceof PatchStop)) throw stop;
    return stop.reason === "panic" ? { kind: "panic", message: stop.message } : failed(stop.message);
  }
}

const failed = (message: string): PatchOutcome => ({ kind: "error", message: `JSON Patch: ${message}` });

const TEST_FAILED = Symbol("test failed");
type Step = undefined | string | typeof TEST_FAILED;

/** The application of one patch (disposable). */
class Patching {
  readonly #work: Work;
  #root: Container;
  #copied = 0;

  constructor(object: JsonObject, memory: PatchMemory | undefined) {
    this.#work = new Work(memory?.reread);
    this.#root = openValue(object, this.#work) as Container;
  }

  apply(operations: readonly PatchOperation[]): PatchOutcome {
    for (const operation of operations) {
      this.#work.spend(OPERATION_WORK);
      const step = this.#step(operation);
      if (step === TEST_FAILED) return { kind: "unchanged" };
      if (step !== undefined) return failed(step);
    }
    const value = containerValue(this.#root, this.#work);
    const error = outcomeError(value);
    return error === undefined ? { kind: "patched", object: value as JsonObject } : { kind: "internal", ...error };
  }

  #step(operation: PatchOperation): Step {
    const kind = quotedTextError(operation.op) === undefined ? operation.op : "unknown";
    switch (kind) {
      case "add":
        return this.#add(operation);
      case "remove":
        return this.#remove(operation);
      case "replace":
        return this.#replace(operation);
      case "move":
        return this.#move(operation);
      case "test":
        return this.#test(operation);
      case "copy":
        return this.#copy(operation);
      default:
        return `Unexpected kind: ${kind}`;
    }
  }

  #place(path: string): Place | undefined {
    return placeOf(this.#root, path, this.#work);
  }

  #add({ path, value }: PatchOperation): Step {
    if (quotedTextError(path) !== undefined) return "add operation failed to decode path: missing value";
    const place = this.#place(path);
    if (place === undefined) return `add operation does not apply: doc is missing path: "${path}": missing value`;
    return about("error in add for path: ", path, addChild(place.container, place.key, given(value), this.#work));
  }

  #remove({ path }: PatchOperation): Step {
    if (quotedTextError(path) !== undefined) return "remove operation failed to decode path: missing value";
    const place = this.#place(path);
    if (place === undefined) return `remove operation does not apply: doc is missing path: "${path}": missing value`;
    return about("error in remove for path: ", path, removeChild(place.container, place.key, this.#work));
  }

  #replace({ path, value }: PatchOperation): Step {
    const unread = quotedTextError(path);
    if (unread !== undefined) return `replace operation failed to decode path: ${unread}`;
    if (path === "") return this.#replaceRoot(value);
    const place = this.#place(path);
    if (place === undefined) return `replace operation does not apply: doc is missing path: ${path}: missing value`;
    if (getChild(place.container, place.key) instanceof Problem) {
      return `replace operation does not apply: doc is missing key: ${path}: missing value`;
    }
    return about("error in remove for path: ", path, setChild(place.container, place.key, given(value)));
  }

  #replaceRoot(value: unknown): Step {
    if (value === undefined) throw new PatchStop("panic", NIL_POINTER);
    const root = openValue(value, this.#work);
    if (root === undefined) return "replace operation value must be object or array: %!w(<nil>)";
    this.#root = root;
    return undefined;
  }

  #move({ path, from }: PatchOperation): Step {
    const unread = from === "" ? NO_FROM : quotedTextError(from);
    if (unread !== undefined) return `move operation failed to decode from: ${unread}`;
    const source = this.#place(from);
    if (source === undefined) return `move operation does not apply: doc is missing from path: ${from}: missing value`;
    const child = getChild(source.container, source.key);
    if (child instanceof Problem) return about("error in move for path: ", source.key, child);
    const removed = removeChild(source.container, source.key, this.#work);
    if (removed !== undefined) return about("error in move for path: ", source.key, removed);
    const unreadPath = quotedTextError(path);
    if (unreadPath !== undefined) return `move operation failed to decode path: ${unreadPath}`;
    const place = this.#place(path);
    if (place === undefined) {
      return `move operation does not apply: doc is missing destination path: ${path}: missing value`;
    }
    return about("error in move for path: ", path, addChild(place.container, place.key, child, this.#work));
  }

  #test({ path, value }: PatchOperation): Step {
    const unread = quotedTextError(path);
    if (unread !== undefined) return `test operation failed to decode path: ${unread}`;
    if (path === "") {
      if (value === undefined) throw new PatchStop("panic", NIL_POINTER);
      return equalsJson(this.#root, value, this.#work) ? undefined : TEST_FAILED;
    }
    const place = this.#place(path);
    if (place === undefined) return `test operation does not apply: is missing path: ${path}: missing value`;
    const child = getChild(place.container, place.key);
    if (child instanceof Problem) return about("error in test for path: ", path, child);
    if (child === null || value === undefined) return child === null && value === undefined ? undefined : TEST_FAILED;
    return equalsJson(child, value, this.#work) ? undefined : TEST_FAILED;
  }

  #copy({ path, from }: PatchOperation): Step {
    const unread = from === "" ? NO_FROM : quotedTextError(from);
    if (unread !== undefined) return `copy operation failed to decode from: ${unread}`;
    const source = this.#place(from);
    if (source === undefined) return `copy operation does not apply: doc is missing from path: ${from}: missing value`;
    const child = getChild(source.container, source.key);
    if (child instanceof Problem) return about("error in copy for from: ", from, child);
    if (quotedTextError(path) !== undefined) return "copy operation failed to decode path: missing value";
    const place = this.#place(path);
    if (place === undefined) {
      return `copy operation does not apply: doc is missing destination path: ${path}: missing value`;
    }
    const copy = this.#deepCopy(child);
    if (this.#copied > COPY_MAX_BYTES) return tooMuchCopied(this.#copied);
    const problem = addChild(place.container, place.key, copy, this.#work);
    return problem && `error while adding value during copy: ${problem.message}`;
  }

  #deepCopy(child: Child): Child {
    if (child === null) return null;
    const value = slotValue(child, this.#work);
    this.#copied += jsonBytes(value, this.#work);
    return new Node(value);
  }
}

const NIL_POINTER = "runtime error: invalid memory address or nil pointer dereference";
const NO_FROM = "operation, missing from field: missing value";

/** The node of an operation's value; without one it is the null of JSON that was read. */
const given = (value: unknown): Child => (value === undefined ? null : new Node(value));

const about = (what: string, path: string, problem: Problem | undefined): string | undefined =>
  problem && `${what}'${path}': ${problem.message}`;

const tooMuchCopied = (bytes: number): string =>
  `Unable to complete the copy, the accumulated size increase of copy is ${bytes}, exceeding the limit ${COPY_MAX_BYTES}`;
