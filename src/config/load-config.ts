/** Reads policies.yaml (spec kubewarden.md 1, with this project's own kinds of entries). */

import { basename } from "node:path";
import { inlineYaml, yamlName } from "../data/print-yaml.js";
import { ConfigFileError, ConfigFiles, type ConfigFilesOptions } from "./config-files.js";
import type { DocumentIdentity } from "./documents/documents.js";
import { adviceOn, type KnownKind, knownKind } from "./documents/known-kinds.js";
import { Origin } from "./documents/origin.js";
import { comparePlaces, formatProblem, type Problem } from "./documents/problem.js";
import { parseConfiguration, type SourceDocument, salvageConfiguration } from "./documents/source-document.js";
import { describeNode, type Pair, pairOf, type SourceNode } from "./documents/source-node.js";
import type { Config, ConfigEntry, GroupDraft, PolicyEntry } from "./entry.js";
import type { ReadContext } from "./entry-parts.js";
import { readPolicy } from "./entry-reader.js";
import { ProblemSink } from "./problem-sink.js";
import { checkReferences, type Reference } from "./references.js";

// Hints for files other than a policies.yaml that are often given in its place.

/** A name that can be pasted into an entry without quotes. */
const PLAIN_NAME = /^[A-Za-z][\w.-]*$/;
const MUTATING = /^(?:Namespaced)?Mutating(?:Admission)?Policy$/;

/** The problem of a Kubernetes resource that is given as the configuration; undefined for any other document. */
function resourceAsPolicies(document: SourceDocument, file: string): Problem | undefined {
  const { root } = document;
  const [apiVersion, kind] = [textAt(root, "apiVersion"), textAt(root, "kind")];
  if (apiVersion === undefined || kind === undefined) return undefined;
  const slash = apiVersion.indexOf("/");
  const known = knownKind({ group: apiVersion.slice(0, Math.max(slash, 0)), kind });
  const what = known?.what ?? `a Kubernetes resource, a ${kind} of ${apiVersion}`;
  return {
    severity: "error",
    ...document.keySpanOf(["kind"]),
    path: [],
    message: `this is ${what}: a policies.yaml is a map from policy name to policy`,
    code: "CONFIG_NOT_POLICIES",
    hint:
      inConfigMap(root, kind) ??
      (known === undefined || known.use === "none" ? elsewhere(known) : pasted(root, kind, file)),
  };
}

function elsewhere(known: KnownKind | undefined): string {
  if (known !== undefined) return adviceOn(known);
  return "write an entry for each policy, with module, resource, cel or expression (docs/configuration.md)";
}

/** The key of the configuration in a ConfigMap that a pod mounts. */
function inConfigMap(root: SourceNode, kind: string): string | undefined {
  const data = kind === "ConfigMap" && root.kind === "map" ? pairOf(root, "data")?.value : undefined;
  const key = data?.kind === "map" ? data.pairs.find((pair) => /\.ya?ml$/.test(pair.key))?.key : undefined;
  if (key === undefined) return undefined;
  return `check what stands in it under ${key}: write that to a file of its own, or pipe it into \`policy-server check -\``;
}

/** The entry that names it, ready to be pasted. */
function pasted(root: SourceNode, kind: DocumentIdentity["kind"], file: string): string {
  const metadata = root.kind === "map" ? pairOf(root, "metadata")?.value : undefined;
  const name = metadata === undefined ? undefined : textAt(metadata, "name");
  const id = name !== undefined && PLAIN_NAME.test(name) ? name : "my-policy";
  const path = inlineYaml(`./${basename(file)}`);
  const more = MUTATING.test(kind) ? "\n  allowedToMutate: true" : "";
  return `name it by \`resource:\` in a policies.yaml beside it:\n${yamlName(id)}:\n  resource: ${path}${more}`;
}

function textAt(node: SourceNode, key: string): string | undefined {
  const value = node.kind === "map" ? pairOf(node, key)?.value : undefined;
  return value?.kind === "scalar" && typeof value.value === "string" ? value.value : undefined;
}

/** The readable part of a group that has mistakes elsewhere, so that those of its expression are found in the same run. */
function groupDraft(node: SourceNode, origin: Origin): GroupDraft | undefined {
  if (node.kind !== "map") return undefined;
  const expression = textAt(node, "expression");
  const policies = pairOf(node, "policies")?.value;
  if (expression === undefined || policies === undefined || policies.kind === "scalar") return undefined;
  const names =
    policies.kind === "map" ? policies.pairs.map(({ key }) => key) : policies.items.map((item) => textAt(item, "name"));
  const members = names.filter((name) => name !== undefined);
  return members.length === names.length ? Object.freeze({ expression, members, origin }) : undefined;
}

/** The result of reading a configuration. */
export type ConfigResult =
  | {
      readonly ok: true;
      readonly config: Config;
      /** All errors and warnings in order of place; the errors are in the invalid entries too. */
      readonly problems: readonly Problem[];
    }
  | {
      readonly ok: false;
      /** Why the whole file can't be used. */
      readonly problems: readonly Problem[];
      /** `error while loading policies from "<file>": …`, one problem a line. */
      readonly message: string;
      /** The readable entries, where they were asked for and there are any, with the problems of all. */
      readonly salvaged?: Pick<ConfigResult & { readonly ok: true }, "config" | "problems">;
    };

/** Options of reading. */
export interface ReadOptions {
  /** Whether to read the rest of a file that can't be used, so that all its mistakes are found. */
  readonly salvage?: boolean;
}

/** Reads a configuration file and the resources that it names. All mistakes are in the result: nothing is thrown for any file. */
export function loadConfig(file: string, options: ReadOptions = {}): ConfigResult {
  const files = new ConfigFiles();
  try {
    return readConfig(files.read(file), file, files, options);
  } catch (cause) {
    if (!(cause instanceof ConfigFileError)) throw cause;
    const message = `${cause.message}${isMissing(cause) && DEFAULT_NAME.test(file) ? TO_BEGIN : ""}`;
    return unusable(file, [{ severity: "error", file, line: 1, column: 1, path: [], message, code: "CONFIG_FILE" }]);
  }
}

/** The default file's name: a new user does not have it. */
const DEFAULT_NAME = /^policies\.ya?ml$/;
const TO_BEGIN = ": `policy-server scaffold cel NAME` makes one with a first policy, --policies FILE names another";
const isMissing = ({ cause }: ConfigFileError): boolean =>
  cause instanceof Error && "code" in cause && cause.code === "ENOENT";

/** Options of reading a text as a configuration. */
export interface ParseOptions extends ReadOptions, ConfigFilesOptions {
  /** Entries beside those of the text, which groups may name. */
  readonly known?: readonly string[];
}

/** The same as {@link loadConfig} for a text; `file` is its name, from which relative paths start. */
export function parseConfig(
  text: string,
  file: string,
  { known = [], salvage = false, ...options }: ParseOptions = {},
): ConfigResult {
  return readConfig(text, file, new ConfigFiles(options), { known, salvage });
}

function readConfig(
  text: string,
  file: string,
  files: ConfigFiles,
  { known = [], salvage }: Pick<ParseOptions, "known" | "salvage">,
): ConfigResult {
  const { document, problems, first } = parseConfiguration(text, file);
  if (document === undefined) {
    const misplaced = first && resourceAsPolicies(first.document, file);
    if (misplaced !== undefined) return unusable(file, [misplaced]);
    if (salvage !== true) return unusable(file, problems);
    const whole = problems.map(restUnread);
    const rest =
      first === undefined
        ? salvageConfiguration(text, file)
        : { ...first, problems: [...problems, ...first.problems], broken: [] };
    if (rest?.document?.root.kind !== "map") return unusable(file, rest?.problems ?? whole);
    const salvaged = readEntries(rest.document, rest.problems, files, [...rest.broken, ...known]);
    const broken = rest.problems.filter(({ path }) => path.length === 0);
    return { ...unusable(file, whole), salvaged: { ...salvaged, problems: [...broken, ...salvaged.problems] } };
  }
  const { root } = document;
  if (root.kind !== "map") {
    const message = `expected a map from policy name to policy, found ${describeNode(root)}; {} is a map without policies`;
    const about = { code: "CONFIG_WRONG_TYPE", ...(root.kind === "list" && { hint: NAMES_AS_KEYS }) } as const;
    return unusable(file, [document.problem("error", [], message, undefined, about)]);
  }
  const read = readEntries(document, problems, files, known);
  const misplaced = resourceAsPolicies(document, file);
  if (misplaced === undefined) return { ok: true, ...read };
  // Some key of a resource may be an entry all the same: it is served, but its problems are of no interest.
  if (salvage === true) return unusable(file, [misplaced]);
  // One problem of the file in place of one for each of its keys.
  return { ok: true, ...read, problems: [misplaced] };
}

const NAMES_AS_KEYS =
  "write the name of each policy as a key, and what it is below that: `name:` in the place of `- name: name`";

/** The problem, with the note that the rest was not read: there may be further mistakes. */
const restUnread = ({ hint, ...problem }: Problem): Problem => {
  const note = "what stands behind this was not looked at";
  return { ...problem, hint: hint === undefined ? note : `${hint}\n${note}` };
};

/** @param broken names of entries that can't be read: references to them are not errors */
function readEntries(
  document: SourceDocument,
  problems: readonly Problem[],
  files: ConfigFiles,
  broken: readonly string[],
): Pick<ConfigResult & { readonly ok: true }, "config" | "problems"> {
  const pairs = document.root.kind === "map" ? document.root.pairs : [];
  const budget = { policies: 0 };
  const read = pairs.map((pair) => {
    const flaws = problems.filter(({ path }) => path[0] === pair.key);
    return readEntry(pair, flaws, { document, files, budget });
  });
  for (const look of files.afterwards) look();
  const wrongReferences = checkReferences(
    read.flatMap((each) => each.references),
    read.flatMap(({ id, isGood }) => (isGood ? [id] : [])),
    [...read.map(({ id }) => id), ...broken],
  );
  const everything = read.map(({ problems: own, ...each }) => {
    const wrong = wrongReferences.get(each.id) ?? [];
    return { ...each, isGood: each.isGood && wrong.length === 0, problems: [...own, ...wrong] };
  });
  const drafts = new Map(pairs.map(({ key, value }) => [key, groupDraft(value, new Origin(document, [key]))]));
  const entries = everything.map(({ id, entry, isGood, problems: own }): ConfigEntry => {
    const errors = own.filter(({ severity }) => severity === "error");
    if (entry !== undefined && isGood && errors.length === 0) return entry;
    const draft = drafts.get(id);
    const rest = { ...(draft !== undefined && { draft }), ...(entry !== undefined && { salvaged: entry }) };
    return Object.freeze({ kind: "invalid", id, problems: Object.freeze(errors.sort(comparePlaces)), ...rest });
  });
  return {
    config: Object.freeze({
      file: document.file,
      entries: Object.freeze(entries),
      files: Object.freeze([...files.touched]),
    }),
    problems: everything.flatMap(({ problems: own }) => own).sort(comparePlaces),
  };
}

/** An entry with all its problems. */
interface ReadEntry {
  readonly id: string;
  /** The entry, or after errors its readable part; absent only when there is at least one error. */
  readonly entry: PolicyEntry | undefined;
  readonly isGood: boolean;
  readonly problems: readonly Problem[];
  /** The references, including those of members whose group has errors. */
  readonly references: readonly Reference[];
}

function readEntry(
  { key: id, value }: Pair,
  flaws: readonly Problem[],
  { document, files, budget }: Pick<ReadContext, "document" | "files" | "budget">,
): ReadEntry {
  const sink = new ProblemSink(document, id, true);
  for (const problem of flaws) sink.addError(problem);
  if (id === "") sink.keyError([id], "Not a valid Policy ID: it is empty", { code: "CONFIG_NAME" });
  if (id.includes("/")) sink.keyError([id], `policy name '${id}' contains a '/' character`, { code: "CONFIG_NAME" });
  const defaultHostCapabilities = Object.freeze([]);
  const references: Reference[] = [];
  const context = { document, sink, files, defaultHostCapabilities, chain: [], budget, references, readPolicy };
  const entry = readPolicy({ node: value, id, path: [id], level: { member: false }, context });
  return { id, entry, isGood: sink.errorCount === 0, problems: sink.problems, references };
}

function unusable(file: string, problems: readonly Problem[]): ConfigResult & { readonly ok: false } {
  const reasons = problems.map(formatProblem).join("\n");
  return { ok: false, problems, message: `error while loading policies from ${JSON.stringify(file)}: ${reasons}` };
}
