/** Converts policies of other programs into those that are served here. */
import { identityOf, opened } from "../../config/documents/documents.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import type { Conversion, Reader } from "./conversion.js";
import { gatekeeper } from "./gatekeeper/reader.js";

export { buildsOf, filesOf, printed, type Target } from "./output.js";

/** All readers: no kind of documents belongs to two. */
const READERS: readonly Reader[] = [gatekeeper];

/** A conversion, with the number of documents that no reader reads. */
export interface WholeConversion extends Conversion {
  readonly others: number;
}

/** Converts documents of any mixture. */
export function convert(documents: readonly SourceDocument[], hasFolder: boolean): WholeConversion {
  const single = opened(documents);
  const shares = READERS.map((reader) => single.filter((document) => reader.reads(identityOf(document))));
  const made = READERS.map((reader, index) => reader.convert(shares[index] ?? [], hasFolder));
  return {
    policies: made.flatMap(({ policies }) => policies),
    problems: made.flatMap(({ problems }) => problems),
    others: single.length - shares.flat().length,
  };
}
