/** A YAML document with its places: later stages use it for the places of problems. */

import { parseJson } from "../../data/json.js";
import { jsonNode } from "../../data/yaml/json-nodes.js";
import {
  HELM_TEMPLATE,
  Lines,
  mostWarnings,
  readYamlStream,
  readYamlTrees,
  UNREAD,
  type YamlTree,
} from "../../data/yaml.js";
import { type BrokenPart, brokenDocuments, withoutBrokenEntries } from "./broken-yaml.js";
import { MAX_DEPTH, NodeBuilder, type NodeProblem } from "./node-builder.js";
import type { Path, Position, Problem } from "./problem.js";
import type { About } from "./problem-codes.js";
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
  #root: SourceNode | undefined;

  /** @param root the tree with its places; undefined: it is made of the text when a place is needed */
  constructor(
    /** The file as it was named (or found in a folder). */
    readonly file: string,
    text: SourceText,
    root: SourceNode | undefined,
    /** The document as JSON data in the value model of `data/json`. */
    readonly value: unknown,
  ) {
    this.#text = text;
    this.#root = root;
  }

  get root(): SourceNode {
    this.#root ??= new NodeBuilder().build(jsonNode(this.#text.text, 0), []);
    return this.#root;
  }

  /**
   * The place of the value at `path`; with `inner`, of a place inside that string. A path that leads nowhere gives the deepest
   * value on the way, so there is always an answer.
   */
  positionOf(path: Path, inner?: InnerPlace): Position {
    const { node, complete } = deepestNode(this.root, path);
    let offset = node.start;
    if (inner !== undefined && complete && node.kind === "scalar" && typeof node.value === "string") {
      offset = sourceOffset(this.#text.text, node, node.value, offsetOfPlace(node.value, inner));
    }
    return this.at(offset);
  }

  /** The place of the key that `path` ends with; {@link positionOf} when it is not the key of a map. */
  keyPositionOf(path: Path): Position {
    const { node, complete } = deepestNode(this.root, path.slice(0, -1));
    const pair = complete && node.kind === "map" ? pairOf(node, String(path.at(-1))) : undefined;
    return pair === undefined ? this.positionOf(path) : this.at(pair.keyStart);
  }

  /** {@link positionOf} with the end of the value where that is in the same line. */
  spanOf(path: Path): Position & Pick<Problem, "endColumn"> {
    const { node, complete } = deepestNode(this.root, path);
    return complete && node.kind === "scalar" ? this.#span(node.start, node.end) : this.at(node.start);
  }

  /** {@link keyPositionOf} with the end of the key. */
  keySpanOf(path: Path): Position & Pick<Problem, "endColumn"> {
    const { node, complete } = deepestNode(this.root, path.slice(0, -1));
    const pair = complete && node.kind === "map" ? pairOf(node, String(path.at(-1))) : undefined;
    return pair === undefined ? this.spanOf(path) : this.#span(pair.keyStart, pair.keyEnd);
  }

  #span(start: number, end: number): Position & Pick<Problem, "endColumn"> {
    const place = this.at(start);
    const last = this.#text.place(end);
    return last.line === place.line && last.column > place.column ? { ...place, endColumn: last.column } : place;
  }

  /** The part at `path`, as a document of its own with the given value. */
  part(path: Path, value: unknown): SourceDocument {
    return new SourceDocument(this.file, this.#text, deepestNode(this.root, path).node, value);
  }

  /** An error or warning at a path; `inner`: at a place inside the string there. */
  problem(severity: Problem["severity"], path: Path, message: string, inner?: InnerPlace, about?: About): Problem {
    const place = inner === undefined ? this.spanOf(path) : this.positionOf(path, inner);
    return { severity, ...place, path, message, ...about };
  }

  /** The lines of comments right above it, without `#`. */
  commentsAbove(): readonly string[] {
    const { text } = this.#text;
    const found: string[] = [];
    for (let end = text.lastIndexOf("\n", this.root.start); end > 0; ) {
      const start = text.lastIndexOf("\n", end - 1) + 1;
      const [, comment] = /^\s*#\s?(.*)$/.exec(text.slice(start, end).trimEnd()) ?? [];
      if (comment === undefined) break;
      found.push(comment);
      end = start - 1;
    }
    return found.reverse();
  }

  /** Whether there is a value at `path`. */
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
  /** Made when the first place is needed. */
  #lines: Lines | undefined;

  constructor(readonly text: string) {}

  /** 1-based line and column (code points) of an offset. */
  place(offset: number): InnerPlace {
    this.#lines ??= new Lines(this.text);
    return this.#lines.place(offset);
  }
}

/** The result of a configuration file's text: its one document unless it isn't YAML, and all errors of its form. */
export interface ParsedConfiguration {
  readonly document?: SourceDocument;
  /** Errors of the whole file when `document` is absent, else errors at their paths. */
  readonly problems: readonly Problem[];
  /** The first document of a file of several. */
  readonly first?: Required<Pick<ParsedConfiguration, "document" | "problems">>;
}

/** A configuration in which some entries are not YAML: the others, for finding their mistakes too. */
export interface SalvagedConfiguration extends ParsedConfiguration {
  /** The names of the broken entries. */
  readonly broken: readonly string[];
}

/** The tree of an empty text. */
const NOTHING: YamlTree = {
  root: { kind: "scalar", start: 0, end: 0, text: "", style: "plain", tag: "" },
  unread: undefined,
};

/** Reads a configuration file of ours: YAML as Kubernetes reads it, one document; repeated keys and the like are problems, not the end. */
export function parseConfiguration(text: string, file: string): ParsedConfiguration {
  const source = new SourceText(text);
  const problem = (flaw: NodeProblem): Problem => problemOf(flaw, file, source);
  const { documents, error } = readYamlTrees(text);
  const [document = NOTHING, second] = documents;
  const flaws: NodeProblem[] = [];
  const behind = second?.root.start ?? document.unread;
  if (behind !== undefined) {
    const { kind, start } = document.root;
    const isIndented = kind === "map" && text[start] !== "{" && !/^(?:---|\.\.\.)/m.test(text.slice(start, behind));
    const message = isIndented
      ? "this line is indented less than the first one: begin the name of each policy in the same column"
      : "a configuration file holds one document: remove this second one";
    flaws.push({ offset: behind, path: [], message, code: "YAML_SECOND_DOCUMENT" });
  }
  const problems = flaws.map(problem);
  if (error !== undefined) problems.push(brokenProblem({ line: error.line, column: error.column, error }, file));
  const builder = new NodeBuilder();
  const root = builder.build(document.root, []);
  if (problems.length > 0) {
    if (behind === undefined) return { problems };
    const first = new SourceDocument(file, source, root, nodeValue(root));
    return { problems, first: { document: first, problems: builder.flaws.map(problem) } };
  }
  for (const flaw of builder.flaws) problems.push(problem(flaw));
  if (builder.flaws.some(({ kind }) => kind === "fatal")) return { problems };
  return { document: new SourceDocument(file, source, root, nodeValue(root)), problems };
}

/** The readable part of a configuration's text that is not YAML; undefined where there is none. */
export function salvageConfiguration(text: string, file: string): SalvagedConfiguration | undefined {
  const isTemplate = readYamlTrees(text).error?.reason === HELM_TEMPLATE;
  const rest = isTemplate ? undefined : withoutBrokenEntries(text);
  if (rest === undefined) return undefined;
  const { document, problems } = parseConfiguration(rest.text, file);
  const own = rest.broken.map((part) => brokenProblem(part, file));
  return { ...(document && { document }), problems: [...own, ...problems], broken: rest.names };
}

/** A document of another reader, without places: all its problems are placed at its beginning, with their path. */
export function documentWithoutPlaces(text: string, file: string, root: SourceNode): SourceDocument {
  return new SourceDocument(file, new SourceText(text), root, nodeValue(root));
}

/** An indent that only what is nested too deeply has. */
const TOO_DEEP = " ".repeat(4 * MAX_DEPTH);

/**
 * A document as `data/kubectl-text` prints it: it can't have the flaws of YAML, so that its tree is made only when a place is needed. Undefined for a text that may have
 * flaws or isn't JSON.
 */
export function printedDocument(text: string, file: string): SourceDocument | undefined {
  const mayHaveFlaws = text[0] !== "{" || !text.isWellFormed() || text.includes("{{") || text.includes(TOO_DEEP);
  if (mayHaveFlaws) return undefined;
  try {
    return new SourceDocument(file, new SourceText(text), undefined, parseJson(text));
  } catch {
    return undefined;
  }
}

/** The result of a file of resources. */
export interface ParsedResources {
  /** The documents; none when the file has an error anywhere. */
  readonly documents: readonly SourceDocument[];
  /** The errors. */
  readonly problems: readonly Problem[];
  /**
   * Warnings about what Kubernetes accepts without a message, though it is probably unintended: keys that are repeated in a map or merged over, and text behind
   * the end of a document; not all of very many.
   */
  readonly warnings: readonly Problem[];
}

/**
 * Reads a file of Kubernetes resources: any number of documents, as kubectl reads them.
 * @param isStrict whether to warn of every key that an API server's strict decoder refuses
 */
export function parseResources(text: string, file: string, isStrict = false): ParsedResources {
  const source = new SourceText(text);
  const { documents, error } = readYamlStream(text);
  if (error !== undefined) {
    const broken = brokenDocuments(text, error).map((part) => brokenProblem(part, file));
    return { documents: [], problems: broken, warnings: [] };
  }
  const problems: Problem[] = [];
  const doubts: NodeProblem[] = [];
  const read = documents.map(({ root, value, unread }) => {
    const builder = new NodeBuilder(undefined, isStrict);
    const node = builder.build(root, []);
    for (const flaw of builder.flaws) if (flaw.kind === "repeated") doubts.push(flaw);
    // The tree ends where the builder stopped, though the value does not.
    const fatal = builder.flaws.find(({ kind }) => kind === "fatal");
    if (fatal !== undefined) problems.push(problemOf(fatal, file, source));
    for (const flaw of builder.flaws) if (flaw.kind === "misread") problems.push(problemOf(flaw, file, source));
    if (unread !== undefined) doubts.push({ offset: unread, path: [], message: UNREAD, code: "YAML_SECOND_DOCUMENT" });
    return new SourceDocument(file, source, node, value);
  });
  const warnings = mostWarnings(doubts).map((warning) => problemOf(warning, file, source, "warning"));
  return { documents: problems.length === 0 ? read : [], problems, warnings };
}

function problemOf(
  { offset, path, message, code }: NodeProblem,
  file: string,
  source: SourceText,
  severity: Problem["severity"] = "error",
): Problem {
  return { severity, file, ...source.place(offset), path, message, code };
}

function brokenProblem({ line, column, error }: BrokenPart, file: string): Problem {
  const isCut = error.reason.startsWith("EOF while parsing");
  const hint = isCut ? "the text ends before all of it is closed: a bracket or a quote is missing" : error.hint;
  const code = error.limit ? "YAML_LIMIT" : "YAML_SYNTAX";
  return { severity: "error", file, line, column, path: [], code, message: error.reason, ...(hint && { hint }) };
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
