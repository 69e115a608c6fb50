/** Files with manifests in folders. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** The file name endings that `kubectl` takes from folders. */
export const MANIFESTS = /\.(?:ya?ml|json)$/;

/** Most files of one folder and the folders below it: more are a wrong folder, such as `/`. */
export const MAX_FOLDER_FILES = 100_000;

/**
 * The files of a folder and of all folders below it, hidden ones too, in order of their names, as `kubectl -R -f` reads them (cli-runtime 0.37.2,
 * resource/visitor.go): links to files are read, links to folders are not followed.
 * @param names the names of files to take
 * @param passesOver whether to leave out the folders of a name
 * @throws the file system's error for an unreadable folder; RangeError beyond `MAX_FOLDER_FILES`
 */
export function manifestFiles(
  folder: string,
  names: RegExp = MANIFESTS,
  passesOver: (folder: string) => boolean = () => false,
): readonly string[] {
  const found: string[] = [];
  collect(folder, names, passesOver, found);
  return found;
}

function collect(folder: string, names: RegExp, passesOver: (folder: string) => boolean, found: string[]): void {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((left, right) => (left.name < right.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!passesOver(entry.name)) collect(path, names, passesOver, found);
    } else if (names.test(entry.name)) {
      found.push(path);
      if (found.length > MAX_FOLDER_FILES) {
        throw new RangeError(`more than ${MAX_FOLDER_FILES} files below one folder: name a smaller one`);
      }
    }
  }
}
