/** Reads CustomResourceDefinitions from files and folders. */
import { readFile, stat } from "node:fs/promises";
import { manifestFiles } from "../../data/manifest-files.js";
import { parseSuspectYaml, warningText, yamlText } from "../../data/yaml.js";
import { isObject, type JsonObject, text } from "../../kubernetes/object.js";
import { reasonOf } from "./input-files.js";
import { ScanError } from "./scan-error.js";

/**
 * The definitions in files, and in the manifests of folders.
 * @param warn receives warnings about them, with the place
 * @throws ScanError for unreadable files, and for a path without a definition
 */
export async function readDefinitions(paths: readonly string[], warn: (line: string) => void): Promise<JsonObject[]> {
  const definitions: JsonObject[] = [];
  for (const path of paths) {
    if (path.trim() === "") continue;
    const before = definitions.length;
    try {
      const files = (await stat(path)).isDirectory() ? manifestFiles(path) : [path];
      for (const file of files) {
        const written = yamlText(await readFile(file));
        for (const document of parseSuspectYaml(written, (doubt) => warn(warningText(doubt, file)))) {
          if (isObject(document) && text(document, "kind") === "CustomResourceDefinition") definitions.push(document);
        }
      }
    } catch (error) {
      throw new ScanError(`failed to load CRDs from ${path} (${reasonOf(error as NodeJS.ErrnoException)})`, {
        cause: error,
      });
    }
    if (definitions.length === before) throw new ScanError(`${path} holds no CustomResourceDefinition`);
  }
  return definitions;
}
