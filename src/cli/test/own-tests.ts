/** Evaluates the cases of our own test files, and reports failures and coverage (docs/testing.md). */

import { formatProblem, type Position, type Problem } from "../../config/documents/problem.js";
import { type Config, loadConfig } from "../../config/index.js";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";

import { counted } from "../../data/counted.js";

import { didYouMean } from "../../data/suggest.js";
import { Coverage } from "../../kinds/shared/index.js";
import { definedKinds } from "../../loader/defined-kinds.js";
import { type LoaderSettings, policiesFile } from "../../loader/settings.js";
import { nameOf, type TestCase } from "./case.js";
import { type Failure, failuresOf } from "./compare.js";
import { type CoverageOptions, type CoverageSummary, coverageOf, enough } from "./coverage.js";
import type { TestResult } from "./junit.js";
import { readTestFile } from "./read-file.js";
import { type CaseResult, jsonFailure, jsonReport, type KyvernoRows, textReport } from "./report.js";
import { loadSubjects, type Subjects } from "./subjects.js";

/** Options of the output. */
export interface OwnTestOptions extends CoverageOptions {
  /** `json`: a document in place of lines. */
  readonly outputFormat?: string;
  readonly removeColor?: boolean;
  /** Results of test files in Kyverno's format, for the single document of `json`. */
  readonly kyverno?: KyvernoRows;
}

/** Results of the cases. */
export interface OwnTestsResult {
  readonly passed: boolean;
  /** Whether the policies could be loaded. */
  readonly isLoaded: boolean;
  /** Test files without a case. */
  readonly empty: readonly string[];
  /** One failure for each file when the policies could not be loaded at all. */
  readonly results: readonly TestResult[];
  /** Files that were read, beside the test files. */
  readonly files: readonly string[];
}

/**
 * Runs our own test files.
 * @throws UsageError for errors in them; all are printed before
 */
export async function runOwnTests(
  files: readonly string[],
  options: OwnTestOptions,
  settings: LoaderSettings,
  io: CommandIo,
  touched: (files: readonly string[]) => void = () => {},
): Promise<OwnTestsResult> {
  const find = definedKinds(() => configOf(settings));
  const cases = await readAll(files, find, io, touched);
  const full = new Set(cases.map(({ file }) => file));
  const empty = files.filter((file) => !full.has(file));
  const coverage = new Coverage();
  const subjects = await loadSubjects(cases, settings, coverage);
  touched(subjects.files);
  try {
    for (const problem of subjects.problems) say(io.stderr, formatProblem(problem));
    if (subjects.fatal !== undefined) {
      const failure = subjects.fatal;
      if (options.outputFormat === "json") io.stdout.write(jsonFailure(failure, files.length));
      const results = files.map((file) => ({ file, name: file, policy: "", milliseconds: 0, failure }));
      return { passed: false, isLoaded: false, empty, results, files: subjects.files };
    }
    const results: CaseResult[] = [];
    for (const test of cases) results.push(await run(test, subjects));
    const wanted = options.coverage === true || options.minCoverage !== undefined;
    const summary: CoverageSummary | undefined = wanted ? coverageOf(coverage, subjects.served) : undefined;
    const report = { results, summary, options, ...(options.kyverno && { kyverno: options.kyverno }) };
    io.stdout.write(options.outputFormat === "json" ? jsonReport(report) : textReport(report, io));
    const passed = results.every(({ failures }) => failures.length === 0);
    return {
      passed: passed && (summary === undefined || enough(summary, options)),
      isLoaded: true,
      empty,
      results: results.map(junitResult),
      files: subjects.files,
    };
  } finally {
    subjects.close();
  }
}

function configOf(settings: LoaderSettings): Config | undefined {
  const read = loadConfig(policiesFile(settings));
  return read.ok ? read.config : undefined;
}

/** Reads all files: all their errors are reported before any case runs. */
async function readAll(
  files: readonly string[],
  find: ReturnType<typeof definedKinds>,
  io: CommandIo,
  touched: (files: readonly string[]) => void,
): Promise<readonly TestCase[]> {
  const cases: TestCase[] = [];
  // Many cases have the same object.
  const told = new Set<string>();
  let errors = 0;
  for (const file of files) {
    const read = await readTestFile(file, find);
    touched(read.fixtures);
    cases.push(...read.cases);
    for (const problem of read.problems) {
      const line = formatProblem(problem);
      if (told.has(line)) continue;
      told.add(line);
      if (problem.severity === "error") errors++;
      say(io.stderr, line);
    }
  }
  if (errors === 0) return cases;
  throw new UsageError(`${counted(errors, "mistake")} in test files: no case was run`);
}

async function run(test: TestCase, subjects: Subjects): Promise<CaseResult> {
  const asked = subjects.of(test);
  const failed = (key: string, text: string): CaseResult => ({
    test,
    milliseconds: 0,
    failures: [{ key, text, details: [] }],
  });
  if ("failure" in asked) return failed("policy", asked.failure);
  const { entry, evaluator, problem } = asked;
  const { expected, review } = test;
  if (review === undefined)
    return { test, milliseconds: 0, failures: settingsFailures(test, entry.unavailable, problem) };
  // It answers every request with an error, which no case can expect.
  if (entry.unavailable !== undefined)
    return failed("policy", `the policy could not be loaded: ${problem?.message ?? entry.unavailable}`);
  const known = memberNames(entry.id, evaluator.policies.entries.keys());
  const misspelt = Object.keys(expected.members ?? {}).find((name) => !known.includes(name));
  if (misspelt !== undefined) {
    const list = known.length === 0 ? `'${entry.id}' has no members` : `known are ${known.join(", ")}`;
    return failed("members", `there is no member '${misspelt}'${didYouMean(misspelt, known) || `: ${list}`}`);
  }
  const origin = review.kind === "raw" ? "validate_raw" : "validate";
  const verdict = await evaluator.evaluate(entry, { review, origin });
  const failures = failuresOf(expected, verdict, review).toSorted((a, b) =>
    byPlace(test.placeOf(a.key), test.placeOf(b.key)),
  );
  return { test, milliseconds: verdict.milliseconds, failures };
}

const memberNames = (group: string, ids: Iterable<string>): readonly string[] =>
  [...ids].filter((id) => id.startsWith(`${group}/`)).map((id) => id.slice(group.length + 1));

const byPlace = (a: Position, b: Position): number => a.line - b.line || a.column - b.column;

/** Failures of a case about settings: whether the policy has accepted them. */
function settingsFailures(
  { expected }: TestCase,
  refusal: string | undefined,
  problem: Problem | undefined,
): readonly Failure[] {
  const { expect, message, messageContains, messageMatches } = expected;
  const failure = (key: string, text: string): readonly Failure[] => [{ key, text, details: [] }];
  if (expect === "loads")
    return refusal === undefined ? [] : failure("expect", `expected that it loads, got: ${refusal}`);
  if (refusal === undefined) return failure("expect", "expected that the settings are refused, and they were taken");
  // A missing or invalid module has not refused the settings.
  if (problem?.code?.startsWith("MODULE_"))
    return failure("policy", `the policy could not be loaded: ${problem.message}`);
  const got = `got ${JSON.stringify(refusal)}`;
  if (message !== undefined && message !== refusal)
    return failure("message", `expected the message ${JSON.stringify(message)}, ${got}`);
  if (messageContains !== undefined && !refusal.includes(messageContains))
    return failure("messageContains", `expected a message with ${JSON.stringify(messageContains)}, ${got}`);
  if (messageMatches !== undefined && !messageMatches.matcher(refusal).find())
    return failure(
      "messageMatches",
      `expected a message that matches ${JSON.stringify(messageMatches.pattern())}, ${got}`,
    );
  return [];
}

const junitResult = ({ test, milliseconds, failures }: CaseResult): TestResult => ({
  file: test.file,
  name: test.name,
  policy: nameOf(test.subject),
  milliseconds,
  failure: failures.length === 0 ? undefined : failures.map(({ text }) => text).join("; "),
  ...(failures[0] && { place: test.placeOf(failures[0].key) }),
});
