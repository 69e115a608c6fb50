/**
 * A YAML or JSON document as a tree of values with their places. Aliases are already resolved: the nodes below one refer to the text
 * of its anchor.
 */
import { setKey } from "../../data/plain-object.js";
import type { Path } from "./problem.js";

/** The style of a scalar, which decides how places inside its text map to places in the file. */
export type ScalarStyle = "plain" | "single" | "double" | "block";

/** Offsets (UTF-16) of a node in the text of its file. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** A string, number, boolean or null; numbers in the value model of `data/json`. */
export interface ScalarNode extends Span {
  readonly kind: "scalar";
  readonly value: string | number | bigint | boolean | null;
  readonly style: ScalarStyle;
  /** The text as written, where YAML 1.2 does not read it as this boolean or number: a text may be meant. */
  readonly oldWord?: string;
}

/** A key and its value. */
export interface Pair {
  readonly key: string;
  /** Offset of the key. */
  readonly keyStart: number;
  /** Offset behind the key. */
  readonly keyEnd: number;
  readonly value: SourceNode;
}

/** A map with unique string keys, in the order of the file. */
export interface MapNode extends Span {
  readonly kind: "map";
  readonly pairs: readonly Pair[];
}

/** A list. */
export interface ListNode extends Span {
  readonly kind: "list";
  readonly items: readonly SourceNode[];
}

/** Any value of a document. */
export type SourceNode = ScalarNode | MapNode | ListNode;

/** The value as plain JSON data, deeply frozen. */
export function nodeValue(node: SourceNode): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return Object.freeze(node.items.map(nodeValue));
  const object: Record<string, unknown> = {};
  for (const { key, value } of node.pairs) setKey(object, key, nodeValue(value));
  return Object.freeze(object);
}

/** The pair with that key. */
export function pairOf(node: MapNode, key: string): Pair | undefined {
  return node.pairs.find((pair) => pair.key === key);
}

/** The node at `path` below `root`; when the path leads nowhere, the deepest node on the way. */
export function deepestNode(root: SourceNode, path: Path): { node: SourceNode; complete: boolean } {
  let node = root;
  for (const part of path) {
    const next: SourceNode | undefined =
      node.kind === "map"
        ? pairOf(node, String(part))?.value
        : node.kind === "list"
          ? node.items[Number(part)]
          : undefined;
    if (next === undefined) return { node, complete: false };
    node = next;
  }
  return { node, complete: true };
}

/** Whether nothing is written for a value. */
export const isNothing = (node: SourceNode): boolean => node.kind === "scalar" && node.value === null;

/** The hint where a text was expected: why a word that looks like one is not. */
export function textHint(node: SourceNode): string {
  if (node.kind !== "scalar" || node.oldWord === undefined) return "";
  return `: YAML 1.1 reads ${node.oldWord} so; write ${JSON.stringify(node.oldWord)} in quotes`;
}

/** `a map`, `a list`, `the string "x"`, `the number 1`: a description of a value, for messages. */
export function describeNode(node: SourceNode): string {
  if (node.kind !== "scalar") return node.kind === "map" ? "a map" : "a list";
  const { value } = node;
  if (value === null) return "nothing";
  if (typeof value === "string") {
    return `the string ${JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value)}`;
  }
  return typeof value === "boolean" ? `the boolean ${value}` : `the number ${value}`;
}
