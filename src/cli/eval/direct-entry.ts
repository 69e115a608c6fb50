/** Modules, YAML files and addresses on the command line: entries of a configuration in memory. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { type ConfigResult, parseConfig } from "../../config/index.js";
import { UsageError } from "../../data/command-io.js";
import { stringifyJson } from "../../data/json.js";
import { parseYamlDocuments, YamlError, yamlText } from "../../data/yaml.js";

/** Options of such entries. */
export interface EntryOptions {
  /** A file of YAML or JSON, or that text itself. */
  readonly settings?: string;
  readonly allowedToMutate?: boolean;
  readonly executionMode?: string;
}

/** The name of the configuration in memory, for messages; relative paths start in the working directory. */
const IN_MEMORY = "<command line>";

const FILES = /\.(?:wasm|ya?ml|json|toml)$/;
const ADDRESS = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//;
const PATH = /^\.{0,2}\//;

/**
 * Whether a text names a policy directly: an existing file, or an address.
 * @throws UsageError for a missing file
 */
export function isDirect(text: string): boolean {
  if (ADDRESS.test(text)) return true;
  // Only members' ids have a slash, in the middle.
  if (!FILES.test(text) && !PATH.test(text)) return false;
  if (existsSync(text)) return true;
  throw new UsageError(`cannot read ${text}: there is no such file`);
}

/** @throws UsageError for options of direct entries */
export function refuseEntryOptions({ settings, allowedToMutate, executionMode }: EntryOptions): void {
  const given = [
    ...(settings === undefined ? [] : ["--settings"]),
    ...(allowedToMutate === true ? ["--allowed-to-mutate"] : []),
    ...(executionMode === undefined ? [] : ["--execution-mode"]),
  ].join(", ");
  if (given !== "")
    throw new UsageError(
      `${given}: only for a file that is named itself, such as ./policy.wasm; a policies.yaml says it`,
    );
}

/** A configuration with an entry for each, and their ids, by argument. */
export function directEntries(
  texts: readonly string[],
  options: EntryOptions,
): { readonly config: ConfigResult; readonly ids: ReadonlyMap<string, string> } {
  const entries: Record<string, object> = Object.create(null) as Record<string, object>;
  const ids = new Map<string, string>();
  for (const text of new Set(texts)) {
    const id = freeId(idOf(text), entries);
    entries[id] = entryOf(text, options);
    ids.set(text, id);
  }
  const config = parseConfig(stringifyJson({ ...entries }), IN_MEMORY);
  return { config, ids };
}

/** A problem as a line, without its place in the configuration in memory, which the user does not see. */
export const withoutMadePlace = (line: string): string =>
  line.startsWith(`${IN_MEMORY}:`) ? line.slice(IN_MEMORY.length).replace(/^:\d+:\d+: /, "") : line;

/** File names without a policy's name, which the folder has then. */
const COMMON_NAMES: ReadonlySet<string> = new Set(["", ".", "..", "policy", "module", "plugin", "annotated-policy"]);

/** `replica-limit.yaml` and `replica-limit/policy.wasm`: replica-limit; for an address its last part, without tag and digest. */
function idOf(text: string): string {
  const isAddress = ADDRESS.test(text);
  const path = isAddress
    ? text
        .replace(/[?#].*$/, "")
        .replace(/@sha256:.*$/, "")
        .replace(/:[^:/]*$/, "")
    : text;
  const name = basename(path).replace(FILES, "");
  if (!COMMON_NAMES.has(name)) return name;
  const folder = isAddress ? "" : basename(dirname(resolve(path)));
  return folder === "" ? "policy" : folder;
}

function freeId(id: string, taken: Readonly<Record<string, unknown>>): string {
  if (taken[id] === undefined) return id;
  let number = 2;
  while (taken[`${id}-${number}`] !== undefined) number += 1;
  return `${id}-${number}`;
}

/** The entry in the format of policies.yaml. */
function entryOf(text: string, { settings, allowedToMutate, executionMode }: EntryOptions): object {
  return {
    [isResource(text) ? "resource" : "module"]: ADDRESS.test(text) || PATH.test(text) ? text : `./${text}`,
    ...(settings !== undefined && { settings: settingsOf(settings) }),
    ...(allowedToMutate === true && { allowedToMutate: true }),
    ...(executionMode !== undefined && { executionMode }),
  };
}

/** Whether a file has resources. Extism manifests, which are modules, may be JSON and TOML. */
function isResource(text: string): boolean {
  if (ADDRESS.test(text) || /\.(?:wasm|toml)$/.test(text)) return false;
  if (statSync(text).isDirectory()) return true;
  const [first] = documentsOf(text);
  if (!isMap(first) || "kind" in first || "apiVersion" in first) return true;
  if (text.endsWith(".json")) {
    if ("wasm" in first) return false;
    throw new UsageError(
      `${text} has neither a kind, as Kubernetes' resources have, nor wasm, as Extism's manifests have`,
    );
  }
  throw new UsageError(
    `${text} has no kind, so that it is a configuration; its policies are asked by their ids: --policies ${text} <policy>`,
  );
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The documents of a file; invalid ones are reported by the reader of resources. */
function documentsOf(file: string): readonly unknown[] {
  try {
    return parseYamlDocuments(yamlText(readFileSync(file)));
  } catch (error) {
    if (error instanceof YamlError) return [];
    throw new UsageError(`cannot read ${file}`, { cause: error });
  }
}

/** Parses settings: a text that is not a map is a file's name. */
function settingsOf(text: string): unknown {
  const inline = text.trimStart().startsWith("{");
  if (!inline && !existsSync(text))
    throw new UsageError(`cannot read ${text}: --settings takes a file, or a map such as '{"level": 3}'`);
  const where = inline ? "--settings" : text;
  let documents: readonly unknown[];
  try {
    documents = parseYamlDocuments(inline ? text : yamlText(readFileSync(text)));
  } catch (error) {
    throw new UsageError(`${where}: ${error instanceof YamlError ? error.message : "cannot be read"}`, {
      cause: error,
    });
  }
  const [settings = {}] = documents;
  if (documents.length <= 1 && isMap(settings)) return settings;
  throw new UsageError(`${where}: expected one map of settings, such as {"level": 3}`);
}
