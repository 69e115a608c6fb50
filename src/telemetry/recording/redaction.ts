/**
 * Takes out of JSON what must not be written down (docs/replay.md has the list). Texts become `[redacted]`, numbers 0: types stay, so that policies can
 * still read what they read. Nothing is changed in place: what has nothing to hide is the same value.
 */
import { parseJson, stringifyJson } from "../../data/json.js";
import { printYaml } from "../../data/print-yaml.js";
import { isJsonObject } from "../../data/same-value.js";
import { readYamlValues } from "../../data/yaml.js";
import type { Credentials } from "./credentials.js";
import { REDACTED } from "./recorded-request.js";

/** The same in base64, as the data of a Secret is. */
export const REDACTED_BASE64 = Buffer.from(REDACTED).toString("base64");
/** Places that are named; the rest is counted. */
const NAMED_PLACES = 50;
/** Texts that are looked for in messages. */
const KEPT_TEXTS = 100;
/** Shorter ones stand in other words, too. */
const SHORTEST_KEPT = 4;
/** What kubectl keeps of the object: all of it once more, as text. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** JSON in texts of JSON that is read; deeper, the whole text is redacted. */
const MAX_NESTED = 4;

/** Characters of YAML in texts that are read for one line: they take some ten milliseconds. Beyond, credentials are looked for by what stands before them. */
const MOST_YAML = 64 * 1024;
/** Values of one such text, what aliases stand for among them. */
const MOST_YAML_VALUES = 20_000;

/** Where something stands in the line. */
type Path = readonly (string | number)[];

type JsonObject = Readonly<Record<string, unknown>>;

/** Of one line (one use). */
export class Redaction {
  /** JSON pointers of what was redacted. */
  readonly places: string[] = [];
  /** How many more there are. */
  more = 0;
  /** Whether nothing was seen so far that `JSON.stringify` would not print truly. */
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

  /** Whether what was seen holds a Secret: who speaks of it may quote what it saw, in whatever form. */
  get sawSecret(): boolean {
    return this.#sawSecret;
  }

  /**
   * A value that stands in the line there.
   * @param isSecret whether it is a Secret, also where it does not say so itself
   */
  member(path: Path, value: unknown, isSecret = false): unknown {
    if (isSecret) this.#sawSecret = true;
    return this.#under(path, () => this.#value(value, isSecret));
  }

  /** What a policy said: without credentials, and without what was redacted elsewhere. */
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

  /** Who asks: what an authenticator adds (`extra`) may be anything. */
  userInfo(path: Path, user: unknown): unknown {
    return this.#under(path, () => {
      if (!isJsonObject(user)) return user;
      const { extra } = user;
      return extra === undefined ? user : { ...user, extra: this.#at("extra", () => this.#all(extra, REDACTED)) };
    });
  }

  /**
   * Operations of a JSON Patch: the path names what a value is. What is none is redacted whole: nobody knows what it is.
   * @param object what is patched
   */
  patch(path: Path, operations: unknown, object: unknown): unknown {
    return this.#under(path, () => {
      if (!Array.isArray(operations)) return this.#redacted(REDACTED);
      return operations.map((operation: unknown, index) => this.#at(index, () => this.#operation(operation, object)));
    });
  }

  /** Something that is redacted whole. */
  whole(path: Path): string {
    return this.#under(path, () => this.#redacted(REDACTED));
  }

  #operation(operation: unknown, object: unknown): unknown {
    if (!isJsonObject(operation)) return this.#redacted(REDACTED);
    if (operation.value === undefined) return operation;
    const { path, value } = operation;
    const keys = typeof path === "string" ? path.split("/").slice(1).map(unescaped) : [];
    // An item of a list is called what the list is.
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

  /** A text that may be a credential, or hold some: configuration files, commands, JSON. */
  #string(text: string): string {
    if (this.#credentials.isText(text)) return this.#text(text, REDACTED);
    const opens = /^\s{0,20}[[{]/.test(text);
    const json = opens ? this.#json(text) : undefined;
    const inside = json ?? (opens || text.includes("\n") ? this.#yaml(text) : undefined);
    if (inside !== undefined) return inside;
    const shown = this.#credentials.without(text, REDACTED, this.#keep);
    return shown === text ? text : this.#redacted(shown);
  }

  /** A text that is JSON, as JSON without credentials; undefined where it is none, or has none: a key that stands twice may hide one. */
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
   * A text that is YAML, in which a credential stands, written anew without it; undefined where it is not YAML, or holds none that is only found so: in which
   * form it is written makes no difference. Those of JSON that are left are YAML, too.
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

  /** What a text stands for, without credentials. Places inside of a text are none of the line. */
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
    // Of several lines a policy may quote one.
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
      // Keys are data, and this one would be taken for the prototype.
      if (key === "__proto__") Object.defineProperty(copy, key, { value: shown, enumerable: true });
      else copy[key] = shown;
    }
    return copy ?? object;
  }

  /** Texts and numbers under the name of a credential, also in a list; an object under such a name says where it is kept. */
  #named(key: string, value: unknown): unknown {
    const isSimple = typeof value === "string" || isNumber(value) || Array.isArray(value);
    if (!isSimple || !this.#credentials.isName(key)) return this.#value(value);
    if (!Array.isArray(value)) return this.#all(value, REDACTED);
    return value.map((item: unknown, index) =>
      this.#at(index, () => (isJsonObject(item) ? this.#value(item) : this.#all(item, REDACTED))),
    );
  }

  /** All texts and numbers of a value. */
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

/** The name of what stands there; `password` where nobody knows: it may be one. */
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
