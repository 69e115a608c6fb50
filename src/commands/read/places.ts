/** Where the values of a document stand, by the pointers to them. */
import { isMergeKey } from "../../data/yaml/resolve.js";
import { keyName } from "../../data/yaml/scalar-values.js";
import type { YamlMap, YamlNode } from "../../data/yaml.js";

/** A value's JSON Pointer and UTF-16 offset. */
export interface ValuePlace {
  /** RFC 6901; `""` for the document. */
  readonly pointer: string;
  /** Of the value, not of its key; of what an alias stands for, where that is written. */
  readonly offset: number;
}

/** The place of every value of a document that could be read, each before what is in it. */
export function* placesOf(node: YamlNode, pointer = ""): Generator<ValuePlace> {
  const target = followed(node);
  yield { pointer, offset: target.start };
  if (target.kind === "list")
    for (const [index, item] of target.items.entries()) yield* placesOf(item, `${pointer}/${index}`);
  if (target.kind === "map")
    for (const [key, value] of members(target)) yield* placesOf(value, `${pointer}/${escaped(key)}`);
}

/** The members that count: the last one of a key, whether it is written or merged, but of a list of merged maps the first that has it. */
function members({ pairs }: YamlMap): Map<string, YamlNode> {
  const found = new Map<string, YamlNode>();
  for (const { key, value } of pairs) {
    if (key.kind === "scalar" && isMergeKey(key.text, key.tag, key.style)) {
      for (const source of value.kind === "list" ? value.items.toReversed() : [value]) {
        const map = followed(source);
        if (map.kind === "map") for (const [each, node] of members(map)) found.set(each, node);
      }
      continue;
    }
    const written = followed(key);
    const name = written.kind === "scalar" ? keyName(written) : undefined;
    // What is no key is in no document that could be read, unless another has taken its place.
    if (typeof name === "string") found.set(name, value);
  }
  return found;
}

function followed(node: YamlNode): Exclude<YamlNode, { readonly kind: "alias" }> {
  return node.kind === "alias" ? followed(node.target) : node;
}

const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
