/** Documents that policies are loaded from, and what is wrong with them. */
import type { FieldPath } from "../kubernetes/field-error.js";

/** A place in a text. */
export interface Place {
  /** 1-based. */
  readonly line: number;
  /** 1-based, in code points. */
  readonly column: number;
}

/** A document of a file. */
export interface SourceDocument {
  /** The JSON value. */
  readonly document: unknown;
  /** The file as it is to be named in problems. */
  readonly file: string;
  /** Where the value at a path stands, or the nearest thing around it. */
  readonly position?: (path: FieldPath) => Place | undefined;
}

/** A mistake (`error`) or something doubtful (`warning`). */
export interface DocumentProblem extends Place {
  readonly severity: "error" | "warning";
  readonly file: string;
  readonly path: FieldPath;
  /** What is wrong, in the API server's words where it has some; without the path. */
  readonly message: string;
}

/** A problem at a path of a document. */
export function problemAt(
  { file, position }: SourceDocument,
  severity: DocumentProblem["severity"],
  path: FieldPath,
  message: string,
): DocumentProblem {
  return { severity, file, path, message, ...(position?.(path) ?? { line: 1, column: 1 }) };
}
