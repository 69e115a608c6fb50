/** Warnings about YAML that Kubernetes accepts without a message, though it is probably unintended. */
import { HELM_TEMPLATE, helmTemplateAt, taggedReason } from "./hints.js";
import { Lines } from "./lines.js";
import type { YamlDocument } from "./stream.js";
import { YamlError } from "./yaml-error.js";

/** The warning about a repeated key in a map, of which the last one counts. */
export const REPEATED_KEY = "duplicate key: the same key stands above in this map";

/** The warning about text behind `...`, for example. */
export const UNREAD = "what stands here is not read: the document ends before it; put --- between documents";

/** Most warnings about one text: a reader of these will find the others, and a text may have as many as it has lines. */
export const MOST_DOUBTS = 100;

/** A warning at a UTF-16 offset. */
interface Warning {
  readonly offset: number;
  readonly message: string;
}

/** The first {@link MOST_DOUBTS}; where there are more, the next place has one with their number. */
export function mostDoubts<T extends Warning>(doubts: readonly T[]): readonly T[] {
  const next = doubts[MOST_DOUBTS];
  if (next === undefined) return doubts;
  const message = `${doubts.length - MOST_DOUBTS} more such warnings from here on are not shown`;
  return [...doubts.slice(0, MOST_DOUBTS), { ...next, message }];
}

/** Repeated keys in maps, and text that is not read, in the documents of a text, with their places; not all of very many. */
export function yamlDoubts(text: string, documents: readonly YamlDocument[]): readonly YamlError[] {
  const template = helmTemplateAt(text);
  const warnings = documents.flatMap(({ repeatedKeys, tagged, unread }) => [
    ...repeatedKeys.map(({ offset }) => ({ offset, message: REPEATED_KEY })),
    ...tagged.map(({ offset, meant }) => ({ offset, message: taggedReason(meant) })),
    ...(unread === undefined ? [] : [{ offset: unread, message: UNREAD }]),
  ]);
  if (template !== undefined) warnings.unshift({ offset: template, message: HELM_TEMPLATE });
  if (warnings.length === 0) return [];
  const lines = new Lines(text);
  return mostDoubts(warnings).map(({ offset, message }) => {
    const { line, column } = lines.place(offset);
    return new YamlError(message, line, column);
  });
}

/** `file:3:5: what`, for a file in which the text begins with a certain line. */
export const doubtText = ({ line, column, reason, hint }: YamlError, file: string, firstLine = 1): string =>
  `${file}:${line + firstLine - 1}:${column}: ${reason}${hint === undefined ? "" : ` (${hint})`}`;
