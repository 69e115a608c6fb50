/** `check`: loads everything like `serve` and reports every error and warning. */

import { readFileSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { KubernetesVersion } from "../../cel/index.js";
import { MAX_FILE_BYTES } from "../../config/config-files.js";
import { eachMistake } from "../../config/documents/each-mistake.js";
import { type Excerpt, excerptOf } from "../../config/documents/excerpt.js";
import { withoutQuotedLines } from "../../config/documents/problem-line.js";
import { type ConfigResult, formatPath, loadConfig, type Problem, parseConfig } from "../../config/index.js";
import { isForeign } from "../../config/resource-reader.js";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { counted } from "../../data/counted.js";
import { errorText } from "../../data/error-text.js";
import { EXIT, nothingJudged } from "../../data/exit-codes.js";
import { MANIFESTS, manifestFiles } from "../../data/manifest-files.js";
import { escapedLines, printable, printableLines } from "../../data/printable.js";
import { yamlText } from "../../data/yaml.js";
import { createPolicySource, type LoadResult } from "../../loader/policy-source.js";
import { type LoaderSettings, policiesFile } from "../../loader/settings.js";
import { leftOutOfSarif, type SarifDocument, type SarifResult, sarifDocument } from "../../offline/reports/sarif.js";
import { type Paint, paintFor } from "../look/paint.js";
import { askedProblems } from "./asked.js";
import {
  demandAll,
  documentConfig,
  holdsDocuments,
  isOther,
  type LeftOut,
  leftOutText,
  STDIN,
  STDIN_NAME,
} from "./documents.js";
import { changes, type UpgradeOptions, withRecorded } from "./recorded.js";
import { isOfCluster, staticConfig, staticSubjects } from "./static-manifests.js";

/** The result of checking one configuration. */
interface CheckedFile {
  readonly file: string;
  /** Number of its entries. */
  readonly policies: number;
  readonly errors: number;
  readonly warnings: number;
  /** Advice that never fails. */
  readonly notes: number;
  /** The rest of a folder. */
  readonly leftOut?: LeftOut;
  /** The number of webhook configurations; absent: they were not looked at. */
  readonly webhookConfigurations?: number;
  /** Problems without repetitions: those of the file itself first, then those of others by name, each by line and column. */
  readonly problems: readonly Problem[];
}

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

/** Most files whose lines are kept: problems come in order of file. */
const MAX_KEPT = 8;

/** The lines of files with problems, read again for display. */
class SourceLines {
  readonly #kept = new Map<string, readonly string[]>();

  /** @param given texts that were read already, by name, such as standard input */
  constructor(given: ReadonlyMap<string, string> = new Map()) {
    for (const [file, text] of given) this.#kept.set(file, linesOf(text));
  }

  /** A line, 1-based; undefined without such a line or file. */
  line(file: string, line: number): string | undefined {
    let lines = this.#kept.get(file);
    if (lines === undefined) {
      lines = read(file);
      const [oldest] = this.#kept.keys();
      if (this.#kept.size >= MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
      this.#kept.set(file, lines);
    }
    return lines[line - 1];
  }
}

function read(file: string): readonly string[] {
  try {
    const stats = statSync(file);
    return stats.isFile() && stats.size <= MAX_FILE_BYTES ? linesOf(yamlText(readFileSync(file))) : [];
  } catch {
    return [];
  }
}

/** The lines of a text, which end as in places: at LF, CR LF or a single CR. */
const linesOf = (text: string): readonly string[] => text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);

// Problems as text: place and message in a line that terminals make clickable, the line of the file with a mark, and help.

/** Problems of a file as a whole, for which its first line is not shown. */
const OF_WHOLE_FILE: ReadonlySet<string> = new Set(["CONFIG_FILE", "CLUSTER_NEEDED"]);

/** All problems of a file, with their number. */
function checkedText(checked: CheckedFile, lines: SourceLines, paint: Paint): string {
  return `${checked.problems.map((problem) => problemText(problem, lines, paint)).join("")}${summary(checked, paint)}\n`;
}

/** The lines of one problem, with an empty one after them. */
function problemText(problem: Problem, lines: SourceLines, paint: Paint): string {
  const { file, line, column, severity, path, code, hint } = problem;
  const isWhole = line === 1 && path.length === 0 && OF_WHOLE_FILE.has(code ?? "");
  const source = isWhole ? undefined : lines.line(file, line);
  const excerpt = source === undefined || source.trim() === "" ? undefined : excerptOf(source, problem);
  // The excerpt shows the text that the message quotes, in its place.
  const message = excerpt === undefined ? problem.message : withoutQuotedLines(problem.message);
  const place = paint("strong", printable(`${file}:${line}:${column}:`));
  const warning = severity === "error" ? "" : `${paint(severity === "note" ? "quiet" : "doubt", `${severity}:`)} `;
  const where = path.length === 0 ? "" : `${paint("name", printable(formatPath(path)))}: `;
  const name = code === undefined ? "" : ` ${paint("quiet", `[${code}]`)}`;
  const head = `${place} ${warning}${where}${printableLines(message)}${name}\n`;
  const quoted = excerpt === undefined ? "" : excerptText(excerpt, severity, paint);
  return `${head}${quoted}${hint === undefined ? "" : helpText(hint, paint)}\n`;
}

function excerptText({ gutter, text, blank, mark }: Excerpt, severity: Problem["severity"], paint: Paint): string {
  const tone = severity === "error" ? "bad" : "doubt";
  const [, space = "", carets = ""] = /^(\s*)(.*)$/.exec(mark) ?? [];
  return `${paint("quiet", gutter)}${text}\n${paint("quiet", blank)}${space}${paint(tone, carets)}\n`;
}

/** The text of a hint; one of several lines is to be pasted, and follows unchanged below its first line. */
function helpText(hint: string, paint: Paint): string {
  const [first = "", ...others] = escapedLines(hint).split("\n");
  return `${[`${paint("good", "help:")} ${first}`, ...others.map((line) => `  ${line}`.trimEnd())].join("\n")}\n`;
}

function summary(checked: CheckedFile, paint: Paint): string {
  const { file, policies, errors, warnings, notes, leftOut, webhookConfigurations: webhooks = 0 } = checked;
  const warned = warnings === 0 ? "" : `, ${paint("doubt", counted(warnings, "warning"))}`;
  const noted = notes === 0 ? "" : `, ${counted(notes, "note")}`;
  const left = leftOut === undefined ? "" : leftOutText(leftOut);
  const doubts = `${warned}${noted}${left}`;
  const name = printable(file);
  if (errors > 0) return `${name}: ${paint("bad", counted(errors, "error"))}${doubts}`;
  const shown = webhooks > 0 ? counted(webhooks, "webhook configuration") : counted(policies, "policy", "policies");
  return `${name}: ${shown}, ${paint("good", "no errors")}${doubts}`;
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
function subjectsOf(named: readonly string[], settings: LoaderSettings, texts: Texts): readonly Subject[] {
  const configurations: string[] = [];
  const documents: string[] = [];
  const folders: Subject[] = [];
  demandAll(named);
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

// Results of `check` as SARIF: a rule for each code, a result for each problem.

const NO_CODE = "POLICY_INVALID";

function checkedSarif(files: readonly CheckedFile[]): SarifDocument {
  const problems = files.flatMap((file) => file.problems);
  const codes = [...new Set(problems.map(({ code }) => code ?? NO_CODE))].sort();
  const results = problems.map(({ severity, path, message, hint, code = NO_CODE, ...place }): SarifResult => {
    const where = path.length === 0 ? "" : `${formatPath(path)}: `;
    return { rule: code, level: severity, text: `${where}${message}${hint === undefined ? "" : `\n${hint}`}`, place };
  });
  return sarifDocument(
    codes.map((id) => ({ id, help: `policy-server explain ${id} says what it means; so does docs/errors.md.` })),
    results,
  );
}

/** One file as an object; several as a list under `files`. JSON with a newline. */
function checkedJson(files: readonly CheckedFile[]): string {
  const [only, ...others] = files.map(fileValue);
  const value = others.length === 0 && only !== undefined ? only : { files: files.map(fileValue) };
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

const fileValue = ({ problems, ...file }: CheckedFile) => ({ ...file, problems: problems.map(problemValue) });

function problemValue({ file, line, column, endColumn, severity, code, path, message, hint, witness }: Problem) {
  return { file, line, column, endColumn, severity, code, path: formatPath(path), message, hint, witness };
}

/** Texts that were read already, by absolute path: that of standard input. */
type Texts = ReadonlyMap<string, string>;

/** Options of `check`. */
export interface CheckOptions extends UpgradeOptions {
  /** Files and folders; `-` is standard input. None: the one of the options, or the default one. */
  readonly named: readonly string[];
  readonly output: "text" | "json" | "sarif";
  /** Whether a warning fails, too. */
  readonly strict: boolean;
  /** Whether folders and files are static manifests of an API server. */
  readonly static?: boolean;
  /** The admission plugin that reads them; absent: that of the first object. */
  readonly plugin?: string;
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
  const subjects = options.static ? staticSubjects(named, isFolder) : subjectsOf(named, settings, texts);
  const lines = new SourceLines(stdin === undefined ? new Map() : new Map([[STDIN_NAME, stdin]]));
  const paint = paintFor(io.stdout, io.env);
  const all: CheckedFile[] = [];
  /** Files that an entry names: their documents are checked with it. */
  const withEntry = new Set<string>();
  for (const subject of subjects) {
    const others = subject.kind === "static" ? checkManifests : checkDocuments;
    const check = subject.kind === "configuration" ? checkConfiguration : others;
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
  if (all.some(({ errors, warnings, problems }) => errors > 0 || (strict && warnings > 0) || problems.some(changes)))
    return EXIT.NO;
  const isEmpty = ({ policies, leftOut, webhookConfigurations = 0 }: CheckedFile): boolean =>
    policies + webhookConfigurations === 0 && (leftOut === undefined || withEntry.size === 0);
  const empty = all.filter(isEmpty).map(({ file }) => file);
  if (empty.length === 0) return EXIT.FINE;
  return nothingJudged(`there is no policy in ${empty.join(", ")}`, io);
}

/** The static manifests of one directory of an API server. */
async function checkManifests({ name, files }: Subject, texts: Texts, settings: LoaderSettings, options: CheckOptions) {
  const { config, problems: own, kubernetesVersion, ...counts } = staticConfig(name, files, texts, options);
  const loaded = await load({ ...settings, file: name }, { ...options, kubernetesVersion }, () => config);
  const problems = [...loaded.problems.filter((problem) => !isOfCluster(problem)), ...own];
  return { ...checkedFile({ ...loaded, problems }), ...counts };
}

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
  const checked = checkedFile(await load({ ...settings, file: name }, options, () => result, true));
  // Where entries name all policies of a folder, there is nothing more to say of it.
  if (policies === 0 && checked.problems.length === 0 && withEntry.size > 0) return undefined;
  return { ...checked, policies, leftOut };
}

async function load(
  settings: LoaderSettings,
  { kubernetesVersion, static: isStatic, ...upgraded }: CheckOptions,
  given: (() => ConfigResult) | undefined,
  evaluatesAdmissionPolicies = false,
): Promise<LoadResult> {
  let result: ConfigResult | undefined;
  const read = (file: string): ConfigResult => {
    result = given?.() ?? loadConfig(file, { salvage: true });
    return result;
  };
  // If a cluster is required by an option, a missing one is an error.
  const wanted = settings.kubernetes === true || settings.kubeconfig !== undefined;
  const source = createPolicySource(settings, {
    typeCheck: true,
    diagnose: true,
    upgrade: upgraded.upgrade,
    warnWithoutCluster: !wanted,
    read,
    ...(kubernetesVersion && { kubernetesVersion }),
  });
  try {
    const loaded = await withRecorded(await source.load(), upgraded, settings, given);
    // Static policies may be about anything.
    const asked = isStatic ? [] : askedProblems(result, { release: kubernetesVersion, evaluatesAdmissionPolicies });
    return { ...loaded, problems: [...loaded.problems, ...asked] };
  } finally {
    source.close();
  }
}
