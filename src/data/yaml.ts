/**
 * YAML documents as JSON values of the number model (see `json.ts`): what the same document would be in JSON.
 */
import {
  type Alias,
  Composer,
  type CST,
  type Document,
  type DocumentOptions,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  Parser,
  type ScalarTag,
  type SchemaOptions,
  visit,
} from "yaml";
import { double, numberOf } from "./json-reader.js";
import { setKey } from "./plain-object.js";

/** Deepest nesting accepted, as in JSON. */
export const YAML_MAX_DEPTH = 500;
const TOO_DEEP = `nesting deeper than ${YAML_MAX_DEPTH} levels`;
/** Most values that one document may come to after its aliases are followed: an alias bomb ends here. */
export const YAML_MAX_VALUES = 1_000_000;

/**
 * How plain scalars are read. `core`: YAML 1.2, for files of our own. `kubernetes`: as kubectl reads manifests (YAML 1.1 booleans such
 * as `yes`, octal `0777`, merge keys; no timestamps, no base 60).
 */
export type YamlFlavour = "core" | "kubernetes";

/** A text is not usable YAML. */
export class YamlError extends Error {
  readonly code = "YAML_SYNTAX";
  override readonly name = "YamlError";

  /**
   * @param reason what is wrong, without the place
   * @param line 1-based
   * @param column 1-based
   * @param limit whether the text may be right, but nests deeper, comes to more values or has larger numbers than are read here
   */
  constructor(
    readonly reason: string,
    readonly line: number,
    readonly column: number,
    readonly limit: boolean = false,
  ) {
    super(`${reason} at line ${line} column ${column}`);
  }
}

/** How to read. */
export interface YamlOptions {
  /** Whether a key may stand twice in one map, the last one counting, as for those who read loosely; default no. */
  readonly repeatedKeys?: boolean;
  /** Most values that a document may come to after its aliases are followed; default {@link YAML_MAX_VALUES}. */
  readonly mostValues?: number;
  /** Whether the first document is all that is read, be it empty; default no. */
  readonly firstOnly?: boolean;
}

/**
 * All documents of a text; empty documents are left out.
 * @throws YamlError for the first thing wrong: syntax, a duplicate key, an unknown alias, too deep, too large
 */
export function parseYamlDocuments(
  text: string,
  flavour: YamlFlavour = "kubernetes",
  options: YamlOptions = {},
): unknown[] {
  return readYamlDocuments(text, flavour, options).map((document) => documentValue(document, flavour, options));
}

/**
 * The documents as syntax trees with positions, checked for syntax errors and duplicate keys.
 * @throws YamlError
 */
export function readYamlDocuments(
  text: string,
  flavour: YamlFlavour = "kubernetes",
  { repeatedKeys = false, firstOnly = false }: YamlOptions = {},
): Document.Parsed[] {
  const lines = new LineCounter();
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  checkDepth(tokens, lines);
  const composer = new Composer({
    intAsBigInt: true,
    uniqueKeys: !repeatedKeys,
    lineCounter: lines,
    ...(flavour === "kubernetes" ? KUBERNETES_SCHEMA : { version: "1.2" as const }),
  });
  const documents = composed(composer.compose(tokens, true, text.length), firstOnly);
  for (const document of documents) {
    const error = document.errors[0];
    if (error === undefined) continue;
    const { line, col } = lines.linePos(error.pos[0]);
    throw new YamlError(error.message, line, col);
  }
  return firstOnly ? documents : documents.filter((document) => !isEmpty(document));
}

function composed(documents: Iterable<Document>, firstOnly: boolean): Document.Parsed[] {
  if (!firstOnly) return [...documents] as Document.Parsed[];
  for (const document of documents) return [document as Document.Parsed];
  return [];
}

/**
 * A document's value.
 * @throws YamlError when it nests too deeply, refers to an unknown anchor, or its aliases expand to too much
 */
export function documentValue(
  document: Document.Parsed,
  flavour: YamlFlavour = "kubernetes",
  { mostValues = YAML_MAX_VALUES }: YamlOptions = {},
): unknown {
  return new Converter(document, flavour, mostValues).value(document.contents, 0);
}

const FLOAT = "tag:yaml.org,2002:float";

/** Prefixes of integers that kubectl's reader knows beside those of YAML 1.1. */
const OTHER_INTEGERS: ScalarTag = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  test: /^[-+]?0(?:[oO][0-7_]*[0-7]_*|X[0-9a-fA-F_]*[0-9a-fA-F]_*|B[01_]*[01]_*)$/,
  resolve: (text) => {
    const digits = BigInt(text.replace(/^[-+]|_/g, ""));
    return text.startsWith("-") ? -digits : digits;
  },
};

/** YAML 1.1 without what kubectl's reader lacks: dates and base-60 numbers. */
const KUBERNETES_SCHEMA: DocumentOptions & SchemaOptions = {
  version: "1.1",
  merge: true,
  customTags: (tags) => [
    OTHER_INTEGERS,
    ...tags
      .filter(
        (tag) =>
          typeof tag === "string" ||
          (tag.tag !== "tag:yaml.org,2002:timestamp" && !("format" in tag && tag.format === "TIME")),
      )
      .map((tag) =>
        typeof tag === "string" || tag.tag !== FLOAT || tag.collection !== undefined ? tag : withDigits(tag),
      ),
  ],
};

/** The library takes a text without a digit before its exponent, as `e1`, for a number. */
function withDigits(tag: ScalarTag): ScalarTag {
  const { test } = tag;
  if (test === undefined || test.test(".nan")) return tag;
  return { ...tag, test: new RegExp(`^(?=[-+]?\\.?[0-9])(?:${test.source})`) };
}

/** A document that holds nothing but comments and white space, as between two `---`. */
export function isEmpty({ contents }: Document.Parsed): boolean {
  if (contents === null) return true;
  return isScalar(contents) && contents.value === null && contents.range[0] === contents.range[1];
}

/**
 * Refuses deep nesting before the documents are composed: composing is recursive, and running out of stack inside it can end the process.
 */
function checkDepth(tokens: readonly CST.Token[], lines: LineCounter): void {
  const stack = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { token, depth } = next;
    if (depth > YAML_MAX_DEPTH) {
      const { line, col } = lines.linePos(token.offset);
      throw new YamlError(TOO_DEEP, line, col, true);
    }
    if (token.type === "document" && token.value) stack.push({ token: token.value, depth });
    if (!("items" in token)) continue;
    for (const { key, value } of token.items) {
      if (key) stack.push({ token: key, depth: depth + 1 });
      if (value) stack.push({ token: value, depth: depth + 1 });
    }
  }
}

/** What every alias stands for: the last node with its name before it. Resolving them one by one walks the document for each. */
export function aliasTargets(document: Document.Parsed): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Node: (_, node) => {
      if (isAlias(node)) {
        const target = anchors.get(node.source);
        if (target !== undefined) targets.set(node, target);
      } else if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

class Converter {
  readonly #document: Document.Parsed;
  readonly #flavour: YamlFlavour;
  readonly #mostValues: number;
  #values = 0;
  #targets: ReadonlyMap<Alias, Node> | undefined;
  /** What aliases stand for whose values are being made. */
  readonly #followed = new Set<Node>();

  constructor(document: Document.Parsed, flavour: YamlFlavour, mostValues: number) {
    this.#document = document;
    this.#flavour = flavour;
    this.#mostValues = mostValues;
  }

  value(node: unknown, depth: number): unknown {
    if (depth > YAML_MAX_DEPTH) throw this.#error(TOO_DEEP, node, true);
    if (++this.#values > this.#mostValues) throw this.#error(`more than ${this.#mostValues} values`, node, true);
    if (isAlias(node)) {
      const target = this.#targetOf(node);
      if (this.#followed.has(target)) throw this.#error(`anchor ${node.source} contains itself`, node);
      this.#followed.add(target);
      const value = this.value(target, depth + 1);
      this.#followed.delete(target);
      return value;
    }
    if (isMap(node)) return this.#map(node.items, depth);
    if (isSeq(node)) return node.items.map((item) => this.value(item, depth + 1));
    const value = scalarValue(isScalar(node) ? node.value : node, this.#flavour);
    if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY || Number.isNaN(value)) {
      // What is a number beyond doubles is a text for kubectl's reader; `.inf` is none for anybody.
      const isText = isScalar(node) && /[0-9]/.test(node.source ?? "");
      throw this.#error("a number that JSON can't hold: use a string or a finite number", node, isText);
    }
    return value;
  }

  #targetOf(alias: Alias): Node {
    this.#targets ??= aliasTargets(this.#document);
    const target = this.#targets.get(alias);
    if (target === undefined) throw this.#error(`unknown alias ${alias.source}`, alias);
    return target;
  }

  #error(reason: string, node: unknown, limit = false): YamlError {
    // The composer's option is kept, though its type does not say so.
    const { lineCounter } = this.#document.options as { lineCounter?: LineCounter };
    const { line, col } = lineCounter?.linePos(isNode(node) ? (node.range?.[0] ?? 0) : 0) ?? { line: 1, col: 1 };
    return new YamlError(reason, line, col, limit);
  }

  #map(items: readonly { key: unknown; value: unknown }[], depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (const { key, value } of items) {
      if (isScalar(key) && isMergeKey(key)) this.#merge(object, value, depth);
      else setKey(object, keyText(this.value(key, depth + 1)), this.value(value, depth + 1));
    }
    return object;
  }

  /** `<<`: as kubectl's reader has it what comes later in the map wins, whether it is merged or not, but of a list the first that has the key. */
  #merge(object: Record<string, unknown>, source: unknown, depth: number): void {
    const value = this.value(source, depth + 1);
    for (const one of Array.isArray(value) ? value.toReversed() : [value]) {
      if (one === null || typeof one !== "object") continue;
      for (const [key, member] of Object.entries(one)) setKey(object, key, member);
    }
  }
}

/** The 1.1 schema marks merge keys by a symbol or a tagged scalar; in 1.2 `<<` is a key like any other. */
export function isMergeKey(key: Node & { value: unknown }): boolean {
  return typeof key.value === "symbol" || (key.tag === "tag:yaml.org,2002:merge" && key.value === "<<");
}

function keyText(key: unknown): string {
  return typeof key === "string"
    ? key
    : key === null || typeof key !== "object" || key instanceof Number
      ? String(key)
      : JSON.stringify(key);
}

function scalarValue(value: unknown, flavour: YamlFlavour): unknown {
  switch (typeof value) {
    case "bigint":
      if (value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER) return Number(value);
      return value >= -(2n ** 63n) && value < 2n ** 63n ? value : double(Number(value));
    case "number":
      // kubectl sends JSON, whose printer writes the double 1.0 as 1: the API server reads an integer.
      return flavour === "kubernetes" && Number.isFinite(value) ? numberOf(String(value)) : double(value);
    case "string":
      return value.toWellFormed();
    case "boolean":
      return value;
    default:
      if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
      return null;
  }
}
