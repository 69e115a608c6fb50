/** `check`: loads everything like `serve` and reports every error and warning. */

import { existsSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { KubernetesVersion } from "../../cel/index.js";
import { eachMistake } from "../../config/documents/each-mistake.js";
import { type ConfigResult, type Problem, parseConfig } from "../../config/index.js";
import { isForeign } from "../../config/resource-reader.js";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { errorText } from "../../data/error-text.js";
import { EXIT, nothingJudged } from "../../data/exit-codes.js";
import { MANIFESTS, manifestFiles } from "../../data/manifest-files.js";
import { createPolicySource, type LoadResult } from "../../loader/policy-source.js";
import { type LoaderSettings, policiesFile } from "../../loader/settings.js";
import { leftOutOfSarif } from "../../offline/reports/sarif.js";
import { paintFor } from "../look/paint.js";
import { documentConfig, holdsDocuments } from "./documents.js";
import { type CheckedFile, checkedJson, checkedSarif, checkedText, read, SourceLines } from "./output.js";
import { checkStatic, isOfCluster, staticFiles, staticVersion } from "./static-manifests.js";

/** Sorts the problems of loading. */
export function checkedFile({ file, policies, problems: found }: LoadResult): CheckedFile {
  const seen = new Map(found.map((problem) => [identityOf(problem), problem]));
  const problems = withoutEchoes([...seen.values()].flatMap(eachMistake)).sort((left, right) =>
    compare(left, right, file),
  );
  const count = (wanted: Problem["severity"]): number => problems.filter(({ severity }) => severity === wanted).length;
  // Ids with a slash are members with an address of their own.
  const entries = [...policies.entries.keys()].filter((id) => !id.includes("/")).length;
  const [errors, warnings, notes] = [count("error"), count("warning"), count("note")];
  return { file, policies: entries, errors, warnings, notes, problems };
}

/** The identity of a problem: two readers may find the same one. */
const identityOf = ({ file, line, column, message, severity }: Problem): string =>
  JSON.stringify([file, line, column, message, severity]);

/** Removes warnings at the place of an error: another entry with the same file may report it as less. */
function withoutEchoes(problems: readonly Problem[]): Problem[] {
  const placeOf = ({ file, line, column, code, hint }: Problem): string =>
    JSON.stringify([file, line, column, code, hint]);
  const mistakes = new Set(problems.filter(({ severity }) => severity === "error").map(placeOf));
  const isEcho = (problem: Problem): boolean =>
    problem.severity !== "error" && problem.hint !== undefined && mistakes.has(placeOf(problem));
  return problems.filter((problem) => !isEcho(problem));
}

function compare(left: Problem, right: Problem, first: string): number {
  if (left.file !== right.file) {
    if (left.file === first || right.file === first) return left.file === first ? -1 : 1;
    return left.file < right.file ? -1 : 1;
  }
  return left.line - right.line || left.column - right.column;
}

/** Most configurations of one run: more are a wrong folder. */
const MAX_FILES = 1000;
const CONFIGURATION = /^policies\.ya?ml$/;

/** The subject of a check: a configuration, or files of Kubernetes documents. */
interface Subject {
  readonly kind: "configuration" | "documents" | "folder" | "static";
  readonly name: string;
  readonly files: readonly string[];
}

/**
 * The subjects of a command line: the configurations, those of folders and below them, the documents that are named, and those of each folder.
 * @throws UsageError
 */
function subjectsOf(
  { named, static: isStatic }: CheckOptions,
  settings: LoaderSettings,
  texts: Texts,
): readonly Subject[] {
  if (isStatic && named.length === 0)
    throw new UsageError("--static: name the directory of an admission plugin, or files of it");
  const configurations: string[] = [];
  const documents: string[] = [];
  const folders: Subject[] = [];
  const missing = named.filter((name) => name !== STDIN && !existsSync(name)).map((name) => JSON.stringify(name));
  if (missing.length > 0) throw new UsageError(`there is no such file or folder: ${missing.join(", ")}`);
  if (isStatic) {
    const files = named.filter((name) => !isFolder(name)).map((name) => (name === STDIN ? STDIN_NAME : name));
    const together = files.length > 0 ? [{ kind: "static", name: files.join(", "), files } as const] : [];
    return [...together, ...named.filter(isFolder).map((name) => ({ kind: "static", name, files: [] }) as const)];
  }
  for (const name of named.length === 0 ? [policiesFile(settings)] : new Set(named)) {
    if (isFolder(name)) {
      const found = inFolder(name);
      const own = found.filter((file) => CONFIGURATION.test(basename(file)));
      configurations.push(...own);
      folders.push({ kind: "folder", name, files: found.filter((file) => !own.includes(file)) });
      continue;
    }
    const path = name === STDIN ? STDIN_NAME : name;
    const content = texts.get(resolve(path)) ?? read(name).join("\n");
    (named.length > 0 && holdsDocuments(content, path) ? documents : configurations).push(path);
  }
  if (configurations.length > MAX_FILES)
    throw new UsageError(`found ${configurations.length} configurations, at most ${MAX_FILES}`);
  return [
    ...[...new Set(configurations)].map((name): Subject => ({ kind: "configuration", name, files: [name] })),
    ...(documents.length > 0 ? [{ kind: "documents", name: documents.join(", "), files: documents } as const] : []),
    ...folders,
  ];
}

/** Whether a path is a folder. */
function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** @throws UsageError */
function inFolder(folder: string): readonly string[] {
  try {
    return manifestFiles(folder, MANIFESTS, isForeign);
  } catch (cause) {
    throw new UsageError(`${folder}: ${errorText(cause)}`, { cause });
  }
}

/** The name of standard input. */
const STDIN = "-";
const STDIN_NAME = "<stdin>";

/** Texts that were read already, by absolute path: that of standard input. */
type Texts = ReadonlyMap<string, string>;

/** Options of `check`. */
export interface CheckOptions {
  /** Files and folders; `-` is standard input. None: the one of the options, or the default one. */
  readonly named: readonly string[];
  readonly output: "text" | "json" | "sarif";
  /** Whether a warning fails, too. */
  readonly strict: boolean;
  /** Whether folders and files are static manifests of an API server. */
  readonly static?: boolean;
  /** The Kubernetes that ValidatingAdmissionPolicies must be stored by; absent: any that this server supports. */
  readonly kubernetesVersion?: KubernetesVersion;
}

/**
 * Checks configurations and documents.
 * @returns the exit code: 0 when everything loaded, 1 when there is an error, 2 when a configuration can't be used, 3 when there is no policy
 * @throws UsageError for a file that is named and is missing or has no policy
 */
export async function checkCommand(settings: LoaderSettings, options: CheckOptions, io: CommandIo): Promise<number> {
  const { named, output, strict } = options;
  const stdin = named.includes(STDIN) ? await text(io.stdin) : undefined;
  const texts: Texts = new Map(stdin === undefined ? [] : [[resolve(STDIN_NAME), stdin]]);
  const subjects = subjectsOf(options, settings, texts);
  const lines = new SourceLines(stdin === undefined ? new Map() : new Map([[STDIN_NAME, stdin]]));
  const paint = paintFor(io.stdout, io.env);
  const all: CheckedFile[] = [];
  /** Files that an entry names: their documents are checked with it. */
  const withEntry = new Set<string>();
  for (const subject of subjects) {
    const check = CHECKS[subject.kind];
    const checked = await check(subject, texts, settings, options, withEntry);
    if (checked === undefined) continue;
    all.push(checked);
    if (output === "text") io.stdout.write(checkedText(checked, lines, paint));
  }
  if (output === "json") io.stdout.write(checkedJson(all));
  if (output === "sarif") {
    const { text: document, leftOut } = checkedSarif(all);
    if (leftOut > 0) say(io.stderr, `warning: ${leftOutOfSarif(leftOut)}`);
    io.stdout.write(document);
  }
  if (all.some(isUnusable)) return EXIT.NOT_ASKED;
  if (all.some(({ errors, warnings }) => errors > 0 || (strict && warnings > 0))) return EXIT.NO;
  const isEmpty = ({ policies, leftOut, webhookConfigurations = 0 }: CheckedFile): boolean =>
    policies + webhookConfigurations === 0 && (leftOut === undefined || withEntry.size === 0);
  const empty = all.filter(isEmpty).map(({ file }) => file);
  if (empty.length === 0) return EXIT.FINE;
  return nothingJudged(`there is no policy in ${empty.join(", ")}`, io);
}

/** The static manifests of one directory of an API server. */
async function checkManifests({ name, files }: Subject, texts: Texts, settings: LoaderSettings, options: CheckOptions) {
  const version = staticVersion(options.kubernetesVersion);
  const folder = files.length === 0 ? staticFiles(name) : { files, unread: [] };
  const { result, policies } = documentConfig(name, folder.files, false, texts);
  const { problems: found, ...counts } = checkStatic(folder.files, texts, version);
  const loaded = await load({ ...settings, file: name }, { ...options, kubernetesVersion: version }, () => result);
  const others = loaded.problems.filter((problem) => !isOfCluster(problem));
  return { ...checkedFile({ ...loaded, problems: [...others, ...found, ...folder.unread] }), policies, ...counts };
}

/** The check of each kind of subject. */
const CHECKS = {
  configuration: checkConfiguration,
  documents: checkDocuments,
  folder: checkDocuments,
  static: checkManifests,
} as const;

/** Whether a file can't be read, or is empty, a text or a list. */
const isUnusable = ({ file, problems }: CheckedFile): boolean =>
  problems.some(
    ({ code = "", path, ...problem }) =>
      path.length === 0 && problem.file === file && ["CONFIG_FILE", "CONFIG_WRONG_TYPE"].includes(code),
  );

async function checkConfiguration(
  { name: file }: Subject,
  texts: Texts,
  settings: LoaderSettings,
  options: CheckOptions,
  withEntry: Set<string>,
): Promise<CheckedFile> {
  const written = texts.get(resolve(file));
  const read = (): ConfigResult => parseConfig(written ?? "", file, { salvage: true });
  const loaded = await load({ ...settings, file }, options, written === undefined ? undefined : read);
  if (!CONFIGURATION.test(basename(file)) && isOther(loaded))
    throw new UsageError(`${file} holds no policy: it is neither a policies.yaml nor a file of Kubernetes documents`);
  for (const each of loaded.files) withEntry.add(resolve(each));
  return checkedFile(loaded);
}

/** Whether a file is another program's, such as values.yaml: none of its keys looks like the name of a policy. */
const isOther = ({ policies, problems, file }: LoadResult): boolean =>
  policies.entries.size > 0 &&
  problems.length >= policies.entries.size &&
  problems.every(
    (problem) =>
      ["CONFIG_KIND", "CONFIG_WRONG_TYPE"].includes(problem.code ?? "") &&
      problem.file === file &&
      problem.path.length === 1 &&
      problem.hint === undefined &&
      !problem.message.includes("did you mean"),
  );

/** The documents that no entry names; undefined where there is nothing to say. */
async function checkDocuments(
  { kind, name, files }: Subject,
  texts: Texts,
  settings: LoaderSettings,
  options: CheckOptions,
  withEntry: ReadonlySet<string>,
): Promise<CheckedFile | undefined> {
  const isFolder = kind === "folder";
  const own = isFolder ? files.filter((path) => !withEntry.has(resolve(path))) : files;
  const { result, policies, leftOut, foreign } = documentConfig(name, own, isFolder, texts);
  if (!isFolder && foreign.length > 0)
    throw new UsageError(`${foreign.join(", ")}: there is no policy in it, and nothing that belongs to one`);
  const checked = checkedFile(await load({ ...settings, file: name }, options, () => result));
  // Where entries name all policies of a folder, there is nothing more to say of it.
  if (policies === 0 && checked.problems.length === 0 && withEntry.size > 0) return undefined;
  return { ...checked, policies, leftOut };
}

async function load(
  settings: LoaderSettings,
  { kubernetesVersion }: CheckOptions,
  read: (() => ConfigResult) | undefined,
): Promise<LoadResult> {
  // If a cluster is required by an option, a missing one is an error.
  const wanted = settings.kubernetes === true || settings.kubeconfig !== undefined;
  const source = createPolicySource(settings, {
    typeCheck: true,
    diagnose: true,
    warnWithoutCluster: !wanted,
    ...(read && { read }),
    ...(kubernetesVersion && { kubernetesVersion }),
  });
  try {
    return await source.load();
  } finally {
    source.close();
  }
}
