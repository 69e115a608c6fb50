/** Where the values of a document stand, by the pointers to them. */

import { NodeBuilder } from "../../config/documents/node-builder.js";
import type { SourceNode } from "../../config/documents/source-node.js";
import type { YamlNode } from "../../data/yaml.js";

/** A value's JSON Pointer and UTF-16 offset. */
export interface ValuePlace {
  /** RFC 6901; `""` for the document. */
  readonly pointer: string;
  /** Of the value, not of its key; of what an alias stands for, where that is written. */
  readonly offset: number;
}

/** The place of every value of a document that could be read, which bounds its aliases, each before what is in it. */
export function placesOf(root: YamlNode): Generator<ValuePlace> {
  return places(new NodeBuilder(Number.POSITIVE_INFINITY).build(root, []), "");
}

function* places(node: SourceNode, pointer: string): Generator<ValuePlace> {
  yield { pointer, offset: node.start };
  if (node.kind === "list")
    for (const [index, item] of node.items.entries()) yield* places(item, `${pointer}/${index}`);
  if (node.kind === "map") for (const { key, value } of node.pairs) yield* places(value, `${pointer}/${escaped(key)}`);
}

const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
