/**
 * YAML as Kubernetes reads it, by converting it to JSON: documents of values in the number model (see `json.ts`), or trees with their places. The reader
 * is in `yaml/`.
 */

import { readYamlStream, readYamlValues, type YamlOptions } from "./yaml/stream.js";
import { yamlDoubts } from "./yaml/warnings.js";
import type { YamlError } from "./yaml/yaml-error.js";

export { HELM_TEMPLATE, helmTemplateAt, TEMPLATE, taggedReason } from "./yaml/hints.js";
export { Lines } from "./yaml/lines.js";
export {
  YAML_MAX_DEPTH,
  type YamlMap,
  type YamlNode,
  type YamlPair,
  type YamlScalar,
} from "./yaml/node.js";
export {
  readYamlAlone,
  readYamlDocument,
  readYamlStream,
  readYamlTrees,
  readYamlValues,
  type YamlDocument,
  type YamlOptions,
  type YamlTree,
} from "./yaml/stream.js";
export { yamlText } from "./yaml/text.js";
export {
  doubtText as warningText,
  mostDoubts as mostWarnings,
  REPEATED_KEY,
  UNREAD,
  yamlDoubts as yamlWarnings,
} from "./yaml/warnings.js";
export { YamlError } from "./yaml/yaml-error.js";

/**
 * The values of all documents of a text. Empty documents are left out; of a repeated key in a map the last one counts.
 * @throws YamlError for the first document that can't be read
 */
export function parseYamlDocuments(text: string, options?: YamlOptions): unknown[] {
  const { documents, error } = readYamlValues(text, options);
  if (error !== undefined) throw error;
  return [...documents];
}

/**
 * The same with warnings about what is probably unintended ({@link yamlWarnings}).
 * @param warn receives each, after the documents are read
 * @throws YamlError
 */
export function parseSuspectYaml(text: string, warn: (doubt: YamlError) => void, options?: YamlOptions): unknown[] {
  const { documents, error } = readYamlStream(text, options);
  if (error !== undefined) throw error;
  for (const warning of yamlDoubts(text, documents)) warn(warning);
  return documents.map(({ value }) => value);
}
