/** Puts the cases of our own test files to the policies of policies.yaml, and says what no case reached (docs/testing.md). */
import { Coverage, type CoverageReport, hasExpressions } from "../cel-policy/index.js";
import { createEvaluator, type Evaluator } from "../evaluation/evaluator.js";
import type { Verdict } from "../evaluation/verdict.js";
import type { CommandIo } from "./io.js";
import type { TestResult } from "./junit.js";
import { createPolicySource, problemLines } from "./load.js";
import type { LoadResult } from "./policy-source.js";
import { readTestFile, type TestCase } from "./test-file.js";

/** How much must be reached, and whether it is said. */
export interface CoverageOptions {
  /** Say what no case reached. */
  readonly coverage?: boolean;
  /** Percentage of coverage points that must be reached. */
  readonly minCoverage?: number;
}

/** What came of the cases. */
export interface OwnTestsResult {
  readonly passed: boolean;
  /** One failure for each file when the policies could not be loaded at all. */
  readonly results: readonly TestResult[];
}

/**
 * Runs our own test files.
 * @param values the options of loading policies
 * @throws UsageError for files that cannot be read
 */
export async function runOwnTests(
  files: readonly string[],
  options: CoverageOptions,
  values: Readonly<Record<string, unknown>>,
  io: CommandIo,
): Promise<OwnTestsResult> {
  const coverage = new Coverage();
  const source = createPolicySource(values, io.env, undefined, { watcher: coverage });
  try {
    const loaded = await source.load();
    for (const line of problemLines(loaded)) io.stderr.write(`${line}\n`);
    if (loaded.fatal !== undefined) {
      const failure = loaded.fatal;
      return {
        passed: false,
        results: files.map((file) => ({ file, name: file, policy: "", milliseconds: 0, failure })),
      };
    }
    const evaluator = createEvaluator(loaded.policies, { policyTimeout: source.policyTimeout });
    const results: TestResult[] = [];
    // Many cases are about the same object.
    const warned = new Set<string>();
    const warn = (line: string): void => {
      if (!warned.has(line)) io.stderr.write(`warning: ${line}\n`);
      warned.add(line);
    };
    for (const file of files) {
      for (const each of await readTestFile(file, warn)) results.push(await run(each, file, evaluator));
    }
    const passed = report(results, io);
    const reached = coverage.report(expressionsOf(loaded));
    if (options.coverage || options.minCoverage !== undefined) printCoverage(reached, options.coverage === true, io);
    return { passed: passed && percent(reached) >= (options.minCoverage ?? 0), results };
  } finally {
    source.close();
  }
}

async function run(test: TestCase, file: string, evaluator: Evaluator): Promise<TestResult> {
  const origin = test.review.kind === "raw" ? "validate_raw" : "validate";
  const entry = evaluator.policies.entries.get(test.policy);
  const common = { file, name: test.name, policy: test.policy };
  if (entry === undefined) return { ...common, milliseconds: 0, failure: `there is no policy '${test.policy}'` };
  // It answers everything with an error, which no case can have meant.
  if (entry.unavailable !== undefined) {
    return { ...common, milliseconds: 0, failure: `the policy could not be loaded: ${entry.unavailable}` };
  }
  const verdict = await evaluator.evaluate(entry, { review: test.review, origin });
  return { ...common, milliseconds: verdict.milliseconds, failure: failureOf(test, verdict) };
}

/** What differs from what was expected. */
function failureOf(test: TestCase, { outcome, response }: Verdict): string | undefined {
  const warnings = response.warnings ?? [];
  const got = outcome.verdict;
  const message = got === "skip" ? outcome.reason : (response.status?.message ?? "");
  if (test.expect === "warn") {
    if (warnings.length === 0) return `expected a warning, got ${got} without one`;
    return warnings.some((warning) => messageFits(test, warning))
      ? undefined
      : `${wanted(test)}, got ${quoted(warnings)}`;
  }
  if (got !== test.expect) return `expected ${test.expect}, got ${got}${message === "" ? "" : `: ${message}`}`;
  return messageFits(test, message) ? undefined : `${wanted(test)}, got ${quoted([message])}`;
}

const messageFits = ({ message, messageContains }: TestCase, actual: string): boolean =>
  (message === undefined || message === actual) && (messageContains === undefined || actual.includes(messageContains));

const quoted = (texts: readonly string[]): string => texts.map((text) => JSON.stringify(text)).join(", ");
const wanted = ({ message, messageContains }: TestCase): string =>
  message === undefined
    ? `expected a message with ${JSON.stringify(messageContains)}`
    : `expected the message ${JSON.stringify(message)}`;

/** Prints failures and a count; whether all passed. */
function report(results: readonly TestResult[], io: CommandIo): boolean {
  const failed = results.filter(({ failure }) => failure !== undefined);
  for (const { file, name, policy, failure } of failed)
    io.stdout.write(`FAIL ${file}: ${name} (${policy}): ${failure}\n`);
  io.stdout.write(`${results.length - failed.length} passed, ${failed.length} failed\n`);
  return failed.length === 0;
}

function* expressionsOf({ policies }: LoadResult) {
  const seen = new Set<unknown>();
  for (const { id, policy } of policies.entries.values()) {
    // A member by reference is the policy that it refers to.
    if (seen.has(policy)) continue;
    seen.add(policy);
    for (const expression of (policy.together ?? [policy])
      .filter(hasExpressions)
      .flatMap((part) => [...part.expressions()])) {
      const name = expression.policy === id || expression.policy === "inline" ? id : `${id} (${expression.policy})`;
      yield { ...expression, policy: name };
    }
  }
}

const percent = ({ covered, total }: CoverageReport): number => (total === 0 ? 100 : (100 * covered) / total);

function printCoverage(reached: CoverageReport, gaps: boolean, io: CommandIo): void {
  if (gaps) for (const { policy, path, text } of reached.gaps) io.stdout.write(`${policy}: ${path}: ${text}\n`);
  io.stdout.write(`coverage: ${reached.covered} of ${reached.total} (${percent(reached).toFixed(1)} %)\n`);
}
