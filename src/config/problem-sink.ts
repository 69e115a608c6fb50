import type { Path, Problem } from "./documents/problem.js";
import type { About } from "./documents/problem-codes.js";
import type { SourceDocument } from "./documents/source-document.js";

/** Most problems reported for one file: a person reads the first ones. */
const MAX_PROBLEMS = 200;
/** Beyond so many problems no warning takes the place of an error. */
const MAX_WARNINGS = 100;

/** What most mistakes are about: a value that can't be. */
const VALUE = { code: "CONFIG_VALUE" } as const;

/** Collects the problems of one file while it is read. */
export class ProblemSink {
  readonly #document: SourceDocument;

  readonly #collected: Problem[] = [];
  #errors = 0;

  /**
   * @param policy the id of the entry that is read, for messages that name it
   * @param salvages whether readers of records give the keys that are right beside those that are wrong. Who reads so looks at {@link errorCount}, and serves nothing that has errors.
   */
  constructor(
    document: SourceDocument,
    readonly policy = "",
    readonly salvages = false,
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

  /** An error at the value at `path`; unless said otherwise, about what it is. */
  error(path: Path, message: string, about?: About): void {
    this.addError({ severity: "error", path, message, ...VALUE, ...about, ...this.#document.spanOf(path) });
  }

  /** An error at the key that `path` ends with. */
  keyError(path: Path, message: string, about?: About): void {
    this.addError({ severity: "error", path, message, ...VALUE, ...about, ...this.#document.keySpanOf(path) });
  }

  /** A doubt at the key that `path` ends with. */
  keyWarning(path: Path, message: string, about?: About): void {
    this.add({ severity: "warning", path, message, ...VALUE, ...about, ...this.#document.keySpanOf(path) });
  }

  /** A doubt at the value at `path`. */
  warning(path: Path, message: string, about?: About): void {
    this.add({ severity: "warning", path, message, ...VALUE, ...about, ...this.#document.spanOf(path) });
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
