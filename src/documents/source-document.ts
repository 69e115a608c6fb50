/** A YAML document with its places: what later stages use to say where in a file something is wrong. */
import { Composer, type CST, type Document, Parser } from "yaml";
import { documentValue, readYamlDocuments, YamlError } from "../data/yaml.js";
import { type Flaw, MAX_DEPTH, NodeBuilder } from "./node-builder.js";
import type { Path, Position, Problem } from "./problem.js";
import { sourceOffset } from "./scalar-position.js";
import { deepestNode, nodeValue, pairOf, type SourceNode } from "./source-node.js";

/** A place inside a string value: 1-based line and column (code points) of its text, as the CEL engine counts. */
export interface InnerPlace {
  readonly line: number;
  readonly column: number;
}

/** One document of a file. */
export class SourceDocument {
  readonly #text: SourceText;

  constructor(
    /** The file as it was named (or found in a folder). */
    readonly file: string,
    text: SourceText,
    readonly root: SourceNode,
    /** The document as JSON data in the value model of `data/json`. */
    readonly value: unknown,
  ) {
    this.#text = text;
  }

  /**
   * Where the value at `path` stands; with `inner`, where a place inside that string stands. A path that leads nowhere gives the deepest
   * value on the way, so an answer always comes.
   */
  positionOf(path: Path, inner?: InnerPlace): Position {
    const { node, complete } = deepestNode(this.root, path);
    let offset = node.start;
    if (inner !== undefined && complete && node.kind === "scalar" && typeof node.value === "string") {
      offset = sourceOffset(this.#text.text, node, node.value, offsetOfPlace(node.value, inner));
    }
    return this.at(offset);
  }

  /** Where the key that `path` ends with stands; {@link positionOf} when it is no key of a map. */
  keyPositionOf(path: Path): Position {
    const { node, complete } = deepestNode(this.root, path.slice(0, -1));
    const pair = complete && node.kind === "map" ? pairOf(node, String(path.at(-1))) : undefined;
    return pair === undefined ? this.positionOf(path) : this.at(pair.keyStart);
  }

  /** What stands at `path`, as a document of its own with the value given. */
  part(path: Path, value: unknown): SourceDocument {
    return new SourceDocument(this.file, this.#text, deepestNode(this.root, path).node, value);
  }

  /** Something wrong (`error`) or doubtful at a path; `inner`: at a place inside the string there. */
  problem(severity: Problem["severity"], path: Path, message: string, inner?: InnerPlace): Problem {
    return { severity, ...this.positionOf(path, inner), path, message };
  }

  /** Whether something stands at `path`. */
  hasKey(path: Path): boolean {
    return deepestNode(this.root, path).complete;
  }

  /** The place of an offset in the file. */
  at(offset: number): Position {
    return { file: this.file, ...this.#text.place(offset) };
  }
}

/** A file's text with its lines. */
class SourceText {
  readonly #lineStarts: number[] = [0];

  constructor(readonly text: string) {
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) this.#lineStarts.push(at + 1);
  }

  /** 1-based line and column (code points) of an offset. */
  place(offset: number): InnerPlace {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#lineStarts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: [...this.text.slice(this.#lineStarts[low], offset)].length + 1 };
  }
}

/** What came of a configuration file's text: its one document unless it isn't YAML, and everything wrong with its form. */
export interface ParsedConfiguration {
  readonly document?: SourceDocument;
  /** Errors that spoil the whole file when `document` is absent, else errors at their paths. */
  readonly problems: readonly Problem[];
}

/** Reads a configuration file of ours: YAML 1.2 or JSON, one document; duplicate keys and the like are problems, not the end. */
export function parseConfiguration(text: string, file: string): ParsedConfiguration {
  const source = new SourceText(text);
  const problem = ({ offset, path, message }: Flaw): Problem => ({
    severity: "error",
    file,
    ...source.place(offset),
    path,
    message,
  });
  const tokens = [...new Parser().parse(text)];
  const tooDeep = firstTooDeep(tokens);
  if (tooDeep !== undefined) {
    return { problems: [problem({ offset: tooDeep, path: [], message: `nested deeper than ${MAX_DEPTH} levels` })] };
  }
  const composer = new Composer({ version: "1.2", uniqueKeys: false, intAsBigInt: true, prettyErrors: false });
  const documents = [...composer.compose(tokens, true, text.length)] as Document.Parsed[];
  const [document, second] = documents;
  const flaws: Flaw[] = documents.flatMap(({ errors, warnings }) =>
    [...errors, ...warnings].map(({ pos, message }) => ({ offset: pos[0], path: [], message })),
  );
  if (second !== undefined) {
    const message = "a configuration file holds one document: remove this second one";
    flaws.push({ offset: second.range[0], path: [], message });
  }
  if (document === undefined || flaws.length > 0) return { problems: flaws.map(problem) };
  const builder = new NodeBuilder(document);
  const root = builder.build(document.contents, [], 0);
  const problems = builder.flaws.map(problem);
  if (builder.flaws.some(({ fatal }) => fatal)) return { problems };
  return { document: new SourceDocument(file, source, root, nodeValue(root)), problems };
}

/** Reads a file of Kubernetes resources: any number of documents, as kubectl reads them. */
export function parseResources(
  text: string,
  file: string,
): { readonly documents: readonly SourceDocument[]; readonly problems: readonly Problem[] } {
  const source = new SourceText(text);
  try {
    const documents = readYamlDocuments(text).map((document) => {
      const value = documentValue(document);
      return new SourceDocument(file, source, new NodeBuilder(document).build(document.contents, [], 0), value);
    });
    return { documents, problems: [] };
  } catch (cause) {
    if (!(cause instanceof YamlError)) throw cause;
    const { line, column, reason } = cause;
    return { documents: [], problems: [{ severity: "error", file, line, column, path: [], message: reason }] };
  }
}

/** The offset of the first token nested too deeply. Composing is recursive, so this is looked at before. */
function firstTooDeep(tokens: readonly CST.Token[]): number | undefined {
  const stack = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { token, depth } = next;
    if (depth > MAX_DEPTH) return token.offset;
    if (token.type === "document" && token.value) stack.push({ token: token.value, depth });
    if (!("items" in token)) continue;
    for (const { key, value } of token.items) {
      if (key) stack.push({ token: key, depth: depth + 1 });
      if (value) stack.push({ token: value, depth: depth + 1 });
    }
  }
  return undefined;
}

/** UTF-16 offset of a 1-based line and code point column in a text. */
function offsetOfPlace(text: string, { line, column }: InnerPlace): number {
  let start = 0;
  for (let current = 1; current < line; current++) {
    const newline = text.indexOf("\n", start);
    if (newline === -1) break;
    start = newline + 1;
  }
  let offset = start;
  for (let current = 1; current < column && offset < text.length; current++) {
    offset += text.codePointAt(offset)! > 0xffff ? 2 : 1;
  }
  return offset;
}
