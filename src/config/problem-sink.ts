import type { Path, Problem } from "./documents/problem.js";
import type { About } from "./documents/problem-codes.js";
import type { SourceDocument } from "./documents/source-document.js";
import type { MapNode } from "./documents/source-node.js";

/** Most problems reported for one file: people read only the first ones. */
const MAX_PROBLEMS = 200;
/** Number of problems beyond which no warning is kept, so that errors have room. */
const MAX_WARNINGS = 100;

/** The code of most mistakes: an invalid value. */
const VALUE = { code: "CONFIG_VALUE" } as const;

/** A record around the one that is read. */
export interface OuterRecord {
  readonly knows: (key: string) => boolean;
  readonly node: MapNode;
  /** The key in it below which the inner record stands. */
  readonly key: string;
}

/** Collects the problems of one file while it is read. */
export class ProblemSink {
  readonly #document: SourceDocument;

  readonly #collected: Problem[] = [];
  #errors = 0;
  /** The records around the one that is read, innermost last. */
  readonly outer: OuterRecord[] = [];

  /**
   * @param policy the id of the entry that is read, for messages that name it
   * @param salvages whether readers of records give the valid keys beside invalid ones. A caller with it checks {@link errorCount}, and serves nothing that has
   * errors.
   */
  constructor(
    document: SourceDocument,
    readonly policy = "",
    readonly salvages = false,
  ) {
    this.#document = document;
  }

  /** All problems so far, at most {@link MAX_PROBLEMS}. */
  get problems(): readonly Problem[] {
    return this.#collected;
  }

  /** Number of errors, including those beyond the limit: a reader compares it before and after. */
  get errorCount(): number {
    return this.#errors;
  }

  /** An error at the value at `path`; by default about the value. */
  error(path: Path, message: string, about?: About): void {
    this.addError({ severity: "error", path, message, ...VALUE, ...about, ...this.#document.spanOf(path) });
  }

  /** An error at the key that `path` ends with. */
  keyError(path: Path, message: string, about?: About): void {
    this.addError({ severity: "error", path, message, ...VALUE, ...about, ...this.#document.keySpanOf(path) });
  }

  /** A warning at the key that `path` ends with. */
  keyWarning(path: Path, message: string, about?: About): void {
    this.add({ severity: "warning", path, message, ...VALUE, ...about, ...this.#document.keySpanOf(path) });
  }

  /** A warning at the value at `path`. */
  warning(path: Path, message: string, about?: About): void {
    this.add({ severity: "warning", path, message, ...VALUE, ...about, ...this.#document.spanOf(path) });
  }

  /** An error found elsewhere. */
  addError(problem: Problem): void {
    this.#errors++;
    this.add(problem);
  }

  /** A warning found elsewhere. */
  add(problem: Problem): void {
    const most = problem.severity === "error" ? MAX_PROBLEMS : MAX_WARNINGS;
    if (this.#collected.length < most) this.#collected.push(problem);
  }
}
