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
  /** The documents that some reader has read. */
  readonly read: number;
  readonly others: number;
}

/** Converts documents of any mixture. */
export function convert(documents: readonly SourceDocument[], options: ConversionOptions): WholeConversion {
  const single = opened(documents);
  const policies: Conversion["policies"][number][] = [];
  const problems: Conversion["problems"][number][] = [];
  let read = 0;
  for (const reader of READERS) {
    const own = single.filter((document) => {
      const { group, kind } = identityOf(document);
      return reader.reads(group, kind);
    });
    read += own.length;
    const made = reader.convert(own, options);
    policies.push(...made.policies);
    problems.push(...made.problems);
  }
  return { policies, problems, read, others: single.length - read };
}
