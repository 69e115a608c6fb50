/** A YAML document as a tree: as it is written, before it is converted to values. Offsets are UTF-16 offsets in the whole text. */
import type { ScalarStyle } from "./token.js";

/** A text, number, boolean or nothing. */
export interface YamlScalar {
  readonly kind: "scalar";
  /** The beginning of the text itself, its quote or `|` included; an anchor or a tag stands before it. If no text is written, both are where it could begin. */
  readonly start: number;
  readonly end: number;
  /** The text as written, folded and with its escapes replaced. */
  readonly text: string;
  /** `json`: a number or word of a JSON document, which has fewer of them than YAML. */
  readonly style: ScalarStyle | "json";
  /** The full tag, such as `tag:yaml.org,2002:int`; `""` for none. */
  readonly tag: string;
  /** The place of the tag; absent without one. */
  readonly tagAt?: number;
}

/** A list. Its tag, if it has one, has no meaning. */
export interface YamlList {
  readonly kind: "list";
  /** The place of the first `-`, or of the bracket. */
  readonly start: number;
  end: number;
  readonly items: YamlNode[];
}

/** A key and its value. */
export interface YamlPair {
  readonly key: YamlNode;
  readonly value: YamlNode;
}

/** A map, with all its pairs as written: merge keys, and repeated keys. */
export interface YamlMap {
  readonly kind: "map";
  /** The place of the first key, or of the brace. */
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
  /** The last node before it with that anchor; the one that contains the alias, if that has the anchor. */
  readonly target: YamlNode;
}

/** Any part of a document. */
export type YamlNode = YamlScalar | YamlList | YamlMap | YamlAlias;

/** Deepest nesting accepted, as in JSON: recursive code must not exhaust the stack. */
export const YAML_MAX_DEPTH = 500;
/** The error of deeper nesting. */
export const TOO_DEEP = `nested deeper than ${YAML_MAX_DEPTH} levels`;
