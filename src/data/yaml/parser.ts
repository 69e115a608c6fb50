import type { Cursor } from "./cursor.js";
import {
  TOO_DEEP,
  YAML_MAX_DEPTH,
  type YamlList,
  type YamlMap,
  type YamlNode,
  type YamlPair,
  type YamlScalar,
} from "./node.js";
import { Scanner } from "./scanner.js";
import type { Token, TokenKind } from "./token.js";
import { type YamlError, yamlErrorAt } from "./yaml-error.js";

/** The prefixes of the two handles that need no directive. */
const HANDLES: readonly (readonly [string, string])[] = [
  ["!", "!"],
  ["!!", "tag:yaml.org,2002:"],
];
/** The only version that Kubernetes' reader knows. */
const VERSION = "1.1";

type Kinds = ReadonlySet<TokenKind>;
const DIRECTIVES: Kinds = new Set(["version", "tag-directive"]);
const NO_CONTENT: Kinds = new Set(["version", "tag-directive", "document-start", "document-end", "end"]);
/** The tokens before which a key or value of a block is empty. */
const AFTER_MEMBER: Kinds = new Set(["key", "value", "block-end"]);
const AFTER_ITEM: Kinds = new Set(["-", "block-end"]);
const AFTER_LOOSE_ITEM: Kinds = new Set(["-", "key", "value", "block-end"]);
const AFTER_FLOW_KEY: Kinds = new Set(["value", ",", "}"]);
const AFTER_FLOW_VALUE: Kinds = new Set([",", "}"]);
const AFTER_PAIR_KEY: Kinds = new Set(["value", ",", "]"]);
const AFTER_PAIR_VALUE: Kinds = new Set([",", "]"]);

/** The names in messages of tokens that are not characters. */
const SHOWN: ReadonlyMap<TokenKind, string> = new Map([
  ["end", "the document ends"],
  ["block-end", "the block ends"],
  ["block-sequence", "a list begins"],
  ["block-mapping", "a map begins"],
  ["document-start", "a document begins"],
  ["document-end", "the document ends"],
  ["version", "a directive stands here"],
  ["tag-directive", "a directive stands here"],
  ["key", "a key stands here"],
  ["value", "a colon stands here"],
  ["scalar", "a value stands here"],
  ["tag", "a tag stands here"],
  ["anchor", "an anchor stands here"],
  ["alias", "an alias stands here"],
]);

/** The place of a node, which decides how it may begin. */
type Place = "flow" | "block" | "member";

/** The first document of a part of a text. */
export interface ParsedDocument {
  readonly root: YamlNode;
  /** The place at which the part continues behind it, be it with a comment; that is not read. */
  readonly behind: number | undefined;
}

/**
 * Reads the first document of a part of a text.
 * @returns undefined where there is none
 * @throws YamlError
 */
export function parseDocument(cursor: Cursor): ParsedDocument | undefined {
  return new DocumentParser(cursor).document();
}

class DocumentParser {
  readonly #text: string;
  readonly #scanner: Scanner;
  readonly #handles = new Map<string, string>();
  readonly #anchors = new Map<string, YamlNode>();
  /** The open brackets: for a missing end, their place is a more useful hint than its own. */
  readonly #open: Token[] = [];

  constructor(cursor: Cursor) {
    this.#text = cursor.text;
    this.#scanner = new Scanner(cursor);
  }

  document(): ParsedDocument | undefined {
    const scanner = this.#scanner;
    const { kind } = scanner.peek();
    if (kind === "end") return undefined;
    const isExplicit = DIRECTIVES.has(kind) || kind === "document-start";
    if (isExplicit) {
      this.#directives();
      const start = scanner.peek();
      if (start.kind !== "document-start") throw this.#unexpected(start, "behind directives comes ---");
      scanner.skip();
    }
    for (const [handle, prefix] of HANDLES) if (!this.#handles.has(handle)) this.#handles.set(handle, prefix);
    const first = scanner.peek();
    // Between `---` and the end of the document there may be nothing.
    const root = isExplicit && NO_CONTENT.has(first.kind) ? nothing(first.start) : this.#node("block", 0);
    const next = scanner.peek();
    return { root, behind: next.kind === "end" ? undefined : next.start };
  }

  #directives(): void {
    const scanner = this.#scanner;
    let hasVersion = false;
    for (let next = scanner.peek(); DIRECTIVES.has(next.kind); next = scanner.peek()) {
      if (next.kind === "version") {
        if (hasVersion) throw this.#error(next, "a document has one %YAML directive");
        if (next.text !== VERSION)
          throw this.#error(next, `Kubernetes reads YAML ${VERSION} only: remove this directive`);
        hasVersion = true;
      } else {
        if (this.#handles.has(next.text)) throw this.#error(next, `the handle ${next.text} is declared twice`);
        this.#handles.set(next.text, next.suffix);
      }
      scanner.skip();
    }
  }

  #node(place: Place, depth: number): YamlNode {
    const scanner = this.#scanner;
    let next = scanner.peek();
    if (depth > YAML_MAX_DEPTH) throw yamlErrorAt(this.#text, next.start, TOO_DEEP, true);
    if (next.kind === "alias") return this.#alias(next);
    let anchor: Token | undefined;
    let tag: Token | undefined;
    // One of each, in any order.
    for (;;) {
      if (next.kind === "anchor" && anchor === undefined) anchor = next;
      else if (next.kind === "tag" && tag === undefined) tag = next;
      else break;
      scanner.skip();
      next = scanner.peek();
    }
    const name = anchor?.text;
    const fullTag = tag === undefined ? "" : this.#fullTag(tag);
    switch (next.kind) {
      case "scalar":
        scanner.skip();
        return this.#named(name, {
          kind: "scalar",
          start: next.start,
          end: next.end,
          text: next.text,
          style: next.style,
          tag: fullTag,
          ...(tag && { tagAt: tag.start }),
        });
      case "[":
        return this.#flowList(name, depth);
      case "{":
        return this.#flowMap(name, depth);
      case "-":
        if (place === "member") return this.#looseList(name, depth);
        break;
      case "block-sequence":
        if (place !== "flow") return this.#blockList(name, depth);
        break;
      case "block-mapping":
        if (place !== "flow") return this.#blockMap(name, depth);
        break;
    }
    const last = laterOf(anchor, tag);
    if (last === undefined) throw this.#unexpected(next, "a value was expected here");
    const empty = nothing(last.end, fullTag);
    return this.#named(name, tag === undefined ? empty : { ...empty, tagAt: tag.start });
  }

  #alias(next: Token): YamlNode {
    const target = this.#anchors.get(next.text);
    if (target === undefined)
      throw this.#error(next, `unknown alias *${next.text}: no anchor &${next.text} stands before it`);
    this.#scanner.skip();
    return { kind: "alias", start: next.start, end: next.end, name: next.text, target };
  }

  /** Records a node's anchor. Its children may refer to it already. */
  #named<T extends YamlNode>(name: string | undefined, node: T): T {
    if (name !== undefined) this.#anchors.set(name, node);
    return node;
  }

  #fullTag(tag: Token): string {
    if (tag.text === "") return tag.suffix;
    const prefix = this.#handles.get(tag.text);
    if (prefix === undefined) throw this.#error(tag, `the tag's handle ${tag.text} is not declared`);
    return prefix + tag.suffix;
  }

  #list(name: string | undefined, start: number): YamlList {
    return this.#named(name, { kind: "list", start, end: start, items: [] });
  }

  #map(name: string | undefined, start: number): YamlMap {
    return this.#named(name, { kind: "map", start, end: start, pairs: [] });
  }

  #blockList(name: string | undefined, depth: number): YamlList {
    const scanner = this.#scanner;
    const list = this.#list(name, scanner.peek().start);
    scanner.skip();
    for (;;) {
      const next = scanner.peek();
      if (next.kind === "block-end") break;
      if (next.kind !== "-") throw this.#unexpected(next, "the next - of a list was expected here");
      list.items.push(this.#afterMark(AFTER_ITEM, "block", depth));
    }
    return this.#ended(list);
  }

  /** A list that is indented no further than its key. */
  #looseList(name: string | undefined, depth: number): YamlList {
    const scanner = this.#scanner;
    const list = this.#list(name, scanner.peek().start);
    while (scanner.peek().kind === "-") list.items.push(this.#afterMark(AFTER_LOOSE_ITEM, "block", depth));
    list.end = list.items.at(-1)?.end ?? list.end;
    return list;
  }

  #blockMap(name: string | undefined, depth: number): YamlMap {
    const scanner = this.#scanner;
    const map = this.#map(name, scanner.peek().start);
    scanner.skip();
    for (;;) {
      const next = scanner.peek();
      if (next.kind === "block-end") break;
      if (next.kind !== "key") throw this.#unexpected(next, "a key was expected here");
      const key = this.#afterMark(AFTER_MEMBER, "member", depth);
      map.pairs.push({ key, value: this.#value(AFTER_MEMBER, "member", depth) });
    }
    return this.#ended(map);
  }

  #flowList(name: string | undefined, depth: number): YamlList {
    const scanner = this.#scanner;
    const list = this.#list(name, this.#opened());
    for (let isFirst = true; ; isFirst = false) {
      if (!isFirst && !this.#comma("]")) break;
      const next = scanner.peek();
      if (next.kind === "]") break;
      list.items.push(next.kind === "key" ? this.#singlePair(depth + 1) : this.#node("flow", depth + 1));
    }
    return this.#ended(list);
  }

  /** Takes an opening bracket, and answers its place. */
  #opened(): number {
    const bracket = this.#scanner.peek();
    this.#open.push(bracket);
    this.#scanner.skip();
    return bracket.start;
  }

  /** A map of one pair in a flow list, without braces. */
  #singlePair(depth: number): YamlMap {
    const scanner = this.#scanner;
    const mark = scanner.peek();
    const map = this.#map(undefined, mark.start);
    scanner.skip();
    const next = scanner.peek();
    // With a missing key, the text behind it is skipped, too.
    if (AFTER_PAIR_KEY.has(next.kind)) scanner.skip();
    const key = AFTER_PAIR_KEY.has(next.kind) ? nothing(next.end) : this.#node("flow", depth + 1);
    const value = this.#value(AFTER_PAIR_VALUE, "flow", depth);
    map.pairs.push({ key, value });
    map.end = value.end;
    return map;
  }

  #flowMap(name: string | undefined, depth: number): YamlMap {
    const scanner = this.#scanner;
    const map = this.#map(name, this.#opened());
    for (let isFirst = true; ; isFirst = false) {
      if (!isFirst && !this.#comma("}")) break;
      const next = scanner.peek();
      if (next.kind === "}") break;
      map.pairs.push(this.#flowPair(next, depth));
    }
    return this.#ended(map);
  }

  #flowPair(next: Token, depth: number): YamlPair {
    if (next.kind === "key") {
      const key = this.#afterMark(AFTER_FLOW_KEY, "flow", depth);
      return { key, value: this.#value(AFTER_FLOW_VALUE, "flow", depth) };
    }
    const key = this.#node("flow", depth + 1);
    return { key, value: nothing(this.#scanner.peek().start) };
  }

  /** Takes the comma that has to stand between items in brackets; false at their end. */
  #comma(close: "]" | "}"): boolean {
    const next = this.#scanner.peek();
    if (next.kind === close) return false;
    if (next.kind !== ",") throw this.#unexpected(next, `a comma or ${close} was expected here`);
    this.#scanner.skip();
    return true;
  }

  /** Takes a mark, such as `-`, and reads the node behind it, which may be missing. */
  #afterMark(empty: Kinds, place: Place, depth: number): YamlNode {
    const scanner = this.#scanner;
    const mark = scanner.peek();
    scanner.skip();
    return empty.has(scanner.peek().kind) ? nothing(mark.end) : this.#node(place, depth + 1);
  }

  /** The value of a key, which may be missing together with its colon. */
  #value(empty: Kinds, place: Place, depth: number): YamlNode {
    const next = this.#scanner.peek();
    return next.kind === "value" ? this.#afterMark(empty, place, depth) : nothing(next.start);
  }

  /** Takes the last token of a list or map. */
  #ended<T extends YamlList | YamlMap>(node: T): T {
    const { kind, end } = this.#scanner.peek();
    const last = node.kind === "list" ? node.items.at(-1) : node.pairs.at(-1)?.value;
    node.end = kind === "block-end" ? (last?.end ?? node.end) : end;
    if (kind !== "block-end") this.#open.pop();
    this.#scanner.skip();
    return node;
  }

  #error({ start }: Token, reason: string): YamlError {
    return yamlErrorAt(this.#text, start, reason);
  }

  #unexpected(next: Token, expected: string): YamlError {
    const open = this.#open.at(-1);
    if (open !== undefined && next.kind === "end")
      return this.#error(open, `the ${open.kind} that stands here is not closed`);
    return this.#error(next, `${expected}, but ${SHOWN.get(next.kind) ?? `${next.kind} stands here`}`);
  }
}

/** A value that is not written. */
function nothing(at: number, tag = ""): YamlScalar {
  return { kind: "scalar", start: at, end: at, text: "", style: "plain", tag };
}

function laterOf(left: Token | undefined, right: Token | undefined): Token | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return left.start > right.start ? left : right;
}
