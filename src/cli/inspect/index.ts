/** `inspect`: shows the content of a module, a file of policies, or an entry of policies.yaml. */

import { readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { parseResources } from "../../config/documents/source-document.js";
import { type ConfigResult, loadConfig, parseConfig } from "../../config/index.js";
import { type CommandIo, UsageError } from "../../data/command-io.js";
import { parsePlainJson, stringifyJson } from "../../data/json.js";
import { inlineYaml, printYaml } from "../../data/print-yaml.js";
import { didYouMean } from "../../data/suggest.js";
import { withoutSecrets } from "../../fetch/index.js";
import { isObject, member } from "../../kubernetes/object.js";
import { givenFile, type LoaderSettings } from "../../loader/settings.js";
import { paintFor } from "../look/paint.js";
import type { Inspected } from "./inspected.js";
import { entryFor, inspectModule, type ModuleInspection } from "./modules.js";
import { inspectEntries } from "./policies.js";
import { inspectedLines } from "./text.js";

/** Options of `inspect` alone. */
export interface InspectOptions {
  readonly output: "text" | "json" | "yaml";
  readonly metadata?: true;
  readonly showSignatures?: true;
}

/**
 * Prints the content of a subject.
 * @param what a file or folder, the id of a policy, or the address of a module
 * @returns the exit code: 1 when the server would refuse it
 */
export async function inspectCommand(
  what: string,
  { output, metadata, showSignatures }: InspectOptions,
  settings: LoaderSettings,
  io: CommandIo,
): Promise<number> {
  const inspected = await inspect(what, { settings, io, signatures: showSignatures === true });
  if (metadata) {
    const found = inspected.module ?? inspected.policies?.find(({ module }) => module !== undefined)?.module;
    if (found?.metadata === undefined)
      throw new Error(`${what} has no metadata${found === undefined ? ": it is not a module" : ""}`);
    io.stdout.write(printed(found.metadata, output === "yaml" ? "yaml" : "json"));
    return 0;
  }
  if (output === "text") {
    const lines = inspectedLines(inspected, paintFor(io.stdout, io.env));
    io.stdout.write(`${lines.join("\n")}\n`);
  } else io.stdout.write(printed(inspected, output));
  return inspected.errors > 0 ? 1 : 0;
}

function printed(value: unknown, output: "json" | "yaml"): string {
  const plain = parsePlainJson(stringifyJson(value));
  return output === "json" ? `${JSON.stringify(plain, null, 2)}\n` : printYaml(plain);
}

async function inspect(what: string, inspection: ModuleInspection): Promise<Inspected> {
  if (what === "") throw new UsageError("nothing is named: expected a module, a YAML file, an address, or an id");
  const file = await stat(what).catch(() => undefined);
  if (file?.isDirectory() === true || (file !== undefined && /\.ya?ml$/.test(what)))
    return inspectFile(what, inspection);
  const named = file === undefined ? entryCalled(what, inspection.settings) : undefined;
  if (named !== undefined) return inspectEntries(named.config, [named.entry], named.problems, inspection);
  if (file === undefined && !/[/:.]/.test(what)) throw notThere(what, inspection.settings);
  if (file === undefined && /\.ya?ml$/.test(what)) throw new UsageError(`${what}: no such file`);
  // An existing path takes precedence, whatever its form.
  const entry = entryFor(file === undefined ? what : what.replace(/^(?![./])/, "./"));
  const module = { ...(await inspectModule(entry, inspection)), address: withoutSecrets(what) };
  return {
    module,
    problems: module.problem === undefined ? [] : [module.problem],
    errors: module.problem === undefined ? 0 : 1,
  };
}

function entryCalled(id: string, settings: LoaderSettings) {
  const read = configOf(settings);
  if (read?.ok !== true) return undefined;
  const entry = read.config.entries.find((each) => each.id === id);
  return entry && { config: read.config, problems: read.problems, entry };
}

function configOf(settings: LoaderSettings): ConfigResult | undefined {
  const file = givenFile(settings);
  return file === undefined ? undefined : loadConfig(file);
}

function notThere(what: string, settings: LoaderSettings): UsageError {
  const read = configOf(settings);
  if (read === undefined)
    return new UsageError(
      `${what} is not a file, and there is no policies.yaml with such an id: expected a module, a YAML file, an address, or an id`,
    );
  if (!read.ok) return new UsageError(read.message);
  const ids = read.config.entries.map(({ id }) => id);
  return new UsageError(
    `${what} is neither a file nor an id in ${read.config.file}${didYouMean(what, ids) || ` (ids: ${ids.join(", ")})`}`,
  );
}

/** A policies file, or resources: resources are read as for a `resource:` entry. */
async function inspectFile(path: string, inspection: ModuleInspection): Promise<Inspected> {
  if (isPoliciesFile(path)) {
    const read = loadConfig(path);
    if (!read.ok) throw new UsageError(read.message);
    return inspectEntries(read.config, read.config.entries, read.problems, inspection);
  }
  const read = parseConfig(`${ENTRY}:\n  resource: ${inlineYaml(path)}\n`, ENTRY);
  if (!read.ok) throw new UsageError(read.message);
  const inspected = await inspectEntries(read.config, read.config.entries, read.problems, inspection);
  // The entry exists only here: its problems are the file's.
  const problems = inspected.problems.map((problem) =>
    problem.replace(OF_ENTRY, `${path}: `).replace(/; paths start at the folder of this file$/, ""),
  );
  return {
    ...inspected,
    policies: inspected.policies?.map((policy) => ({ ...policy, id: path, place: path })) ?? [],
    problems,
  };
}

/** The name of the entry for a file of resources, and of its file. */
const ENTRY = "inspected";
const OF_ENTRY = /^inspected:\d+:\d+: (?:warning: )?(?:inspected(?:\.resource)?(?:\[\d+\])?: )?/;

/** Whether a file is a policies file: its keys are ids, and every value is a map; a resource has a kind. */
function isPoliciesFile(path: string): boolean {
  let documents: readonly { readonly value: unknown }[];
  try {
    documents = parseResources(readFileSync(path, "utf8"), path).documents;
  } catch {
    return false;
  }
  const [first] = documents;
  if (
    documents.length !== 1 ||
    !isObject(first?.value) ||
    member(first.value, "kind") !== undefined ||
    member(first.value, "apiVersion") !== undefined
  )
    return false;
  return Object.values(first.value).every(isObject);
}
