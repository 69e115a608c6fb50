/** Reads the members of a document with their places. */
import type { Path, Problem } from "../../config/documents/problem.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import { didYouMean } from "../../data/suggest.js";
import { isObject, type JsonObject, member } from "../../kubernetes/object.js";

/** One document, and the problems found in it so far. */
export class Reading {
  readonly problems: Problem[] = [];

  constructor(readonly document: SourceDocument) {}

  /** Whether something of it can't be converted. */
  get failed(): boolean {
    return this.problems.some(({ severity }) => severity === "error");
  }

  /** Says that something can't be converted, and why. */
  error(path: Path, message: string): void {
    this.problems.push(this.document.problem("error", path, message));
  }

  /** Says that something is converted in another way than might be expected. */
  note(path: Path, message: string): void {
    this.problems.push(this.document.problem("warning", path, message));
  }

  /** The value at a path; absent: undefined. */
  at(path: Path): unknown {
    let value: unknown = this.document.value;
    for (const part of path)
      value = typeof part === "number" ? (Array.isArray(value) ? value[part] : undefined) : member(value, part);
    return value;
  }

  /** A text; absent, null or of another type: undefined. */
  text(path: Path): string | undefined {
    return this.#as(path, "a text", (value): value is string => typeof value === "string");
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

  list(path: Path): readonly unknown[] | undefined {
    return this.#as(path, "a list", (value): value is readonly unknown[] => Array.isArray(value));
  }

  /** A list of texts. */
  texts(path: Path): readonly string[] | undefined {
    return this.list(path)?.map((_, index) => {
      const found = this.text([...path, index]);
      if (found === undefined) this.#wrong([...path, index], "a text");
      return found ?? "";
    });
  }

  /** Says of each member of a map that is not among the known ones that a cluster refuses it. */
  onlyKnown(path: Path, known: readonly string[]): void {
    for (const key of Object.keys(this.map(path) ?? {}))
      if (!known.includes(key)) {
        const place = this.document.keySpanOf([...path, key]);
        const message = `unknown field, which a cluster refuses${didYouMean(key, known)}`;
        this.problems.push({ severity: "error", path: [...path, key], message, ...place });
      }
  }

  #as<T>(path: Path, wanted: string, is: (value: unknown) => value is T): T | undefined {
    const value = this.at(path);
    if (value === undefined || value === null) return undefined;
    if (is(value)) return value;
    this.#wrong(path, wanted);
    return undefined;
  }

  #wrong(path: Path, wanted: string): void {
    if (!this.problems.some((problem) => problem.path === path || String(problem.path) === String(path)))
      this.error(path, `expected ${wanted}`);
  }
}
