/** Turns the YAML library's tree into {@link SourceNode}s, following aliases within bounds and noting what JSON can't hold. */
import { type Document, isAlias, isMap, isScalar, isSeq, type Scalar, visit } from "yaml";
import { double } from "../data/json-reader.js";
import type { Path } from "./problem.js";
import type { Pair, ScalarNode, ScalarStyle, SourceNode } from "./source-node.js";

/** Deepest nesting of maps and lists. Real settings stay below 20; composing YAML is recursive, so this also protects the stack. */
export const MAX_DEPTH = 200;
/** Most values that the aliases of one document may stand for together: the end of an alias bomb. Values written out are bounded by the file. */
export const MAX_ALIASED_VALUES = 100_000;

/** Something wrong with the shape of a document, before its meaning is looked at. */
export interface Flaw {
  readonly offset: number;
  readonly path: Path;
  readonly message: string;
  /** Nothing of the document can be used. */
  readonly fatal?: boolean;
}

/** Characters of a value that a message shows: a number may have thousands of digits. */
const MAX_SHOWN = 64;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** One use per document. */
export class NodeBuilder {
  readonly flaws: Flaw[] = [];
  readonly #aliasTargets: Map<unknown, unknown>;
  #aliasDepth = 0;
  #aliasedValues = 0;
  #exhausted = false;

  constructor(document: Document.Parsed) {
    this.#aliasTargets = aliasTargets(document);
  }

  /** The node, or a null scalar in place of what can't be used (with a flaw noted). */
  build(node: unknown, path: Path, fallbackOffset: number): SourceNode {
    const range = rangeOf(node);
    const start = range?.[0] ?? fallbackOffset;
    const end = range?.[1] ?? start;
    const nothing: ScalarNode = { kind: "scalar", value: null, style: "plain", start, end };
    if (!this.#mayGoOn(start, path)) return nothing;
    if (isAlias(node)) {
      const target = this.#aliasTargets.get(node);
      if (target !== undefined) {
        this.#aliasDepth++;
        const built = this.build(target, path, start);
        this.#aliasDepth--;
        return built;
      }
      return this.#flawed(nothing, path, `no anchor &${node.source} stands before this alias`);
    }
    if (isMap(node)) return { kind: "map", start, end, pairs: this.#pairs(node.items, path, start) };
    if (isSeq(node)) {
      const items = node.items.map((item, index) => this.build(item, [...path, index], start));
      return { kind: "list", start, end, items };
    }
    if (node === null || node === undefined) return nothing;
    return isScalar(node) ? this.#scalar(node, path, nothing) : this.#flawed(nothing, path, "not a value");
  }

  #pairs(items: readonly { key: unknown; value: unknown }[], path: Path, fallback: number): Pair[] {
    const pairs = new Map<string, Pair>();
    for (const { key, value } of items) {
      const keyStart = rangeOf(key)?.[0] ?? fallback;
      const name = this.#keyName(key, path, keyStart);
      const keyPath = [...path, name];
      if (pairs.has(name)) {
        this.flaws.push({
          offset: keyStart,
          path: keyPath,
          message: "duplicate key: the same key stands above in this map",
        });
      }
      pairs.set(name, { key: name, keyStart, value: this.build(value, keyPath, keyStart) });
      if (this.#exhausted) break;
    }
    return [...pairs.values()];
  }

  #keyName(key: unknown, path: Path, offset: number): string {
    const target = isAlias(key) ? this.#aliasTargets.get(key) : key;
    if (isScalar(target)) {
      if (typeof target.value === "string") return target.value;
      const text = target.source ?? String(target.value);
      const message = `keys are strings: write ${JSON.stringify(text)} in quotes`;
      this.flaws.push({ offset, path: [...path, text], message });
      return text;
    }
    this.flaws.push({ offset, path, message: "keys are strings, not maps or lists" });
    return "?";
  }

  #scalar(node: Scalar, path: Path, nothing: ScalarNode): SourceNode {
    const value = scalarValue(node.value);
    if (value === undefined) {
      const written = node.source ?? "this value";
      const shown = written.length <= MAX_SHOWN ? written : `${written.slice(0, MAX_SHOWN)}…`;
      return this.#flawed(nothing, path, `${shown} can't be written in JSON: use a string or a finite number`);
    }
    return { ...nothing, value, style: styleOf(node.type) };
  }

  #flawed(nothing: ScalarNode, path: Path, message: string): ScalarNode {
    this.flaws.push({ offset: nothing.start, path, message });
    return nothing;
  }

  /** False once a bound is passed, which is a flaw of the whole document. */
  #mayGoOn(offset: number, path: Path): boolean {
    if (this.#exhausted) return false;
    if (this.#aliasDepth > 0) this.#aliasedValues++;
    if (path.length <= MAX_DEPTH && this.#aliasedValues <= MAX_ALIASED_VALUES) return true;
    this.#exhausted = true;
    const message =
      path.length > MAX_DEPTH
        ? `nested deeper than ${MAX_DEPTH} levels`
        : `aliases that stand for more than ${MAX_ALIASED_VALUES} values`;
    this.flaws.push({ offset, path: path.slice(0, 8), message, fatal: true });
    return false;
  }
}

function rangeOf(node: unknown): readonly number[] | undefined {
  if (!isScalar(node) && !isMap(node) && !isSeq(node) && !isAlias(node)) return undefined;
  return node.range ?? undefined;
}

/** What every alias points at: the last node before it with its anchor. */
function aliasTargets(document: Document.Parsed): Map<unknown, unknown> {
  const anchors = new Map<string, unknown>();
  const targets = new Map<unknown, unknown>();
  visit(document, {
    Node: (_, node) => {
      if (isAlias(node)) targets.set(node, anchors.get(node.source));
      else if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

function styleOf(type: string | undefined | null): ScalarStyle {
  if (type === "QUOTE_DOUBLE") return "double";
  if (type === "QUOTE_SINGLE") return "single";
  return type === "BLOCK_LITERAL" || type === "BLOCK_FOLDED" ? "block" : "plain";
}

/** In the number model of `data/json`; undefined for what JSON lacks. */
function scalarValue(value: unknown): ScalarNode["value"] | undefined {
  switch (typeof value) {
    case "bigint":
      if (value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
      return value >= INT64_MIN && value <= INT64_MAX ? value : finite(Number(value));
    case "number":
      return finite(value);
    case "string":
      return value.toWellFormed();
    case "boolean":
      return value;
    default:
      return value === null ? null : undefined;
  }
}

const finite = (value: number): ScalarNode["value"] | undefined =>
  Number.isFinite(value) ? (double(value) as ScalarNode["value"]) : undefined;
