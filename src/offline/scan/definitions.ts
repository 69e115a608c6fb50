/** Reads CustomResourceDefinitions from files and folders. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseSuspectYaml, warningText, yamlText } from "../../data/yaml.js";
import { isObject, type JsonObject, text } from "../../kubernetes/object.js";
import { reasonOf } from "./input-files.js";
import { ScanError } from "./scan-error.js";

/**
 * The definitions in files, and in the YAML files of folders.
 * @param warn receives warnings about them, with the place
 * @throws ScanError for unreadable files
 */
export async function readDefinitions(paths: readonly string[], warn: (line: string) => void): Promise<JsonObject[]> {
  const definitions: JsonObject[] = [];
  for (const path of paths) {
    if (path.trim() === "") continue;
    try {
      const folder = (await stat(path)).isDirectory();
      const names = folder ? (await readdir(path)).filter((name) => /\.ya?ml$/.test(name)).sort() : [""];
      for (const name of names) {
        const file = join(path, name);
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
  }
  return definitions;
}
