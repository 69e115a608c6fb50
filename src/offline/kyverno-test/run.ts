/** Runs test files in Kyverno's format, and prints the results in its words (spec kyverno.md 8.8). */
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { parseResources } from "../../config/documents/source-document.js";
import { errorText } from "../../data/error-text.js";
import { printable, printableLines } from "../../data/printable.js";
import { yamlText } from "../../data/yaml.js";
import { type Cell, COLORS, drawTable } from "../reports/text-table.js";
import type { Answers } from "./answers.js";
import { formatRows, OUTPUT_FORMATS, type OutputFormat } from "./formats.js";
import { compare, type Row } from "./rows.js";
import { TestRunError } from "./run-error.js";
import { parseSelector, type Selector } from "./selector.js";
import { type ExpectedResult, parseTestFile, type TestDocument } from "./test-file.js";

// The table of rows (spec kyverno.md 8.8).

/** Options of the table. */
interface TableOptions {
  /** Whether to show messages. */
  readonly detailed: boolean;
  /** Whether to use colours, for terminals. */
  readonly color: boolean;
}

const HEADINGS = ["ID", "POLICY", "RULE", "RESOURCE", "RESULT", "REASON"];

/** The table with a line break after each line; empty without rows. */
export function rowTable(rows: readonly Row[], { detailed, color }: TableOptions): string {
  const headings = detailed ? [...HEADINGS, "MESSAGE"] : HEADINGS;
  return drawTable(
    headings,
    rows.map((row) => cellsOf(row).slice(0, headings.length)),
    color,
  );
}

/** Cells of a row. Reasons of a missing comparison are highlighted. */
function cellsOf({ id, policy, rule, resource, result, reason, message }: Row): readonly Cell[] {
  const compared = reason === "Ok" || reason.startsWith("Want ");
  return [
    String(id),
    [{ text: policy, color: COLORS.name }],
    [{ text: rule, color: COLORS.name }],
    [{ text: resource, color: COLORS.name }],
    [{ text: result, color: result === "Pass" ? COLORS.good : COLORS.bad }],
    compared ? reason : [{ text: reason, color: COLORS.notable }],
    message,
  ];
}

/** Options for showing and selecting tests. */
export interface TestRunOptions {
  /** `policy=P,rule=R,resource=X`, with wildcards. */
  readonly testCaseSelector?: string;
  /** One of {@link OUTPUT_FORMATS}; absent: a table. */
  readonly outputFormat?: string;
  readonly failOnly?: boolean;
  /** Whether to show messages. */
  readonly detailedResults?: boolean;
  /** Whether a run without tests is an error. */
  readonly requireTests?: boolean;
  /** Whether the table has colours. */
  readonly color: boolean;
  /** Monotonic milliseconds, for timing tests. */
  readonly now: () => number;
}

/** A test with its place. */
export interface Test {
  /** The file's path for display. */
  readonly path: string;
  /** The folder of its relative paths. */
  readonly folder: string;
  readonly document: TestDocument;
  /** The line of an expected result, by its index. */
  readonly lineOf: (result: number) => number;
}

/** Receivers of output while a test is evaluated, by lines. */
export interface TestWords {
  /** A step, in Kyverno's words. */
  readonly say: (line: string) => void;
  /** A warning for the user; it doesn't change the result. */
  readonly warn: (line: string) => void;
  /** An input that can't be used; it doesn't change Kyverno's result. Without a line it has been said already. */
  readonly mistake: (line?: string) => void;
}

/** Evaluates a test's policies on its resources. Throws a {@link TestRunError} if that is impossible. */
export type Evaluate = (test: Test, words: TestWords) => Promise<Answers>;

/** The output of a run. */
export interface TestRunOutput {
  /** Kyverno's own output. */
  readonly out: (text: string) => void;
  /** Other output: errors and warnings. */
  readonly err: (text: string) => void;
}

/** A row, and the file of its test. */
export interface TestedRow {
  readonly path: string;
  readonly row: Row;
  /** The line of what a failed row expects. */
  readonly line?: number;
  /** Milliseconds of the whole test. */
  readonly milliseconds: number;
}

/** The result of a run. */
export interface TestRunResult {
  readonly rows: readonly TestedRow[];
  /** Whether everything was as expected, for Kyverno's command. */
  readonly passed: boolean;
  /** Number of inputs that can't be used. */
  readonly mistakes: number;
  /** Number of rows whose policy did not match, though they expect a result. */
  readonly unjudged: number;
  /** Files without a row. */
  readonly empty: readonly string[];
  /** The error that ended the run before its last test; absent without one. */
  readonly ended?: { readonly path: string; readonly message: string };
}

/** Runs the tests of these files, in order; failures are printed when it ends. */
export async function runTestFiles(
  paths: readonly string[],
  options: TestRunOptions,
  evaluate: Evaluate,
  output: TestRunOutput,
): Promise<TestRunResult> {
  const run = new Run(options, evaluate, output);
  try {
    await run.all(paths);
  } catch (error) {
    if (!(error instanceof TestRunError)) throw error;
    output.err(`${printableLines(`Error: ${error.message}`)}\n`);
    const { at: path = paths[0] ?? "", complete } = run;
    return { ...run.found, passed: false, ...(!complete && { ended: { path, message: error.message } }) };
  }
  return { ...run.found, passed: true };
}

class Run {
  readonly rows: TestedRow[] = [];
  /** The file of the current test. */
  at: string | undefined;
  /** Whether all tests were run. */
  complete = false;
  #mistakes = 0;
  readonly #empty: string[] = [];
  readonly #options: TestRunOptions;
  readonly #evaluate: Evaluate;
  readonly #output: TestRunOutput;

  constructor(options: TestRunOptions, evaluate: Evaluate, output: TestRunOutput) {
    this.#options = options;
    this.#evaluate = evaluate;
    this.#output = output;
  }

  get found(): Omit<TestRunResult, "passed" | "ended"> {
    const unjudged = this.rows.filter(({ row }) => row.unjudged !== undefined).length;
    return { rows: this.rows, mistakes: this.#mistakes, unjudged, empty: this.#empty };
  }

  async all(paths: readonly string[]): Promise<void> {
    const { out } = this.#output;
    const { outputFormat, testCaseSelector = "", requireTests = false } = this.#options;
    const format = OUTPUT_FORMATS.find((each) => each === outputFormat);
    if (outputFormat !== undefined && format === undefined)
      throw new TestRunError(`invalid format, expected (${OUTPUT_FORMATS.join(", ")})`);
    const selector = parseSelector(testCaseSelector);
    if (selector.errors.length > 0) out("\nFilter errors:\n");
    this.#mistakes += selector.errors.length;
    for (const error of selector.errors) out(`  Error: ${printable(error)}\n`);
    const tests = await this.#read(paths);
    if (tests.length === 0) {
      out("\nNo test yamls available\n");
      if (requireTests) throw new TestRunError("no tests found");
      if (selector.errors[0] !== undefined) throw new TestRunError(selector.errors[0]);
      return;
    }
    for (const test of tests) {
      this.at = test.path;
      await this.#test(test, selector, format);
    }
    this.complete = true;
    this.#summary(format);
  }

  async #read(paths: readonly string[]): Promise<Test[]> {
    const tests: Test[] = [];
    const errors: { path: string; error: string }[] = [];
    for (const path of paths) {
      const bytes = await readFile(path).catch((error: unknown) => error);
      if (!Buffer.isBuffer(bytes)) {
        errors.push({ path, error: errorText(bytes) });
        continue;
      }
      const written = yamlText(bytes);
      const read = parseTestFile(written);
      const lineOf = (test: number) => (result: number) =>
        parseResources(written, path).documents[test]?.positionOf(["results", result]).line ?? 1;
      if (read.ok)
        tests.push(...read.tests.map((document, i) => ({ path, folder: dirname(path), document, lineOf: lineOf(i) })));
      else errors.push({ path, error: read.error });
    }
    if (errors.length === 0) return tests;
    this.#output.out("\nTest errors:\n");
    for (const { path, error } of errors)
      this.#output.out(`  Path: ${printable(path)}\n    Error: ${printable(error)}\n`);
    throw new TestRunError(`found ${errors.length} errors after loading tests`);
  }

  async #test(test: Test, selector: Selector, format: OutputFormat | undefined): Promise<void> {
    const { out } = this.#output;
    const { path, document } = test;
    const { apiVersion = "", kind = "", name = "" } = document;
    if (apiVersion === "" || kind === "" || name !== "") {
      out(`\nWARNING: test file (${printable(path)}) uses a deprecated schema that will be removed in 1.15\n`);
      throw new TestRunError(`test file ${path} uses a deprecated schema — please migrate to the latest format`);
    }
    const chosen = document.results.flatMap((expected, index) => {
      const selected = selector.select(expected);
      return selected === undefined ? [] : [{ selected, index }];
    });
    const results: ExpectedResult[] = chosen.map(({ selected }) => selected);
    if (results.length === 0) {
      if (document.results.length === 0) this.#empty.push(path);
      return;
    }
    // Kyverno prints the old `name` here.
    out(`Loading test  ( ${printable(path)} ) ...\n`);
    const { now } = this.#options;
    const began = now();
    const answers = await this.#answers(test);
    const milliseconds = now() - began;
    out("  Checking results ...\n");
    const { rows, mistakes } = compare(results, answers, selector.resource);
    for (const mistake of mistakes) this.#mistake(path, mistake);
    for (const { policy, resource, unjudged } of rows) {
      if (unjudged === undefined) continue;
      const row = `the policy ${policy} does not match ${resource}: expected ${unjudged}`;
      this.#output.err(`${printableLines(`Error: ${path}: ${row}`)}\n`);
    }
    const lineOf = ({ counts, unjudged, expected }: Row) =>
      counts === "fail" || unjudged !== undefined ? { line: test.lineOf(chosen[expected]?.index ?? 0) } : {};
    this.rows.push(...rows.map((row) => ({ path, row, milliseconds, ...lineOf(row) })));
    if (this.#options.failOnly !== true) out(`\n${this.#shown(rows, format)}\n`);
  }

  #mistake(path: string, line?: string): void {
    this.#mistakes++;
    if (line !== undefined) this.#output.err(`${printableLines(`Error: ${path}: ${line}`)}\n`);
  }

  async #answers(test: Test): Promise<Answers> {
    const { out, err } = this.#output;
    const words: TestWords = {
      say: (line) => out(`${printableLines(line)}\n`),
      warn: (line) => err(`${printableLines(`warning: ${test.path}: ${line}`)}\n`),
      mistake: (line) => this.#mistake(test.path, line),
    };
    try {
      return await this.#evaluate(test, words);
    } catch (error) {
      if (error instanceof TestRunError) throw new TestRunError(`failed to run test (${error.message})`);
      throw error;
    }
  }

  #shown(rows: readonly Row[], format: OutputFormat | undefined): string {
    const { detailedResults: detailed = false, color } = this.#options;
    return format === undefined ? rowTable(rows, { detailed, color }) : `${formatRows(rows, format, detailed)}\n`;
  }

  #summary(format: OutputFormat | undefined): void {
    const { out } = this.#output;
    const { failOnly = false } = this.#options;
    const failed = this.rows.map(({ row }) => row).filter(({ counts }) => counts === "fail");
    const total = this.rows.length;
    const counts = failOnly
      ? `${failed.length} out of ${total} tests failed`
      : `${total - failed.length} tests passed and ${failed.length} tests failed`;
    out(`\nTest Summary: ${counts}\n\n`);
    if (failed.length === 0) return;
    if (failOnly && format !== undefined) out(`\n${this.#shown(failed, format)}\n`);
    if (failOnly && format === undefined) {
      const numbered = failed.map((row, i) => ({ ...row, id: i + 1 }));
      out(`Aggregated Failed Test Cases : \n${this.#shown(numbered, format)}`);
    }
    throw new TestRunError(`${failed.length} tests failed`);
  }
}
