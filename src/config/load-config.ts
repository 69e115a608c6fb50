/** Reads policies.yaml (spec kubewarden.md 1, with this project's own kinds of entries). */

import { Origin } from "../documents/origin.js";
import { comparePlaces, formatProblem, type Problem } from "../documents/problem.js";
import { parseConfiguration } from "../documents/source-document.js";
import { describeNode, type Pair } from "../documents/source-node.js";
import { ConfigFileError, ConfigFiles, type ConfigFilesOptions } from "./config-files.js";
import type { Config, ConfigEntry, PolicyEntry } from "./entry.js";
import type { ReadContext } from "./entry-parts.js";
import { readPolicy } from "./entry-reader.js";
import { groupDraft } from "./group-draft.js";
import { ProblemSink } from "./problem-sink.js";
import { checkReferences, type Reference } from "./references.js";

/** What came of reading a configuration. */
export type ConfigResult =
  | {
      readonly ok: true;
      readonly config: Config;
      /** All errors and warnings in order of place; the errors are in the invalid entries too. */
      readonly problems: readonly Problem[];
    }
  | {
      readonly ok: false;
      /** Why nothing of the file can be used. */
      readonly problems: readonly Problem[];
      /** `error while loading policies from "<file>": …`, one problem a line. */
      readonly message: string;
    };

/** Reads a configuration file and the resources that it names. Mistakes are in the result, whole: nothing is thrown for any file. */
export function loadConfig(file: string): ConfigResult {
  const files = new ConfigFiles();
  try {
    return readConfig(files.read(file), file, files);
  } catch (cause) {
    if (!(cause instanceof ConfigFileError)) throw cause;
    return unusable(file, [{ severity: "error", file, line: 1, column: 1, path: [], message: cause.message }]);
  }
}

/** What surrounds a text that is read as a configuration. */
export interface ParseOptions extends ConfigFilesOptions {
  /** Entries beside those of the text, which groups may name. */
  readonly known?: readonly string[];
}

/** As {@link loadConfig} for a text; `file` is its name, from which relative paths start. */
export function parseConfig(text: string, file: string, { known = [], ...options }: ParseOptions = {}): ConfigResult {
  return readConfig(text, file, new ConfigFiles(options), known);
}

function readConfig(text: string, file: string, files: ConfigFiles, known: readonly string[] = []): ConfigResult {
  const { document, problems } = parseConfiguration(text, file);
  if (document === undefined) return unusable(file, problems);
  const { root } = document;
  if (root.kind !== "map") {
    const message = `expected a map from policy name to policy, found ${describeNode(root)}; {} is a map without policies`;
    return unusable(file, [{ severity: "error", ...document.positionOf([]), path: [], message }]);
  }
  const budget = { policies: 0 };
  const read = root.pairs.map((pair) => {
    const flaws = problems.filter(({ path }) => path[0] === pair.key);
    return readEntry(pair, flaws, { document, files, budget });
  });
  const good = read.flatMap(({ entry }) => (entry === undefined ? [] : [entry]));
  const references = read.flatMap((each) => each.references);
  const wrongReferences = checkReferences(
    references,
    good.map(({ id }) => id),
    [...read.map(({ id }) => id), ...known],
  );
  const everything = read.map(({ id, entry, problems: own }) => ({
    id,
    entry,
    problems: [...own, ...(wrongReferences.get(id) ?? [])],
  }));
  const drafts = new Map(root.pairs.map(({ key, value }) => [key, groupDraft(value, new Origin(document, [key]))]));
  const entries = everything.map(({ id, entry, problems: own }): ConfigEntry => {
    const errors = own.filter(({ severity }) => severity === "error");
    if (entry !== undefined && errors.length === 0) return entry;
    const draft = drafts.get(id);
    const problems = Object.freeze(errors.sort(comparePlaces));
    return Object.freeze({ kind: "invalid", id, problems, ...(draft !== undefined && { draft }) });
  });
  return {
    ok: true,
    config: Object.freeze({ file, entries: Object.freeze(entries), files: Object.freeze([...files.touched]) }),
    problems: everything.flatMap(({ problems: own }) => own).sort(comparePlaces),
  };
}

/** An entry with everything said about it; `entry` is absent only when there is at least one error. */
interface ReadEntry {
  readonly id: string;
  readonly entry: PolicyEntry | undefined;
  readonly problems: readonly Problem[];
  /** Also those of members whose group has errors. */
  readonly references: readonly Reference[];
}

function readEntry(
  { key: id, value }: Pair,
  flaws: readonly Problem[],
  { document, files, budget }: Pick<ReadContext, "document" | "files" | "budget">,
): ReadEntry {
  const sink = new ProblemSink(document, id);
  for (const flaw of flaws) sink.addError(flaw);
  if (id === "") sink.keyError([id], "Not a valid Policy ID: it is empty");
  if (id.includes("/")) sink.keyError([id], `policy name '${id}' contains a '/' character`);
  const defaultHostCapabilities = Object.freeze([]);
  const references: Reference[] = [];
  const context = { document, sink, files, defaultHostCapabilities, chain: [], budget, references, readPolicy };
  const entry = readPolicy({ node: value, id, path: [id], level: { member: false }, context });
  return { id, entry, problems: sink.problems, references };
}

function unusable(file: string, problems: readonly Problem[]): ConfigResult {
  const reasons = problems.map(formatProblem).join("\n");
  return { ok: false, problems, message: `error while loading policies from ${JSON.stringify(file)}: ${reasons}` };
}
