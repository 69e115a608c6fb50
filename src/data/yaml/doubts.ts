/** What Kubernetes takes without a word in YAML, though it can't be meant. */
import type { YamlDocument } from "./stream.js";
import { type YamlError, yamlErrorAt } from "./yaml-error.js";

/** Of a key that stands twice in a map the last one counts. */
export const REPEATED_KEY = "duplicate key: the same key stands above in this map";

/** What stands behind `...`, for example. */
export const UNREAD = "what stands here is not read: the document ends before it; put --- between documents";

/** Keys that stand twice in a map, and what nobody reads, of the documents of a text, with their places. */
export function yamlDoubts(text: string, documents: readonly YamlDocument[]): readonly YamlError[] {
  return documents.flatMap(({ repeatedKeys, unread }) => [
    ...repeatedKeys.map(({ offset }) => yamlErrorAt(text, offset, REPEATED_KEY)),
    ...(unread === undefined ? [] : [yamlErrorAt(text, unread, UNREAD)]),
  ]);
}

/** `file:3:5: what`, for a file in which the text begins with a certain line. */
export const doubtText = ({ line, column, reason }: YamlError, file: string, firstLine = 1): string =>
  `${file}:${line + firstLine - 1}:${column}: ${reason}`;
