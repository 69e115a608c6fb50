import type { Path, Problem } from "../documents/problem.js";
import type { SourceDocument } from "../documents/source-document.js";

/** Most problems reported for one file: a person reads the first ones. */
const MAX_PROBLEMS = 200;
/** Beyond so many problems no warning takes the place of an error. */
const MAX_WARNINGS = 100;

/** Collects the problems of one file while it is read. */
export class ProblemSink {
  readonly #document: SourceDocument;

  readonly #collected: Problem[] = [];
  #errors = 0;

  /** @param policy the id of the entry that is read, for messages that name it */
  constructor(
    document: SourceDocument,
    readonly policy = "",
  ) {
    this.#document = document;
  }

  /** Everything noted so far, at most {@link MAX_PROBLEMS}. */
  get problems(): readonly Problem[] {
    return this.#collected;
  }

  /** How many errors there were, those beyond the bound included: a reader compares it before and after. */
  get errorCount(): number {
    return this.#errors;
  }

  /** An error at the value at `path`. */
  error(path: Path, message: string): void {
    this.addError({ severity: "error", path, message, ...this.#document.positionOf(path) });
  }

  /** An error at the key that `path` ends with. */
  keyError(path: Path, message: string): void {
    this.addError({ severity: "error", path, message, ...this.#document.keyPositionOf(path) });
  }

  /** A doubt at the key that `path` ends with. */
  keyWarning(path: Path, message: string): void {
    this.add({ severity: "warning", path, message, ...this.#document.keyPositionOf(path) });
  }

  /** A doubt at the value at `path`. */
  warning(path: Path, message: string): void {
    this.add({ severity: "warning", path, message, ...this.#document.positionOf(path) });
  }

  /** An error found elsewhere. */
  addError(problem: Problem): void {
    this.#errors++;
    this.add(problem);
  }

  /** A problem found elsewhere that is no error. */
  add(problem: Problem): void {
    const most = problem.severity === "error" ? MAX_PROBLEMS : MAX_WARNINGS;
    if (this.#collected.length < most) this.#collected.push(problem);
  }
}
