import { setKey } from "../plain-object.js";
import { TOO_DEEP, YAML_MAX_DEPTH, type YamlAlias, type YamlMap, type YamlNode, type YamlScalar } from "./node.js";
import { isMergeKey, meantByTag } from "./resolve.js";
import { keyName, scalarValue, Unwritable, type YamlDialect } from "./scalar-values.js";
import { type YamlError, yamlErrorAt } from "./yaml-error.js";

/** Kubernetes' limits of aliases, so that an alias bomb ends where it ends there: of up to so many steps of decoding, this share may be due to aliases, … */
const FEW_STEPS = 400_000;
const SHARE_OF_FEW = 0.99;
/** … of so many or more this share, and between them a share in between. */
const MANY_STEPS = 4_000_000;
const SHARE_OF_MANY = 0.1;
/** Numbers of steps, and of those due to aliases, up to which they are never too many. */
const HARMLESS_STEPS = 1_000;
const HARMLESS_ALIASED = 100;

/** A repeated key in a map; the last one counts. */
export interface RepeatedKey {
  readonly key: string;
  /** The place of the repetition. */
  readonly offset: number;
}

/** A text that begins with a tag that YAML does not have: Kubernetes drops the tag and keeps what stands behind it. */
export interface TaggedText {
  /** The text that was probably meant: the tag and the text behind it. */
  readonly meant: string;
  /** The place of the tag. */
  readonly offset: number;
}

/** The result of a document. */
export interface DocumentValue {
  /** The value in the number model of `data/json`. */
  readonly value: unknown;
  /** The repeated keys in the order of the text. */
  readonly repeatedKeys: readonly RepeatedKey[];
  /** The texts with unknown tags in the order of the text. */
  readonly tagged: readonly TaggedText[];
}

/**
 * The value of a document in Kubernetes, which converts YAML to JSON.
 * @throws YamlError where there is none
 */
export function documentValue(
  text: string,
  root: YamlNode,
  mostValues: number = Number.POSITIVE_INFINITY,
  dialect: YamlDialect = "kubernetes",
): DocumentValue {
  const maker = new ValueMaker(text, mostValues, dialect);
  const value = maker.whole(root);
  const inOrder = (a: { readonly offset: number }, b: { readonly offset: number }): number => a.offset - b.offset;
  return { value, repeatedKeys: maker.repeatedKeys.sort(inOrder), tagged: maker.tagged.sort(inOrder) };
}

/** One instance per document. */
class ValueMaker {
  readonly repeatedKeys: RepeatedKey[] = [];
  readonly tagged: TaggedText[] = [];
  readonly #text: string;
  readonly #mostValues: number;
  readonly #dialect: YamlDialect;
  #steps = 0;
  #aliasedSteps = 0;
  #aliasDepth = 0;
  /** Aliases that are being resolved. */
  readonly #followed = new Set<YamlAlias>();
  #hasUnwritable = false;
  /** Maps with a key that JSON can't have. */
  readonly #spoiled = new Map<object, Unwritable>();

  constructor(text: string, mostValues: number, dialect: YamlDialect) {
    this.#dialect = dialect;
    this.#text = text;
    this.#mostValues = mostValues;
  }

  whole(root: YamlNode): unknown {
    this.#step(root);
    const value = this.#value(root, 0);
    if (this.#hasUnwritable || this.#spoiled.size > 0) this.#checkWritable(value);
    return value;
  }

  #value(node: YamlNode, depth: number): unknown {
    this.#step(node);
    if (depth > YAML_MAX_DEPTH) throw this.#error(node.start, TOO_DEEP, true);
    switch (node.kind) {
      case "scalar":
        return node.tag === "" && node.style !== "plain" && node.style !== "json" ? node.text : this.#scalar(node);
      case "map": {
        const object: Record<string, unknown> = {};
        this.#fill(object, node, depth, undefined);
        return object;
      }
      case "list": {
        const list: unknown[] = [];
        for (const item of node.items) list.push(this.#value(item, depth + 1));
        return list;
      }
      default:
        return this.#followedBy(node, () => this.#value(node.target, depth + 1));
    }
  }

  #scalar(node: YamlScalar): unknown {
    if (node.tag !== "") this.#tagged(node);
    const value = scalarValue(node, this.#dialect);
    if (!(value instanceof Unwritable)) return value;
    if (value.isFinal) throw this.#error(value.offset, value.reason);
    this.#hasUnwritable = true;
    return value;
  }

  /**
   * @param own keys of this map itself where `object` has, or gets, others; undefined while all of them are its own
   * @param keeps whether the keys that `object` already has take precedence
   */
  #fill(
    object: Record<string, unknown>,
    map: YamlMap,
    depth: number,
    own: Set<string> | undefined,
    keeps = false,
  ): void {
    const merged: YamlNode[] = [];
    for (const { key, value } of map.pairs) {
      if (key.kind === "scalar" && isMergeKey(key.text, key.tag, key.style)) {
        own ??= new Set(Object.keys(object));
        if (this.#dialect === "kubernetes") this.#merge(object, value, depth);
        else merged.push(value);
        continue;
      }
      const name = this.#key(object, key, depth);
      const made = this.#value(value, depth + 1);
      if (name === undefined) continue;
      if (own === undefined ? Object.hasOwn(object, name) : own.has(name)) this.#repeated(name, key);
      own?.add(name);
      if (!keeps || !Object.hasOwn(object, name)) setKey(object, name, made);
    }
    for (const source of merged) this.#merge(object, source, depth);
  }

  #tagged(node: YamlScalar): void {
    const meant = this.#aliasDepth === 0 ? meantByTag(node) : undefined;
    if (meant !== undefined) this.tagged.push({ meant, offset: node.tagAt ?? node.start });
  }

  #repeated(key: string, { start }: YamlNode): void {
    if (this.#aliasDepth === 0) this.repeatedKeys.push({ key, offset: start });
  }

  #key(object: object, node: YamlNode, depth: number): string | undefined {
    this.#step(node);
    if (node.kind === "alias") return this.#followedBy(node, () => this.#key(object, node.target, depth));
    if (node.kind !== "scalar") throw this.#error(node.start, "a key can't be a map or a list");
    if (node.tag !== "") this.#tagged(node);
    const name = keyName(node, this.#dialect);
    if (typeof name === "string") return name;
    if (name.isFinal) throw this.#error(name.offset, name.reason);
    if (!this.#spoiled.has(object)) this.#spoiled.set(object, name);
    return undefined;
  }

  /**
   * Merges `<<`: later keys of the map count, merged or not, but of a list of maps the first that has the key. For go-yaml v3 the map's own keys count, and then
   * the first that has the key.
   */
  #merge(object: Record<string, unknown>, source: YamlNode, depth: number): void {
    const keeps = this.#dialect !== "kubernetes";
    const sources = source.kind === "list" ? (keeps ? source.items : source.items.toReversed()) : [source];
    for (const one of sources) {
      const map = one.kind === "alias" ? one.target : one;
      if (map.kind !== "map") throw this.#error(one.start, "what is merged by << has to be a map, or a list of maps");
      if (depth > YAML_MAX_DEPTH) throw this.#error(one.start, TOO_DEEP, true);
      const fill = (): void => {
        this.#step(map);
        this.#fill(object, map, depth + 1, new Set(), keeps);
      };
      if (one.kind === "alias") {
        this.#step(one);
        this.#followedBy(one, fill);
      } else fill();
    }
  }

  #followedBy<T>(alias: YamlAlias, make: () => T): T {
    if (this.#followed.has(alias)) throw this.#error(alias.start, `the value of &${alias.name} contains itself`);
    this.#followed.add(alias);
    this.#aliasDepth++;
    const made = make();
    this.#aliasDepth--;
    this.#followed.delete(alias);
    return made;
  }

  /** Counts one step of decoding. */
  #step(node: YamlNode): void {
    const steps = ++this.#steps;
    if (steps > this.#mostValues) throw this.#error(node.start, `more than ${this.#mostValues} values`, true);
    if (this.#aliasDepth > 0) this.#aliasedSteps++;
    const aliased = this.#aliasedSteps;
    if (aliased <= HARMLESS_ALIASED || steps <= HARMLESS_STEPS || aliased / steps <= allowedShare(steps)) return;
    throw this.#error(node.start, "aliases stand for too large a part of the document", true);
  }

  #checkWritable(value: unknown): void {
    if (typeof value !== "object" || value === null) return;
    const found = value instanceof Unwritable ? value : this.#spoiled.get(value);
    if (found !== undefined) throw this.#error(found.offset, found.reason);
    for (const one of Object.values(value)) this.#checkWritable(one);
  }

  #error(offset: number, reason: string, limit = false): YamlError {
    return yamlErrorAt(this.#text, offset, reason, limit);
  }
}

/** The share of steps that may be due to aliases. */
function allowedShare(steps: number): number {
  if (steps <= FEW_STEPS) return SHARE_OF_FEW;
  if (steps >= MANY_STEPS) return SHARE_OF_MANY;
  return SHARE_OF_FEW - (SHARE_OF_FEW - SHARE_OF_MANY) * ((steps - FEW_STEPS) / (MANY_STEPS - FEW_STEPS));
}
