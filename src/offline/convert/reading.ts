/** Reads the members of a document with their places. */
import { formatPath, type Path, type Problem } from "../../config/documents/problem.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import { didYouMean } from "../../data/suggest.js";
import { isObject, type JsonObject, member } from "../../kubernetes/object.js";

/** One document, and the problems found in it so far. Values that are absent or null are undefined. */
export class Reading {
  readonly problems: Problem[] = [];
  /** Places of values of the wrong type. */
  readonly #mistyped = new Set<string>();

  constructor(readonly document: SourceDocument) {}

  /** Whether something of it can't be converted. */
  get failed(): boolean {
    return this.problems.some(({ severity }) => severity === "error");
  }

  /** Says why something can't be converted: once, and of a value of the wrong type nothing else. */
  error(path: Path, message: string): void {
    const place = formatPath(path);
    const isSaid = this.problems.some((known) => formatPath(known.path) === place && known.message === message);
    if (!isSaid && !this.#mistyped.has(place)) this.problems.push(this.document.problem("error", path, message));
  }

  #mistype(path: Path, wanted: string): void {
    this.error(path, `expected ${wanted}`);
    this.#mistyped.add(formatPath(path));
  }

  /** Says that something is converted in another way than might be expected. */
  note(path: Path, message: string): void {
    this.problems.push(this.document.problem("warning", path, message));
  }

  at(path: Path): unknown {
    let value: unknown = this.document.value;
    for (const part of path) value = Array.isArray(value) ? value[Number(part)] : member(value, String(part));
    return value;
  }

  text(path: Path): string | undefined {
    return this.#as(path, "a text", (value) => typeof value === "string");
  }

  /** A text that is one of few; absent: "". */
  oneOf(path: Path, words: readonly string[]): string {
    const found = this.text(path) ?? "";
    if (found !== "" && !words.includes(found))
      this.error(path, `expected one of ${words.join(", ")}${didYouMean(found, words)}`);
    return found;
  }

  map(path: Path): JsonObject | undefined {
    return this.#as(path, "a map", isObject);
  }

  /** A list; absent: empty. */
  list(path: Path): readonly unknown[] {
    return this.#as(path, "a list", (value): value is readonly unknown[] => Array.isArray(value)) ?? [];
  }

  texts(path: Path): readonly string[] {
    return this.list(path).map((value, index) => {
      if (typeof value !== "string") this.#mistype([...path, index], "a text");
      return String(value);
    });
  }

  /** A map whose members a cluster knows: an error for each other one. */
  onlyKnown(path: Path, known: readonly string[]): void {
    for (const key of Object.keys(this.map(path) ?? {}))
      if (!known.includes(key))
        this.error([...path, key], `unknown field, which a cluster refuses${didYouMean(key, known)}`);
  }

  #as<T>(path: Path, wanted: string, is: (value: unknown) => value is T): T | undefined {
    const value = this.at(path) ?? undefined;
    if (value === undefined || is(value)) return value;
    this.#mistype(path, wanted);
    return undefined;
  }
}
