/** A YAML document as a tree: what is written, before anything is made of it. Offsets are UTF-16 offsets in the whole text. */
import type { ScalarStyle } from "./token.js";

/** A text, number, boolean or nothing. */
export interface YamlScalar {
  readonly kind: "scalar";
  /** Of the text itself, its quote or `|` included; an anchor or a tag stands before it. Where nothing is written, both are where it could begin. */
  readonly start: number;
  readonly end: number;
  /** What is written, folded and with its escapes replaced. */
  readonly text: string;
  /** `json`: a number or word of a JSON document, which has fewer of them than YAML. */
  readonly style: ScalarStyle | "json";
  /** The tag in full, as `tag:yaml.org,2002:int`; `""` for none. */
  readonly tag: string;
}

/** A list. Its tag, if it has one, means nothing. */
export interface YamlList {
  readonly kind: "list";
  /** The first `-`, or the bracket. */
  readonly start: number;
  end: number;
  readonly items: YamlNode[];
}

/** A key and its value. */
export interface YamlPair {
  readonly key: YamlNode;
  readonly value: YamlNode;
}

/** A map, with all that is written in it: merge keys, and keys that are repeated. */
export interface YamlMap {
  readonly kind: "map";
  /** The first key, or the brace. */
  readonly start: number;
  end: number;
  readonly pairs: YamlPair[];
}

/** `*name` */
export interface YamlAlias {
  readonly kind: "alias";
  readonly start: number;
  readonly end: number;
  readonly name: string;
  /** The last node before it with that anchor; one that the alias itself stands in, where it refers to that. */
  readonly target: YamlNode;
}

/** Any part of a document. */
export type YamlNode = YamlScalar | YamlList | YamlMap | YamlAlias;

/** Deepest nesting accepted, as in JSON: what walks a value recursively must survive it. */
export const YAML_MAX_DEPTH = 500;
/** Why deeper nesting is refused. */
export const TOO_DEEP = `nested deeper than ${YAML_MAX_DEPTH} levels`;
