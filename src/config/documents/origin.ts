import type { Path, Position, Problem } from "./problem.js";
import type { About } from "./problem-codes.js";
import type { InnerPlace, SourceDocument } from "./source-document.js";

/** The place of an entry, so that problems found later have file, line and column, too. */
export class Origin {
  constructor(
    readonly document: SourceDocument,
    /** The path of the entry in the document. */
    readonly path: Path,
  ) {
    Object.freeze(this);
  }

  /**
   * The place of a value in this entry.
   * @param path from the entry, such as `["cel", "validations", 0, "expression"]`; may lead nowhere, then the nearest value on the way counts
   * @param inner a place inside the string there, such as a CEL error's line and column
   */
  positionOf(path: Path, inner?: InnerPlace): Position {
    return this.document.positionOf([...this.path, ...path], inner);
  }

  /** An error found later; arguments as for {@link positionOf}. */
  error(path: Path, message: string, inner?: InnerPlace, about?: About): Problem {
    return this.document.problem("error", [...this.path, ...path], message, inner, about);
  }

  /** A warning found later. */
  warning(path: Path, message: string, inner?: InnerPlace, about?: About): Problem {
    return { ...this.error(path, message, inner, about), severity: "warning" };
  }
}
