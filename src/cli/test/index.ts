/** `test`: runs test files of our own and in Kyverno's format (docs/testing.md). */

import { readdir, stat } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import { type CommandIo, say, UsageError, writeNamed } from "../../data/command-io.js";
import { EXIT, nothingJudged, worstOf } from "../../data/exit-codes.js";
import type { LoaderSettings } from "../../loader/settings.js";
import {
  DEFAULT_FILE_NAME,
  findTestFiles,
  rowMembers,
  runTestFiles,
  type TestedRow,
  type TestRunOptions,
  type TestRunResult,
  testEvaluator,
} from "../../offline/kyverno-test/index.js";
import { leftOutOfSarif } from "../../offline/reports/sarif.js";
import { scanTools } from "../../offline/scan/scan-tools.js";
import { isTerminal } from "../look/paint.js";
import { junitXml, type TestResult, testSarif } from "./junit.js";
import { type OwnTestOptions, runOwnTests } from "./own-tests.js";
import type { KyvernoRows } from "./report.js";

/** Options of the command beside those of loading. */
export interface TestOptions extends OwnTestOptions, Omit<TestRunOptions, "color" | "now"> {
  /** The file for JUnit XML. */
  readonly junit?: string;
  /** The file for SARIF. */
  readonly sarif?: string;
  /** The name of test files in Kyverno's format. */
  readonly fileName?: string;
  /** Whether to use no colours, even on a terminal. */
  readonly removeColor?: boolean;
  /** The command that has the wanted exit codes; absent: our own. */
  readonly compat?: "kyverno";
}

/** Our own test files in a folder are those with this ending. */
const SUFFIX = /\.test\.ya?ml$/;
const PACKAGES = "node_modules";

/** Test files, by format. */
interface TestFiles {
  readonly own: readonly string[];
  readonly kyverno: readonly string[];
}

/**
 * Runs test files; folders mean the test files inside of them. The policies of policies.yaml are loaded only if there are cases for them.
 * @param touched receives the files that were read
 * @returns the exit code of the table in docs/command-line.md, or that of Kyverno's command: 0 when all tests passed, 1 otherwise
 * @throws UsageError for unreadable files
 */
export async function testCommand(
  paths: readonly string[],
  options: TestOptions,
  settings: LoaderSettings,
  io: CommandIo,
  touched: (files: readonly string[]) => void = () => {},
): Promise<number> {
  const { fileName = DEFAULT_FILE_NAME } = options;
  const found = await Promise.all(paths.map((path) => testFiles(path, fileName)));
  const own = found.flatMap((files) => files.own);
  const kyverno = found.flatMap((files) => files.kyverno);
  const results: TestResult[] = [];
  const codes: number[] = [];
  const empty = paths.filter((_, index) => found[index]?.own.length === 0 && found[index]?.kyverno.length === 0);
  let passed = true;
  // The output is one document: other lines of Kyverno's format go to standard error.
  const isOneDocument = options.outputFormat === "json" && own.length > 0;
  let rows: KyvernoRows | undefined;
  if (kyverno.length > 0 || own.length === 0) {
    const run = await runKyvernoTests(kyverno, options, settings, isOneDocument ? { ...io, stdout: io.stderr } : io);
    if (isOneDocument) rows = rowsOf(run, options);
    results.push(...run.rows.map(testResult));
    if (run.ended !== undefined) {
      const { path: file, message: failure } = run.ended;
      results.push({ file, name: file, policy: "", milliseconds: 0, failure });
    }
    passed = run.passed;
    codes.push(codeOf(run));
    empty.push(...run.empty);
    if (kyverno.length > 0 && run.rows.length === 0 && run.empty.length === 0) empty.push(...kyverno);
  }
  if (own.length > 0) {
    const run = await runOwnTests(own, { ...options, ...(rows && { kyverno: rows }) }, settings, io, touched);
    results.push(...run.results);
    passed &&= run.passed;
    codes.push(run.isLoaded ? (run.passed ? EXIT.FINE : EXIT.NO) : EXIT.NOT_ASKED);
    empty.push(...run.empty);
  }
  if (options.junit !== undefined) await writeNamed(options.junit, junitXml(results));
  if (options.sarif !== undefined) {
    const { text, leftOut } = testSarif(results);
    if (leftOut > 0) say(io.stderr, `warning: ${leftOutOfSarif(leftOut)}`);
    await writeNamed(options.sarif, text);
  }
  const code = worstOf([...codes, empty.length > 0 ? EXIT.NOTHING_JUDGED : EXIT.FINE]);
  if (code === EXIT.NOTHING_JUDGED) nothingJudged(`there is no case and no row in ${empty.join(", ")}`, io);
  if (options.compat === "kyverno") return passed ? EXIT.FINE : EXIT.NO;
  return code;
}

/** The exit code of tests in Kyverno's format. */
function codeOf({ rows, ended, mistakes, unjudged }: TestRunResult): number {
  if (mistakes > 0 || (ended !== undefined && ended.path !== "")) return EXIT.NOT_ASKED;
  const failed = unjudged > 0 || rows.some(({ row }) => row.counts === "fail");
  return failed ? EXIT.NO : EXIT.FINE;
}

function rowsOf({ rows, ended }: TestRunResult, { detailedResults = false, failOnly }: TestOptions): KyvernoRows {
  const failed = rows.filter(({ row }) => row.counts === "fail").length;
  const shown = rows
    .filter(({ row }) => failOnly !== true || row.counts === "fail")
    .map(({ path, row }) => ({ file: path, ...rowMembers(row, detailedResults) }));
  const error = ended && { error: `${ended.path}: ${ended.message}` };
  return { rows: shown, passed: rows.length - failed, failed: failed + (ended ? 1 : 0), ...error };
}

async function runKyvernoTests(
  files: readonly string[],
  options: TestOptions,
  settings: LoaderSettings,
  io: CommandIo,
): Promise<TestRunResult> {
  const tools = scanTools(settings, io);
  try {
    const evaluate = testEvaluator(tools);
    return await runTestFiles(files, { ...options, color: hasColors(options, io), now: tools.now }, evaluate, {
      out: (text) => io.stdout.write(text),
      err: (text) => io.stderr.write(text),
    });
  } finally {
    await tools.close();
  }
}

async function testFiles(path: string, fileName: string): Promise<TestFiles> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new UsageError(`cannot read ${path}`);
  if (!found.isDirectory())
    return basename(path) === fileName ? { own: [], kyverno: [path] } : { own: [path], kyverno: [] };
  const names = await readdir(path, { recursive: true });
  const own = names
    .filter((name) => SUFFIX.test(name) && basename(name) !== fileName && !name.split(sep).includes(PACKAGES))
    .sort()
    .map((name) => join(path, name));
  const kyverno = await findTestFiles(path, fileName);
  // Packages contain tests of their own.
  return { own, kyverno: kyverno.filter((file) => !relative(path, file).split(sep).includes(PACKAGES)) };
}

/** Whether to use colours: on terminals only. */
function hasColors({ removeColor, outputFormat }: TestOptions, { stdout, env }: CommandIo): boolean {
  if (removeColor === true || outputFormat !== undefined || (env.NO_COLOR ?? "") !== "") return false;
  return isTerminal(stdout);
}

/** The result of a row. Only tests are timed, not their rows: the first row has the whole time. */
function testResult({ path, row, milliseconds, line }: TestedRow): TestResult {
  const { policy, resource, reason, message, counts, id } = row;
  return {
    file: path,
    name: resource,
    policy,
    milliseconds: id === 1 ? milliseconds : 0,
    failure: counts === "fail" ? `${reason}: ${message}` : undefined,
    ...(line !== undefined && { place: { file: path, line } }),
  };
}
