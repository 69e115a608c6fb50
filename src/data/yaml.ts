/**
 * YAML as Kubernetes reads it, which makes JSON of it: documents of values in the number model (see `json.ts`), or trees that know their places. The reader
 * is in `yaml/`.
 */
import { readYamlStream, type YamlOptions } from "./yaml/stream.js";

export {
  YAML_MAX_DEPTH,
  type YamlAlias,
  type YamlList,
  type YamlMap,
  type YamlNode,
  type YamlPair,
  type YamlScalar,
} from "./yaml/node.js";
export {
  readYamlDocument,
  readYamlStream,
  readYamlTrees,
  type YamlDocument,
  type YamlOptions,
  type YamlStream,
  type YamlTree,
} from "./yaml/stream.js";
export { type RepeatedKey, YAML_MAX_VALUES } from "./yaml/values.js";
export { placeOf, YamlError } from "./yaml/yaml-error.js";

/**
 * The values of all documents of a text. Documents of nothing are left out; of a key that stands twice in a map the last one counts.
 * @throws YamlError for the first document that can't be read
 */
export function parseYamlDocuments(text: string, options?: YamlOptions): unknown[] {
  const { documents, error } = readYamlStream(text, options);
  if (error !== undefined) throw error;
  return documents.map(({ value }) => value);
}
