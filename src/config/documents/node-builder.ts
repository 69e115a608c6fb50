/** Converts the tree of a document to {@link SourceNode}s: aliases resolved within limits, merge keys replaced, errors recorded. */

import { isMergeKey, meantByTag } from "../../data/yaml/resolve.js";
import { isOldWord, keyName, scalarValue, Unwritable } from "../../data/yaml/scalar-values.js";
import {
  HELM_TEMPLATE,
  helmTemplateAt,
  REPEATED_KEY,
  TEMPLATE,
  taggedReason,
  YAML_MAX_DEPTH,
  type YamlMap,
  type YamlNode,
  type YamlPair,
  type YamlScalar,
} from "../../data/yaml.js";
import type { Path } from "./problem.js";
import type { ProblemCode } from "./problem-codes.js";
import type { Pair, ScalarNode, ScalarStyle, SourceNode } from "./source-node.js";

/** Deepest nesting of maps and lists. */
export const MAX_DEPTH = YAML_MAX_DEPTH;
/** Most values that the aliases of one document may stand for together, against alias bombs. Values written out are bounded by the file. */
export const MAX_ALIASED_VALUES = 100_000;

/** A key of the map itself that a merge key below it replaces. */
const MERGED_OVER = "duplicate key: what << merges replaces the same key above it: put << first in this map";

/** An error in the form of a document, found before its meaning is checked. */
export interface NodeProblem {
  readonly offset: number;
  readonly path: Path;
  readonly message: string;
  readonly code: ProblemCode;
  /**
   * `repeated`: a key that its map has already, written or merged over it, which Kubernetes accepts; `misread`: a text that stands for another, by a tag or as a template; `fatal`: the
   * whole document can't be used.
   */
  readonly kind?: "repeated" | "misread" | "fatal";
}

/** One instance per document. */
export class NodeBuilder {
  readonly flaws: NodeProblem[] = [];
  #aliasDepth = 0;
  #aliasedValues = 0;
  #exhausted = false;
  /** Whether that has been said. */
  #isTemplate = false;
  readonly #mostAliasedValues: number;

  readonly #isStrict: boolean;

  /**
   * @param mostAliasedValues a limit whose excess is a fatal flaw
   * @param isStrict whether keys count as repeated as for an API server's strict decoder: a merged one, too, but not `<<` itself
   */
  constructor(mostAliasedValues: number = MAX_ALIASED_VALUES, isStrict = false) {
    this.#mostAliasedValues = mostAliasedValues;
    this.#isStrict = isStrict;
  }

  /** The node, or a null scalar in place of one that can't be used (with a flaw recorded). */
  build(node: YamlNode, path: Path): SourceNode {
    if (!this.#mayGoOn(node.start, path)) return nothingAt(node);
    switch (node.kind) {
      case "alias":
        return this.#followed(() => this.build(node.target, path));
      case "map": {
        const pairs = new Map<string, Pair>();
        this.#addPairs(node, path, pairs);
        return { kind: "map", start: node.start, end: node.end, pairs: [...pairs.values()] };
      }
      case "list": {
        const items = node.items.map((item, index) => this.build(item, [...path, index]));
        return { kind: "list", start: node.start, end: node.end, items };
      }
      default:
        return this.#scalar(node, path);
    }
  }

  #addPairs(map: YamlMap, path: Path, pairs: Map<string, Pair>): void {
    const own = new Set<string>();
    let hasMerge = false;
    for (const pair of map.pairs) {
      if (isMerge(pair)) {
        if (hasMerge && !this.#isStrict) this.#repeated(pair.key, [...path, "<<"], REPEATED_KEY);
        hasMerge = true;
        this.#addMerged(pair, path, pairs, own);
      } else this.#addPair(pair, path, pairs, own);
      if (this.#exhausted) return;
    }
  }

  /** Adds a merged pair, which replaces the map's own one above it, as in Kubernetes: its author meant it to count. */
  #addMerged({ key, value }: YamlPair, path: Path, pairs: Map<string, Pair>, own: ReadonlySet<string>): void {
    const merged = new Map<string, Pair>();
    this.#merge(value, path, merged);
    for (const [name, pair] of merged) {
      if ((this.#isStrict ? pairs : own).has(name)) this.#repeated(key, [...path, name], MERGED_OVER);
      pairs.set(name, pair);
    }
  }

  /** Records a repeated key at the map itself, and not again for every alias of it. */
  #repeated({ start: offset }: YamlNode, path: Path, message: string): void {
    if (this.#aliasDepth === 0 || this.#isStrict)
      this.flaws.push({ offset, path, message, code: "CONFIG_DUPLICATE_KEY", kind: "repeated" });
  }

  #addPair({ key, value }: YamlPair, path: Path, pairs: Map<string, Pair>, own: Set<string>): void {
    const name = this.#keyName(key, path);
    const keyPath = [...path, name];
    if ((this.#isStrict ? pairs : own).has(name)) this.#repeated(key, keyPath, REPEATED_KEY);
    own.add(name);
    pairs.set(name, { key: name, keyStart: key.start, keyEnd: key.end, value: this.build(value, keyPath) });
  }

  /** The members of the merged maps, the first of a list taking precedence; their places are those where they are written. */
  #merge(source: YamlNode, path: Path, pairs: Map<string, Pair>): void {
    for (const one of source.kind === "list" ? source.items.toReversed() : [source]) {
      const target = one.kind === "alias" ? one.target : one;
      if (target.kind !== "map") {
        const message = "what is merged by << has to be a map, or a list of maps";
        this.flaws.push({ offset: one.start, path, message, code: "YAML_MERGE" });
      } else if (!this.#mayGoOn(one.start, path)) return;
      else if (one.kind === "alias") this.#followed(() => this.#addPairs(target, path, pairs));
      else this.#addPairs(target, path, pairs);
    }
  }

  #followed<T>(follow: () => T): T {
    this.#aliasDepth++;
    const result = follow();
    this.#aliasDepth--;
    return result;
  }

  #keyName(key: YamlNode, path: Path): string {
    const target = key.kind === "alias" ? key.target : key;
    if (target.kind !== "scalar") {
      this.flaws.push({
        offset: key.start,
        path: [...path, "?"],
        message: isBrace(key) ? TEMPLATE : "keys are strings, not maps or lists",
        code: "YAML_KEY",
      });
      return "?";
    }
    const name = keyName(this.#withoutTag(target, path));
    const value = scalarValue(target);
    if (typeof name === "string" && typeof value === "string") return name;
    const found = isOldWord(target, value)
      ? `YAML 1.1 reads ${target.text} as ${typeof value === "boolean" ? "the boolean" : "the number"} ${value}; `
      : "";
    const message = `keys are strings: ${found}write ${JSON.stringify(target.text)} in quotes`;
    const used = typeof name === "string" ? name : target.text;
    this.flaws.push({ offset: key.start, path: [...path, used], message, code: "YAML_KEY" });
    return used;
  }

  #scalar(written: YamlScalar, path: Path): SourceNode {
    const node = this.#withoutTag(written, path);
    const value = scalarValue(node);
    if (typeof value === "string" && !this.#isTemplate && helmTemplateAt(value) !== undefined) {
      this.#isTemplate = true;
      this.flaws.push({ offset: node.start, path, message: HELM_TEMPLATE, code: "YAML_SYNTAX", kind: "misread" });
    }
    if (!(value instanceof Unwritable)) {
      const scalar = { ...nothingAt(node), value: value as ScalarNode["value"], style: STYLES[node.style] };
      return isOldWord(node, value) ? { ...scalar, oldWord: node.text } : scalar;
    }
    this.flaws.push({ offset: value.offset, path, message: value.reason, code: "CONFIG_VALUE" });
    return nothingAt(node);
  }

  /** The text that was meant where an unknown tag would take its beginning away, with a flaw. */
  #withoutTag(node: YamlScalar, path: Path): YamlScalar {
    const meant = meantByTag(node);
    if (meant === undefined) return node;
    const start = node.tagAt ?? node.start;
    if (this.#aliasDepth === 0)
      this.flaws.push({ offset: start, path, message: taggedReason(meant), code: "YAML_TAG", kind: "misread" });
    return { ...node, start, tag: "", text: meant };
  }

  /** Whether building may continue: false once a limit is exceeded, which is a flaw of the whole document. */
  #mayGoOn(offset: number, path: Path): boolean {
    if (this.#exhausted) return false;
    if (this.#aliasDepth > 0) this.#aliasedValues++;
    const isTooDeep = path.length > MAX_DEPTH || this.#aliasDepth > MAX_DEPTH;
    if (!isTooDeep && this.#aliasedValues <= this.#mostAliasedValues) return true;
    this.#exhausted = true;
    const message = isTooDeep
      ? `nested deeper than ${MAX_DEPTH} levels`
      : `aliases that stand for more than ${this.#mostAliasedValues} values`;
    this.flaws.push({ offset, path: path.slice(0, 8), message, code: "YAML_LIMIT", kind: "fatal" });
    return false;
  }
}

const STYLES: Readonly<Record<YamlScalar["style"], ScalarStyle>> = {
  plain: "plain",
  json: "plain",
  single: "single",
  double: "double",
  literal: "block",
  folded: "block",
};

/** Whether a key is a map in braces, as where `{{` stands. */
const isBrace = ({ kind, start, end }: YamlNode): boolean => kind === "map" && end > start;

function isMerge({ key }: YamlPair): boolean {
  return key.kind === "scalar" && isMergeKey(key.text, key.tag, key.style);
}

function nothingAt({ start, end }: YamlNode): ScalarNode {
  return { kind: "scalar", value: null, style: "plain", start, end };
}
