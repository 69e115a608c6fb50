import { readYamlStream, warningText, yamlText, yamlWarnings } from "../../data/yaml.js";
import { beginningOf, type InputFile } from "./input-files.js";

/**
 * Warnings about a JSON file, with their places. Its resources are parsed one by one, without places; so it is parsed as a whole once more if there
 * are warnings.
 */
export async function jsonDoubts(file: InputFile): Promise<readonly string[]> {
  const text = yamlText(await beginningOf(file));
  return yamlWarnings(text, readYamlStream(text).documents).map((doubt) => warningText(doubt, file.name));
}
