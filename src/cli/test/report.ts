/** Prints the results of our own test files, as text or JSON. */

import type { Position } from "../../config/documents/problem.js";
import type { CommandIo } from "../../data/command-io.js";
import { stringifyJson } from "../../data/json.js";
import { printable } from "../../data/printable.js";
import { paintFor, plain } from "../look/paint.js";
import { nameOf, type TestCase } from "./case.js";
import type { Failure } from "./compare.js";
import { type CoverageOptions, type CoverageSummary, enough, missing, type PlacedGap, percent } from "./coverage.js";

/** The result of a case. */
export interface CaseResult {
  readonly test: TestCase;
  readonly milliseconds: number;
  /** Failures; empty when it passed. */
  readonly failures: readonly Failure[];
}

/** Results of tests in Kyverno's format. */
export interface KyvernoRows {
  /** Rows with Kyverno's members, and the file of each. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly passed: number;
  readonly failed: number;
  /** The error that ended the run before its last test. */
  readonly error?: string;
}

/** The results of a run. */
export interface Report {
  readonly results: readonly CaseResult[];
  readonly summary: CoverageSummary | undefined;
  readonly options: CoverageOptions & { readonly removeColor?: boolean };
  readonly kyverno?: KyvernoRows;
}

const at = ({ file, line, column }: Position): string => printable(`${file}:${line}:${column}`);
const gapText = ({ text }: PlacedGap): string => text.replace(/^\d+:\d+: /, "");

/** Cases that failed, each expectation with its place; then counts, and parts that were not reached. */
export function textReport({ results, summary, options }: Report, io: Pick<CommandIo, "stdout" | "env">): string {
  const paint = options.removeColor === true ? plain : paintFor(io.stdout, io.env);
  const lines: string[] = [];
  // A policy that can't be loaded fails all of its cases: its problem is printed once.
  const told = new Set<string>();
  for (const { test, failures } of results) {
    if (failures.length === 0) continue;
    const [first] = failures;
    const reason = first?.key === "policy" ? `${test.file}: ${first.text}` : undefined;
    const again = reason !== undefined && told.has(reason);
    if (reason !== undefined) told.add(reason);
    const whom = `${paint("strong", printable(test.name))} (${printable(nameOf(test.subject))})`;
    lines.push(`${paint("bad", "FAIL")} ${at(test.place)}: ${whom}${again ? ": as above" : ""}`);
    if (again) continue;
    for (const { key, text, details } of failures) {
      const said = printable(`${key === "expect" ? "" : `${key}: `}${text}`);
      lines.push(`  ${paint("quiet", at(test.placeOf(key)))}: ${said}`);
      lines.push(...details.map((detail) => `    ${printable(detail)}`));
    }
  }
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  lines.push(
    `${paint("good", `${results.length - failed} passed`)}, ${paint(failed > 0 ? "bad" : "quiet", `${failed} failed`)}`,
  );
  if (summary !== undefined) {
    const short = !enough(summary, options);
    if (options.coverage === true || short) {
      for (const gap of summary.gaps) {
        const place = gap.place === undefined ? "" : `${paint("quiet", at(gap.place))}: `;
        const said = `${gap.policy}: ${gap.path}: ${gap.place === undefined ? gap.text : gapText(gap)}`;
        lines.push(`${place}${printable(said)}`);
      }
    }
    const more = missing(summary, options);
    const wanted = `: ${options.minCoverage} % must be reached, ${more} more of the places above`;
    const share = `coverage: ${summary.covered} of ${summary.total} (${percent(summary).toFixed(1)} %)`;
    lines.push(short ? paint("bad", `${share}${wanted}`) : share);
  }
  return `${lines.join("\n")}\n`;
}

/** The same as a JSON document. */
export function jsonReport({ results, summary, options, kyverno }: Report): string {
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  const cases = results.map(({ test, milliseconds, failures }) => ({
    ...test.place,
    name: test.name,
    policy: nameOf(test.subject),
    passed: failures.length === 0,
    milliseconds,
    failures: failures.map(({ key, text, details }) => ({ ...test.placeOf(key), key, message: text, details })),
  }));
  const coverage = summary && {
    covered: summary.covered,
    total: summary.total,
    percent: percent(summary),
    ...(options.minCoverage !== undefined && { minimum: options.minCoverage, missing: missing(summary, options) }),
    gaps: summary.gaps.map((gap) => ({ ...gap.place, policy: gap.policy, path: gap.path, message: gapText(gap) })),
  };
  const counts = {
    passed: results.length - failed + (kyverno?.passed ?? 0),
    failed: failed + (kyverno?.failed ?? 0),
  };
  const rows = kyverno && { rows: kyverno.rows, ...(kyverno.error !== undefined && { error: kyverno.error }) };
  return `${stringifyJson({ ...counts, cases, ...rows, ...(coverage && { coverage }) })}\n`;
}

/** The document of a run in which no case could be evaluated. */
export const jsonFailure = (error: string, files: number): string =>
  `${stringifyJson({ passed: 0, failed: files, cases: [], error })}\n`;
