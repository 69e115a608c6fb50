/** Adds an entry to a policies.yaml as text, so that comments and order are kept. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Config, formatProblem, parseConfig } from "../../config/index.js";
import { UsageError } from "../../data/command-io.js";
import { errorText } from "../../data/error-text.js";
import { yamlText } from "../../data/yaml.js";

/** File names of the configuration, in the order of the search. */
const NAMES = ["policies.yaml", "policies.yml"] as const;

const HEADING = `# The policies that policy-server serves, a map from id to policy. A policy is one of module (WASM), resource (YAML documents), cel, and expression
# (a group of others); docs/configuration.md has all keys.
`;

/** A policies.yaml of a folder. */
export interface PoliciesFile {
  /** The name below the folder. */
  readonly name: string;
  /** The text; absent: there is no file yet. */
  readonly text?: string;
}

/**
 * The file of a folder.
 * @throws UsageError when it can't be read
 */
export async function policiesOf(folder: string): Promise<PoliciesFile> {
  for (const name of NAMES) {
    const file = join(folder, name);
    try {
      return { name, text: yamlText(await readFile(file)) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT")
        throw new UsageError(`cannot read ${file}: ${errorText(error)}`);
    }
  }
  return { name: NAMES[0] };
}

/**
 * The configuration in it; an empty one without a file.
 * @throws UsageError when nothing of it can be used
 */
export function configOf(file: PoliciesFile, folder: string): Config {
  const path = join(folder, file.name);
  if (file.text === undefined || isBare(file.text)) return { file: path, entries: [], files: [] };
  const read = parseConfig(file.text, path);
  if (read.ok) return read.config;
  throw new UsageError(`${read.problems.map(formatProblem).join("\n")}\nmend ${path} first: nothing was made`);
}

/**
 * The text with an entry after the others.
 * @throws UsageError when it has one with that id, or can't be added to
 */
export function withEntry(
  file: PoliciesFile,
  folder: string,
  entry: { readonly id: string; readonly text: string },
): string {
  const before = configOf(file, folder);
  const path = join(folder, file.name);
  const known = before.entries.find(({ id }) => id === entry.id);
  if (known !== undefined) {
    const place = known.kind === "invalid" ? known.problems[0] : known.origin.positionOf([]);
    const where = place === undefined ? path : `${path}:${place.line}:${place.column}`;
    throw new UsageError(`${where}: there is a policy '${entry.id}' already: choose another name, or remove it first`);
  }
  const text = added(file.text, entry.text);
  const after = parseConfig(text, path);
  const ids = after.ok ? after.config.entries.map(({ id }) => id) : [];
  const expected = [...before.entries.map(({ id }) => id), entry.id];
  if (ids.length === expected.length && ids.every((id, index) => id === expected[index])) return text;
  throw new UsageError(
    `nothing can be added behind what stands in ${path}, so nothing was made: write it in block style, with each id at the start of a line`,
  );
}

/** Whether a text has only comments. */
const isBare = (text: string): boolean => text.split("\n").every((line) => line.trim() === "" || /^\s*#/.test(line));

function added(text: string | undefined, entry: string): string {
  // A file of comments, or an empty map; and the end marker of a document.
  const bare = (text ?? "").replace(/\n\.\.\.\s*$/, "\n").replace(/^\{\s*\}[ \t]*(#.*)?$/m, "$1");
  const start = text === undefined ? HEADING : bare.trim() === "" ? "" : bare.replace(/\s*$/, "\n");
  const whole = start === "" ? entry : `${start}\n${entry}`;
  return text?.includes("\r\n") === true ? whole.replaceAll(/\r?\n/g, "\r\n") : whole;
}
