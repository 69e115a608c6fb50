/**
 * Removes from JSON what must not be recorded (docs/replay.md has the list). Texts become `[redacted]`, numbers 0: types stay, so that policies can
 * still read them. Nothing is changed in place: a value with nothing to hide is returned itself.
 */
import { parseJson, stringifyJson } from "../../data/json.js";
import { printYaml } from "../../data/print-yaml.js";
import { isJsonObject } from "../../data/same-value.js";
import { readYamlValues } from "../../data/yaml.js";
import type { Credentials } from "./credentials.js";
import { REDACTED } from "./recorded-request.js";

/** The same in base64, for the data of a Secret. */
export const REDACTED_BASE64 = Buffer.from(REDACTED).toString("base64");
/** Most places that are named; the others are counted. */
const NAMED_PLACES = 50;
/** Most texts that are searched in messages. */
const KEPT_TEXTS = 100;
/** Length of the shortest such text: shorter ones are also parts of other words. */
const SHORTEST_KEPT = 4;
/** The annotation in which kubectl keeps the whole object once more, as text. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Levels of JSON in texts of JSON that are read; deeper ones are redacted whole. */
const MAX_NESTED = 4;

/** Characters of YAML in texts that are read for one line: they take some ten milliseconds. Beyond, credentials are found only by their names. */
const MOST_YAML = 64 * 1024;
/** Most values of one such text, once its aliases are resolved. */
const MOST_YAML_VALUES = 20_000;

/** A place in the line. */
type Path = readonly (string | number)[];

type JsonObject = Readonly<Record<string, unknown>>;

/** Redacts one line (one instance per line). */
export class Redaction {
  /** JSON pointers to what was redacted. */
  readonly places: string[] = [];
  /** Number of further places. */
  more = 0;
  /** Whether all values so far are printed truly by `JSON.stringify`. */
  plain = true;
  readonly #credentials: Credentials;
  readonly #path: (string | number)[] = [];
  readonly #texts = new Set<string>();
  /** Whether there were more texts than are kept. */
  #moreTexts = false;
  #nested = 0;
  /** Characters of YAML in texts that may still be read. */
  #yamlLeft = MOST_YAML;
  #sawSecret = false;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  /** Whether a Secret was found so far: policies' words may quote it, in whatever form. */
  get sawSecret(): boolean {
    return this.#sawSecret;
  }

  /**
   * The redacted value at a place in the line.
   * @param isSecret whether it is a Secret, even if it does not say so itself
   */
  member(path: Path, value: unknown, isSecret = false): unknown {
    if (isSecret) this.#sawSecret = true;
    return this.#under(path, () => this.#value(value, isSecret));
  }

  /** A policy's words: without credentials, and without texts that were redacted elsewhere. */
  words(path: Path, text: string): string {
    return this.#under(path, () => {
      if (text !== "" && (this.#moreTexts || this.#credentials.isText(text))) return this.#redacted(REDACTED);
      let shown = this.#credentials.without(text, REDACTED, () => {});
      // One may be the beginning of another.
      const secrets = [...this.#texts].sort((a, b) => b.length - a.length);
      for (const secret of secrets) shown = shown.replaceAll(secret, REDACTED);
      return shown === text ? text : this.#redacted(shown);
    });
  }

  /** The requester: an authenticator's additions (`extra`) may be anything. */
  userInfo(path: Path, user: unknown): unknown {
    return this.#under(path, () => {
      if (!isJsonObject(user)) return user;
      const { extra } = user;
      return extra === undefined ? user : { ...user, extra: this.#at("extra", () => this.#all(extra, REDACTED)) };
    });
  }

  /**
   * The operations of a JSON Patch: the path names the value. One that is not a valid operation is redacted whole, because its meaning is not known.
   * @param object the patched object
   */
  patch(path: Path, operations: unknown, object: unknown): unknown {
    return this.#under(path, () => {
      if (!Array.isArray(operations)) return this.#redacted(REDACTED);
      return operations.map((operation: unknown, index) => this.#at(index, () => this.#operation(operation, object)));
    });
  }

  /** Redacts a whole value. */
  whole(path: Path): string {
    return this.#under(path, () => this.#redacted(REDACTED));
  }

  #operation(operation: unknown, object: unknown): unknown {
    if (!isJsonObject(operation)) return this.#redacted(REDACTED);
    if (operation.value === undefined) return operation;
    const { path, value } = operation;
    const keys = typeof path === "string" ? path.split("/").slice(1).map(unescaped) : [];
    // An item of a list has the name of the list.
    const key = keys.findLast((each) => !/^(?:\d+|-)$/.test(each)) ?? "";
    const beside = key === "value" ? nameAt(object, keys.slice(0, -1)) : undefined;
    return { ...operation, value: this.#at("value", () => this.#patched(beside ?? key, value)) };
  }

  #patched(key: string, value: unknown): unknown {
    return key === LAST_APPLIED && typeof value === "string" ? this.#redacted(REDACTED) : this.#named(key, value);
  }

  #at<T>(key: string | number, run: () => T): T {
    this.#path.push(key);
    const result = run();
    this.#path.pop();
    return result;
  }

  #under<T>(path: Path, run: () => T): T {
    const before = this.#path.length;
    this.#path.push(...path);
    const result = run();
    this.#path.length = before;
    return result;
  }

  #redacted<T>(replacement: T): T {
    if (this.places.length < NAMED_PLACES) {
      let pointer = "";
      for (const key of this.#path) pointer += `/${typeof key === "number" ? key : escaped(key)}`;
      this.places.push(pointer);
    } else this.more += 1;
    return replacement;
  }

  #value(value: unknown, isSecret = false): unknown {
    if (typeof value === "string") return this.#string(value);
    if (Array.isArray(value)) return this.#list(value, isSecret);
    if (isJsonObject(value)) return this.#object(value, isSecret);
    if (typeof value === "bigint" || value instanceof Number) this.plain = false;
    return value;
  }

  /** A text that may be a credential, or contain some: configuration files, commands, JSON. */
  #string(text: string): string {
    if (this.#credentials.isText(text)) return this.#text(text, REDACTED);
    const opens = /^\s{0,20}[[{]/.test(text);
    const json = opens ? this.#json(text) : undefined;
    const inside = json ?? (opens || text.includes("\n") ? this.#yaml(text) : undefined);
    if (inside !== undefined) return inside;
    const shown = this.#credentials.without(text, REDACTED, this.#keep);
    return shown === text ? text : this.#redacted(shown);
  }

  /** A text of JSON without its credentials; undefined where it is not JSON, or has none: a repeated key may hide one. */
  #json(text: string): string | undefined {
    if (this.#nested === MAX_NESTED) return this.#redacted(REDACTED);
    let value: unknown;
    try {
      value = parseJson(text);
    } catch {
      return undefined;
    }
    const shown = this.#inside(value);
    return shown === value ? undefined : this.#redacted(stringifyJson(shown));
  }

  /**
   * A text of YAML with a credential, written anew without it; undefined where it is not YAML, or has no credential that is only found by reading it: its notation
   * makes no difference. JSON that was not handled before is YAML, too.
   */
  #yaml(text: string): string | undefined {
    if (text.length > this.#yamlLeft || !this.#credentials.mayName(text)) return undefined;
    this.#yamlLeft -= text.length;
    const { documents, error } = readYamlValues(text, { mostValues: MOST_YAML_VALUES });
    if (error !== undefined || !documents.some((document) => isJsonObject(document) || Array.isArray(document)))
      return undefined;
    if (this.#nested === MAX_NESTED) return this.#redacted(REDACTED);
    const shown = documents.map((document) => this.#inside(document));
    if (shown.every((document, index) => document === documents[index])) return undefined;
    const written = shown.map(printYaml).join("---\n");
    return this.#redacted(text.endsWith("\n") ? written : written.trimEnd());
  }

  /** The value of a text, without credentials. Places inside of a text are not places in the line. */
  #inside(value: unknown): unknown {
    const [named, more, plain] = [this.places.length, this.more, this.plain];
    this.#nested += 1;
    const shown = this.#value(value);
    this.#nested -= 1;
    this.places.length = named;
    this.more = more;
    this.plain = plain;
    return shown;
  }

  #text(text: string, replacement: string): string {
    if (text === "") return text;
    this.#keep(text);
    return this.#redacted(replacement);
  }

  readonly #keep = (text: string): void => {
    // A policy may quote one of several lines.
    if (text.includes("\n")) for (const line of text.split("\n")) this.#keep(line.trim());
    if (text.length < SHORTEST_KEPT || this.#texts.has(text)) return;
    if (this.#texts.size < KEPT_TEXTS) this.#texts.add(text);
    else this.#moreTexts = true;
  };

  #list(list: readonly unknown[], isSecret: boolean): readonly unknown[] {
    let copy: unknown[] | undefined;
    let flagged = false;
    for (const [index, item] of list.entries()) {
      this.#path.push(index);
      const shown = typeof item === "string" ? this.#argument(item, flagged) : this.#value(item, isSecret);
      this.#path.pop();
      flagged = typeof item === "string" && FLAG.test(item) && this.#credentials.isName(item);
      if (shown === item) continue;
      copy ??= [...list];
      copy[index] = shown;
    }
    return copy ?? list;
  }

  /** `--password=x`, or `x` behind `--password`. */
  #argument(text: string, flagged: boolean): unknown {
    if (flagged) return this.#text(text, REDACTED);
    const equals = text.startsWith("-") ? text.indexOf("=") : -1;
    if (equals < 0 || !this.#credentials.isName(text.slice(0, equals))) return this.#value(text);
    this.#text(text.slice(equals + 1), REDACTED);
    return `${text.slice(0, equals + 1)}${REDACTED}`;
  }

  #object(object: JsonObject, inherited: boolean): JsonObject {
    const { kind, name } = object;
    const isSecret = kind === "Secret" || (inherited && kind === undefined);
    if (isSecret) this.#sawSecret = true;
    const named = typeof name === "string" ? name : object.key;
    const namesValue = typeof named === "string" && this.#credentials.isName(named);
    let copy: Record<string, unknown> | undefined;
    for (const key of Object.keys(object)) {
      const value = object[key];
      this.#path.push(key);
      let shown: unknown;
      if (isSecret && key === "data") shown = this.#all(value, REDACTED_BASE64);
      else if (isSecret && key === "stringData") shown = this.#all(value, REDACTED);
      else if (key === "items" && kind === "SecretList") shown = this.#value(value, true);
      else if (key === "value" && namesValue) shown = this.#named(named, value);
      else if (key === LAST_APPLIED && typeof value === "string") shown = this.#redacted(REDACTED);
      else shown = this.#named(key, value);
      this.#path.pop();
      if (shown === value) continue;
      copy ??= { ...object };
      // Keys are data, and this one would set the prototype.
      if (key === "__proto__") Object.defineProperty(copy, key, { value: shown, enumerable: true });
      else copy[key] = shown;
    }
    return copy ?? object;
  }

  /** Redacts texts and numbers under the name of a credential, also in a list; an object under such a name says where it is kept. */
  #named(key: string, value: unknown): unknown {
    const isSimple = typeof value === "string" || isNumber(value) || Array.isArray(value);
    if (!isSimple || !this.#credentials.isName(key)) return this.#value(value);
    if (!Array.isArray(value)) return this.#all(value, REDACTED);
    return value.map((item: unknown, index) =>
      this.#at(index, () => (isJsonObject(item) ? this.#value(item) : this.#all(item, REDACTED))),
    );
  }

  /** Redacts all texts and numbers of a value. */
  #all(value: unknown, replacement: string): unknown {
    if (typeof value === "string") return this.#text(value, replacement);
    if (isNumber(value)) {
      this.#keep(String(value));
      return this.#redacted(0);
    }
    if (Array.isArray(value)) return value.map((item: unknown, i) => this.#at(i, () => this.#all(item, replacement)));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, this.#at(key, () => this.#all(item, replacement))]),
    );
  }
}

/** A flag without a value. */
const FLAG = /^--?[\w.-]{1,100}$/;

const isNumber = (value: unknown): boolean =>
  typeof value === "number" || typeof value === "bigint" || value instanceof Number;

const unescaped = (part: string): string => part.replaceAll("~1", "/").replaceAll("~0", "~");

/** The name of the value at a place; `password` where it is not known: it may be one. */
function nameAt(object: unknown, keys: readonly string[]): string {
  let found = object;
  for (const key of keys) {
    const inside = Array.isArray(found) || isJsonObject(found) ? (found as JsonObject) : {};
    found = Object.hasOwn(inside, key) ? inside[key] : undefined;
  }
  return isJsonObject(found) && typeof found.name === "string" ? found.name : "password";
}

/** A part of a JSON pointer. */
const escaped = (key: string): string =>
  key.includes("/") || key.includes("~") ? key.replaceAll("~", "~0").replaceAll("/", "~1") : key;
