import { parseJson } from "../json.js";
import { closingQuote } from "../json-values.js";
import { jsonBlanksEnd, jsonEnd } from "./json-stream.js";
import type { YamlList, YamlMap, YamlNode, YamlScalar } from "./node.js";

/** The tree of a JSON value that begins at an offset, and is known to be valid and not too deep. */
export function jsonNode(text: string, from: number): YamlNode {
  return new JsonNodes(text, from).value();
}

class JsonNodes {
  readonly #text: string;
  #at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.#at = at;
  }

  value(): YamlNode {
    this.#skipBlanks();
    const c = this.#text[this.#at];
    if (c === "{") return this.#map();
    return c === "[" ? this.#list() : this.#scalar();
  }

  #scalar(): YamlScalar {
    const start = this.#at;
    const isText = this.#text[start] === '"';
    const end = isText ? closingQuote(this.#text, start + 1) + 1 : jsonEnd(this.#text, start);
    this.#at = end;
    const written = this.#text.slice(start, end);
    const text = isText ? (parseJson(written) as string) : written;
    return { kind: "scalar", start, end, text, style: isText ? "double" : "json", tag: "" };
  }

  #list(): YamlList {
    const list: YamlList = { kind: "list", start: this.#at, end: this.#at, items: [] };
    while (!this.#ends("]")) list.items.push(this.value());
    list.end = this.#at;
    return list;
  }

  #map(): YamlMap {
    const map: YamlMap = { kind: "map", start: this.#at, end: this.#at, pairs: [] };
    while (!this.#ends("}")) {
      const key = this.#scalar();
      this.#skipBlanks();
      this.#at++;
      map.pairs.push({ key, value: this.value() });
    }
    map.end = this.#at;
    return map;
  }

  /** Skips the opening bracket, or the comma; then the closing bracket, if it is there. */
  #ends(close: string): boolean {
    this.#skipBlanks();
    if (this.#text[this.#at] !== close) this.#at++;
    this.#skipBlanks();
    if (this.#text[this.#at] !== close) return false;
    this.#at++;
    return true;
  }

  #skipBlanks(): void {
    this.#at = jsonBlanksEnd(this.#text, this.#at);
  }
}
