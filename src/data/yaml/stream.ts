/** Texts of any number of documents, cut and read as k8s.io/apimachinery's YAMLOrJSONDecoder does for kubectl and the API server. */
import { JsonError, parseJson, UNIQUE_KEYS } from "../json.js";
import { FORBIDDEN } from "./characters.js";
import { chunks, isSpace, spaceEnd } from "./chunks.js";
import { Cursor } from "./cursor.js";
import { taggedReason } from "./hints.js";
import { jsonNode } from "./json-nodes.js";
import { jsonBlanksEnd, jsonEnd } from "./json-stream.js";
import type { YamlNode } from "./node.js";
import { parseDocument } from "./parser.js";
import { isReadAhead } from "./read-ahead.js";
import type { YamlDialect } from "./scalar-values.js";
import { documentValue, type RepeatedKey, type TaggedText } from "./values.js";
import { placeOf, YamlError, yamlErrorAt } from "./yaml-error.js";

/** Bytes at the beginning in which the first `{` has to stand for a text to be read as JSON. */
const SNIFFED_BYTES = 4096;
/** Bytes that have to follow JSON for YAML to be tried there. */
const LEAST_YAML_BYTES = 4;
/** Most JSON documents before a text that is tried as YAML if it is not JSON. */
const MOST_JSON_BEFORE_YAML = 1;

/** Options of reading. */
export interface YamlOptions {
  /** Most values of a document once its aliases are resolved, keys counted; default: written values are bounded by the text, and aliases by Kubernetes' own rule. */
  readonly mostValues?: number;
  /** Whether a repeated key in a map, and a tag that YAML does not have, are errors; default no: the last key counts, and the tag is dropped. */
  readonly uniqueKeys?: boolean;
  /** How scalars are read; default `kubernetes`. */
  readonly dialect?: YamlDialect;
}

/** The contents of one document as written. */
export interface YamlTree {
  /** The tree with its places. */
  readonly root: YamlNode;
  /** The place of text behind the document that is not read, as behind `...`. */
  readonly unread: number | undefined;
}

/** One document. */
export interface YamlDocument extends YamlTree {
  /** The value in the number model of `data/json`; never null, because empty documents are left out. */
  readonly value: unknown;
  /** The repeated keys in a map, at their later places: Kubernetes uses the last one. */
  readonly repeatedKeys: readonly RepeatedKey[];
  /** Texts with tags that YAML does not have. */
  readonly tagged: readonly TaggedText[];
}

/** The contents of a text. */
export interface YamlStream<T = YamlDocument> {
  /** The documents before the error, if there is one. */
  readonly documents: readonly T[];
  /** The error of the first document that can't be read. The text behind it is not read either. */
  readonly error?: YamlError;
}

/** All documents of a text, up to the first that is broken. */
export function readYamlStream(text: string, options: YamlOptions = {}): YamlStream {
  return collected(text, (source) => {
    const document = source.decoded(options);
    return document.value === null ? undefined : document;
  });
}

/** The trees of all documents of a text except empty ones, up to the first that is not YAML; whether Kubernetes has a value for them is not checked. */
export function readYamlTrees(text: string): YamlStream<YamlTree> {
  return collected(text, (source) => (isNothing(source.root) ? undefined : source));
}

/** The values alone of {@link readYamlStream}: trees are released one by one, which takes less time and memory. */
export function readYamlValues(text: string, options: YamlOptions = {}): YamlStream<unknown> {
  return collected(text, (source) => source.decoded(options).value ?? undefined);
}

function collected<T>(text: string, take: (source: Source) => T | undefined): YamlStream<T> {
  const documents: T[] = [];
  try {
    for (const source of new StreamReader(text.toWellFormed()).sources()) {
      const document = take(source);
      if (document !== undefined) documents.push(document);
    }
    return { documents };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { documents, error };
  }
}

function isNothing(root: YamlNode): boolean {
  return root.kind === "scalar" && root.text === "" && root.style === "plain";
}

/**
 * The first document of a text, as sigs.k8s.io/yaml reads it for callers that expect only one: the rest is not read, and JSON is YAML.
 * @returns undefined for a text without documents
 * @throws YamlError
 */
export function readYamlDocument(text: string, options: YamlOptions = {}): YamlDocument | undefined {
  const source = text.toWellFormed();
  return new Chunks(source).source(0, source.length)?.decoded(options);
}

/**
 * The first document of a text, like {@link readYamlDocument}; but the text behind it has to be YAML as well, as for OPA.
 * @throws YamlError
 */
export function readYamlAlone(text: string, options: YamlOptions = {}): YamlDocument | undefined {
  const source = text.toWellFormed();
  const chunks = new Chunks(source);
  const first = chunks.source(0, source.length);
  for (let at = first?.unread; at !== undefined; at = chunks.source(at, source.length)?.unread) {
    if (!NEXT_DOCUMENT.test(source.slice(at, at + 4)))
      throw yamlErrorAt(source, at, "another document begins with ---");
  }
  return first?.decoded(options);
}

/** The beginning of a document behind another: its mark, or a directive. */
const NEXT_DOCUMENT = /^(?:---(?:\s|$)|%)/;

/** A document that has been found, and can be decoded. */
interface Source extends YamlTree {
  /** @throws YamlError */
  decoded(options: YamlOptions): YamlDocument;
}

/** One instance per text. */
class StreamReader {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  *sources(): Generator<Source> {
    const text = this.#text;
    if (!looksLikeJson(text)) {
      yield* this.#yaml(0);
      return;
    }
    let at = 0;
    let count = 0;
    for (;;) {
      const from = jsonBlanksEnd(text, at);
      if (from === text.length) return;
      const found = jsonDocument(text, from);
      if (found instanceof YamlError) {
        if (found.limit || count > MOST_JSON_BEFORE_YAML) throw found;
        yield* this.#yamlAfterJson(at, count, found);
        return;
      }
      yield found;
      at = found.end;
      count++;
    }
  }

  /** Reads YAML at a place where JSON was expected and not found. */
  *#yamlAfterJson(at: number, count: number, error: YamlError): Generator<Source> {
    const from = yamlStart(this.#text, at);
    if (from === undefined) throw error;
    let isFirst = true;
    try {
      for (const source of this.#yaml(from)) {
        yield source;
        isFirst = false;
      }
    } catch (cause) {
      // A text that begins like JSON is meant to be JSON.
      throw isFirst && count === 0 ? error : cause;
    }
  }

  *#yaml(from: number): Generator<Source> {
    // Every line is read with a line feed at its end.
    const text = this.#text.endsWith("\n") ? this.#text : `${this.#text}\n`;
    const reader = new Chunks(text);
    for (const { start, end } of chunks(text, from)) {
      const source = reader.source(start, end);
      if (source !== undefined) yield source;
    }
  }
}

/** The parts of a text with a document of YAML each. */
class Chunks {
  readonly #text: string;
  readonly #forbidden: ForbiddenCharacters;

  constructor(text: string) {
    this.#text = text;
    this.#forbidden = new ForbiddenCharacters(text);
  }

  source(start: number, end: number): Source | undefined {
    const forbidden = this.#forbidden.from(start);
    const cursor = new Cursor(this.#text, start, Math.min(end, forbidden), forbidden < end);
    const parsed = parseDocument(cursor);
    if (parsed === undefined) return undefined;
    if (cursor.forbidden && isReadAhead(cursor, start)) throw cursor.errorOfForbidden();
    return new YamlSource(this.#text, parsed.root, unreadWithin(this.#text, parsed.behind, end));
  }
}

class YamlSource implements Source {
  readonly #text: string;

  constructor(
    text: string,
    readonly root: YamlNode,
    readonly unread: number | undefined,
  ) {
    this.#text = text;
  }

  decoded({ mostValues, uniqueKeys, dialect }: YamlOptions): YamlDocument {
    const { root, unread } = this;
    const { value, repeatedKeys, tagged } = documentValue(this.#text, root, mostValues, dialect);
    if (uniqueKeys) refuseRepeated(this.#text, repeatedKeys);
    if (uniqueKeys) refuseTagged(this.#text, tagged);
    return { root, unread, value, repeatedKeys, tagged };
  }
}

function refuseRepeated(text: string, [first]: readonly RepeatedKey[]): void {
  if (first !== undefined) throw yamlErrorAt(text, first.offset, `the key ${first.key} stands in this map already`);
}

function refuseTagged(text: string, [first]: readonly TaggedText[]): void {
  if (first === undefined) return;
  const { line, column } = placeOf(text, first.offset);
  throw new YamlError(taggedReason(first.meant), line, column);
}

/** The place of text behind a document that is neither a comment nor another end of it. */
function unreadWithin(text: string, behind: number | undefined, end: number): number | undefined {
  if (behind === undefined) return undefined;
  const cursor = new Cursor(text, behind, end, false);
  for (;;) {
    if (cursor.atDocumentMark() && text[cursor.at] === ".") cursor.at += 3;
    cursor.skipBlanks();
    if (text[cursor.at] === "#") cursor.skipLine();
    if (!cursor.atBreak()) return cursor.at < end ? cursor.at : undefined;
    cursor.skipBreak();
  }
}

/** Finds the characters in a text that no document of YAML may contain. For ascending offsets it reads the text once. */
class ForbiddenCharacters {
  readonly #text: string;
  readonly #pattern = new RegExp(FORBIDDEN);
  #next = -1;

  constructor(text: string) {
    this.#text = text;
  }

  /** The offset of the first such character from one offset on; beyond all offsets when there is none. */
  from(offset: number): number {
    if (this.#next >= offset) return this.#next;
    this.#pattern.lastIndex = offset;
    this.#next = this.#pattern.exec(this.#text)?.index ?? Number.POSITIVE_INFINITY;
    return this.#next;
  }
}

function looksLikeJson(text: string): boolean {
  const start = spaceEnd(text, 0);
  return text[start] === "{" && Buffer.byteLength(text.slice(0, Math.min(start, SNIFFED_BYTES))) < SNIFFED_BYTES;
}

/** A document of JSON, whose tree is only made when its places are needed. */
class JsonDocument implements Source, YamlDocument {
  readonly unread = undefined;
  readonly tagged = [];
  readonly #text: string;
  readonly #start: number;
  #root: YamlNode | undefined;

  constructor(
    text: string,
    start: number,
    readonly end: number,
    readonly value: unknown,
  ) {
    this.#text = text;
    this.#start = start;
  }

  get root(): YamlNode {
    this.#root ??= jsonNode(this.#text, this.#start);
    return this.#root;
  }

  get repeatedKeys(): readonly RepeatedKey[] {
    try {
      // The text is valid JSON: repeated keys are the only possible error.
      parseJson(this.#text.slice(this.#start, this.end), { unique: UNIQUE_KEYS });
      return [];
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      return documentValue(this.#text, this.root).repeatedKeys;
    }
  }

  decoded({ uniqueKeys }: YamlOptions): YamlDocument {
    if (uniqueKeys) refuseRepeated(this.#text, this.repeatedKeys);
    return this;
  }
}

/** The JSON document that begins at an offset, or its error. */
function jsonDocument(text: string, start: number): JsonDocument | YamlError {
  const end = jsonEnd(text, start);
  const written = text.slice(start, end === -1 ? text.length : end);
  try {
    return new JsonDocument(text, start, end, parseJson(written));
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const limit = error.reason === "recursion limit exceeded" || error.reason === "number out of range";
    return yamlErrorAt(text, start + offsetIn(written, error), error.reason, limit);
  }
}

function offsetIn(text: string, { line, column }: JsonError): number {
  let start = 0;
  for (let i = 1; i < line; i++) start = text.indexOf("\n", start) + 1;
  return Math.min(start + column - 1, text.length);
}

/** The beginning of YAML behind JSON: behind white space, but at most one line feed of it. Undefined where too little follows. */
function yamlStart(text: string, from: number): number | undefined {
  for (let at = from; ; ) {
    if (Buffer.byteLength(text.slice(at, at + LEAST_YAML_BYTES)) < LEAST_YAML_BYTES) return undefined;
    const character = text[at] ?? "";
    if (character === "\ufffd") return undefined;
    if (!isSpace(character)) return at;
    at++;
    if (character === "\n") return at;
  }
}
