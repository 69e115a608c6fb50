import { readYamlStream, warningText, yamlText, yamlWarnings } from "../../data/yaml.js";
import type { InputFile } from "./input-files.js";

/** What is doubtful in a file of JSON, with its places. Its resources are read without them, one by one; so it is read once more, whole, where there is something. */
export async function jsonDoubts(file: InputFile): Promise<readonly string[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of file.read()) chunks.push(Buffer.from(chunk));
  const text = yamlText(Buffer.concat(chunks));
  return yamlWarnings(text, readYamlStream(text).documents).map((doubt) => warningText(doubt, file.name));
}
