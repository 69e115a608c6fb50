/** Converts policies of other programs into those that are served here. */
import { identityOf, opened } from "../../config/documents/documents.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import type { Conversion, ConversionOptions, Reader } from "./conversion.js";
import { gatekeeper } from "./gatekeeper/reader.js";

export type { Conversion, ConversionOptions } from "./conversion.js";
export { buildsOf, filesOf, printed, TARGETS, type Target } from "./output.js";

/** All readers: no kind of documents belongs to two. */
const READERS: readonly Reader[] = [gatekeeper];

/** A conversion, with the number of documents that no reader reads. */
export interface WholeConversion extends Conversion {
  readonly others: number;
}

/** Converts documents of any mixture. */
export function convert(documents: readonly SourceDocument[], options: ConversionOptions): WholeConversion {
  const single = opened(documents);
  const shares = READERS.map((reader) => {
    const own = single.filter((document) => reader.reads(identityOf(document)));
    return { read: own.length, made: reader.convert(own, options) };
  });
  return {
    policies: shares.flatMap(({ made }) => made.policies),
    problems: shares.flatMap(({ made }) => made.problems),
    others: shares.reduce((left, { read }) => left - read, single.length),
  };
}
