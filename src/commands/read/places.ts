/** Where the values of a document stand, by the pointers to them. */
import type { YamlMap, YamlNode, YamlScalar } from "../../data/yaml/node.js";
import { Float, isMergeKey, resolvePlain, resolveTagged } from "../../data/yaml/resolve.js";
import { keyText } from "../../data/yaml/values.js";

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
    const name = followed(key);
    if (key.kind === "scalar" && isMergeKey(key.text, key.tag, key.style)) {
      for (const source of value.kind === "list" ? value.items.toReversed() : [value]) {
        const map = followed(source);
        if (map.kind === "map") for (const [each, node] of members(map)) found.set(each, node);
      }
    } else if (name.kind === "scalar") found.set(nameOf(name), value);
  }
  return found;
}

function nameOf({ tag, style, text }: YamlScalar): string {
  const value = tag !== "" ? resolveTagged(text, tag) : style === "plain" ? resolvePlain(text) : text;
  const isValue = typeof value !== "object" || value === null || value instanceof Float;
  return (isValue ? keyText(value) : undefined) ?? text;
}

function followed(node: YamlNode): Exclude<YamlNode, { readonly kind: "alias" }> {
  return node.kind === "alias" ? followed(node.target) : node;
}

const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
