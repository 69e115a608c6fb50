/** Entries of the global context that a test defines (spec kyverno.md 8.5 and 8.6). */
import { posix } from "node:path";
import { withDoubles } from "../../../data/doubles.js";
import { errorText } from "../../../data/error-text.js";
import { quote } from "../../../data/go/quote.js";
import { parseSuspectYaml, type YamlError } from "../../../data/yaml.js";
import { isObject } from "../../../kubernetes/object.js";
import { compileQuery } from "../../../world/entries/query.js";
import { LookupFailure } from "../../../world/resources/resource-source.js";
import { failed, type Read, read } from "./read.js";

/** One of a test's `globalContextEntries`. */
export interface WrittenEntry {
  readonly name?: string;
  readonly data?: unknown;
  readonly resources?: readonly unknown[];
  readonly resourceFiles?: readonly string[];
  /** JMESPath. */
  readonly fieldPath?: string;
  readonly projections?: readonly { readonly name?: string; readonly path?: string }[];
}

/** Files that entries name, by paths relative to the test's. */
export interface EntryFiles {
  /** Reads a file; rejects with the reason if it can't be read. */
  text(path: string): Promise<string>;
  /** Receives warnings about a file. */
  doubted(doubt: YamlError, path: string): void;
}

/** The error of entries; `undefined` when they are valid. Checked before any file of theirs is read. */
export function entryMistake(entries: readonly WrittenEntry[]): string | undefined {
  const seen = new Set<string>();
  for (const entry of entries) {
    const name = (entry.name ?? "").trim();
    if (name === "") return "globalContextEntries: name is required";
    if (seen.has(name)) return `globalContextEntries: duplicate name ${quoted(name)}`;
    seen.add(name);
    const mistake = projectionMistake(entry) ?? sourceMistake(entry);
    if (mistake !== undefined) return `globalContextEntries entry ${quoted(entry.name ?? "")}${mistake}`;
  }
  return undefined;
}

function projectionMistake({ projections = [] }: WrittenEntry): string | undefined {
  for (const { name = "", path = "" } of projections) {
    if (name.trim() === "") return ": projection name is required";
    if (path.trim() === "") return ` projection ${quoted(name)}: path is required`;
  }
  return undefined;
}

function sourceMistake({ data, resources, resourceFiles }: WrittenEntry): string | undefined {
  const sources = [data ?? undefined, resources, resourceFiles].filter((source) => source !== undefined);
  if (sources.length > 1) return ": data, resources, and resourceFiles are mutually exclusive";
  if (sources.length === 0) return ": one of data, resources, or resourceFiles is required";
  if (resources === undefined && resourceFiles === undefined) {
    return isObject(data) ? undefined : ": data must be a JSON object";
  }
  const resource = (resources ?? []).findIndex((each) => !isObject(each));
  if (resource >= 0) return ` resources[${resource}]: must be a JSON object (Kubernetes resource manifest)`;
  for (const [i, file] of (resourceFiles ?? []).entries()) {
    const path = file.trim();
    if (path === "") return ` resourceFiles[${i}]: file path must not be empty`;
    if (posix.isAbsolute(path)) return ` resourceFiles[${i}]: file path must not be absolute`;
    const clean = posix.normalize(path);
    if (clean === ".." || clean.startsWith("../")) {
      return ` resourceFiles[${i}]: file path must not escape the test directory`;
    }
  }
  return undefined;
}

/**
 * The data of entries by name: of one with projections, their results by name.
 * @param files the files that they name
 */
export async function writtenEntries(
  entries: readonly WrittenEntry[],
  files: EntryFiles,
): Promise<Read<ReadonlyMap<string, unknown>>> {
  const mistake = entryMistake(entries);
  if (mistake !== undefined) return failed(mistake);
  const data = new Map<string, unknown>();
  for (const entry of entries) {
    const { name = "", resourceFiles } = entry;
    let root: unknown = entry.resources ?? entry.data;
    if (resourceFiles !== undefined) {
      const loaded = await resourcesOf(name, resourceFiles, files);
      if (!loaded.ok) return loaded;
      root = loaded.value;
    }
    const selected = select(entry, withDoubles(root));
    if (!selected.ok) return selected;
    data.set(name, selected.value);
  }
  return read(data);
}

async function resourcesOf(
  name: string,
  paths: readonly string[],
  files: EntryFiles,
): Promise<Read<readonly unknown[]>> {
  const resources: unknown[] = [];
  for (const file of paths) {
    try {
      const documents = parseSuspectYaml(await files.text(file), (warning) => files.doubted(warning, file));
      resources.push(...documents.filter((each) => isObject(each)));
    } catch (error) {
      const where = `globalContextEntries ${quoted(name)} resourceFiles ${quoted(file)}`;
      return failed(`error: failed to load globalContextEntries resource files: ${where}: ${errorText(error)}`);
    }
  }
  return read(resources);
}

function select({ name = "", fieldPath = "", projections = [] }: WrittenEntry, data: unknown): Read<unknown> {
  const where = `globalContextEntries ${quoted(name)}`;
  let root = data;
  if (fieldPath !== "") {
    root = queried(fieldPath, data);
    if (root instanceof LookupFailure) return failed(`${where} fieldPath: ${root.message}`);
  }
  if (projections.length === 0) return read(root);
  const results: [string, unknown][] = [];
  for (const { name: projection = "", path = "" } of projections) {
    const result = queried(path, root);
    if (result instanceof LookupFailure) {
      return failed(`${where} projection ${quoted(projection)} path ${quoted(path)}: ${result.message}`);
    }
    results.push([projection, result]);
  }
  return read(Object.fromEntries(results));
}

function queried(expression: string, data: unknown): unknown | LookupFailure {
  const query = compileQuery(expression);
  if (query instanceof LookupFailure) return query;
  const result = query(data);
  return result instanceof LookupFailure ? result : withDoubles(result);
}

const quoted = (text: string): string => quote(text, false);
