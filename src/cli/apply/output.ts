/** Outputs of results: printed as they come, or collected until the end. */
import { writeNamed } from "../../data/command-io.js";
import type { Counts, Finding, Place, ReportedPolicy, Scanned } from "../../offline/reports/finding.js";
import { junitReport } from "../../offline/reports/junit.js";
import { countsLine, failures } from "../../offline/reports/plain-text.js";
import { policyReports, type ReportedEntry, reportText } from "../../offline/reports/policy-report.js";
import { type EntryOptions, resultEntry } from "../../offline/reports/result-entry.js";
import { type ResultRow, resultTable } from "../../offline/reports/result-table.js";
import { leftOutOfSarif, sarifReport } from "../../offline/reports/sarif.js";
import type { Wanted } from "../../offline/scan/scanner.js";
import { painted, plain } from "../look/paint.js";
import { changesText } from "./changed-resources.js";
import type { ApplyValues } from "./options.js";

/** Receives results. */
export interface Output {
  /** The results that it uses. */
  readonly wanted: Wanted;
  /** Whether it begins with Kyverno's headline. */
  readonly headline: boolean;
  /** Adds a result; returns the text to print now. */
  add(scanned: Scanned, policies: readonly ReportedPolicy[]): string;
  /** Receives a policy that was not evaluated; only files for programs have a place for it. */
  unasked?(name: string, message: string, place: Place | undefined): void;
  /** The text to print when the run ends early. */
  broken?(policies: readonly ReportedPolicy[]): Promise<string>;
  /** The text to print at the end. */
  end(counts: Counts, policies: readonly ReportedPolicy[]): Promise<string>;
}

/** Options of the output. */
export interface OutputOptions extends EntryOptions {
  /** Whether the output is a terminal. */
  readonly color: boolean;
  /** Receives warnings about files that are written. */
  readonly warn: (line: string) => void;
}

/** The output of a command line. */
export function outputFor(values: ApplyValues, options: OutputOptions): Output {
  const printed = printedOutput(values, options);
  const files = [values.junit, values.sarif].filter((file) => file !== undefined);
  return files.length === 0 ? printed : new ReportFiles(printed, values, options);
}

function printedOutput(values: ApplyValues, options: OutputOptions): Output {
  if (values.policyReport) return new Reports(values, options);
  return values.table ? new Table(values, options) : new Plain(options);
}

/** Prints changes, failures and counts: nothing is collected. */
class Plain implements Output {
  readonly wanted = "failures";
  readonly headline = true;
  readonly #options: OutputOptions;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  add(scanned: Scanned, policies: readonly ReportedPolicy[]): string {
    const { auditWarn, color } = this.#options;
    const changes = changesText(scanned, color ? painted : plain);
    return scanned.findings.length === 0 ? changes : changes + failures(scanned, policies, auditWarn);
  }

  async end(counts: Counts): Promise<string> {
    return countsLine(counts);
  }
}

class Table implements Output {
  readonly wanted = "all";
  readonly headline = true;
  readonly #rows: ResultRow[] = [];
  readonly #detailed: boolean;
  readonly #options: OutputOptions;

  constructor({ detailedResults }: ApplyValues, options: OutputOptions) {
    this.#detailed = detailedResults === true;
    this.#options = options;
  }

  add({ resource, findings }: Scanned, policies: readonly ReportedPolicy[]): string {
    for (const finding of findings) {
      const policy = policies[finding.policy];
      if (policy !== undefined) this.#rows.push({ policy, finding, resource });
    }
    return "";
  }

  async end(): Promise<string> {
    return resultTable(this.#rows, { detailed: this.#detailed, ...this.#options });
  }
}

/** Results as entries of reports. */
const entriesOf = (
  { resource, findings, place }: Scanned,
  policies: readonly ReportedPolicy[],
  options: EntryOptions,
): readonly ReportedEntry[] =>
  findings.flatMap((finding) => {
    const policy = policies[finding.policy];
    return policy === undefined ? [] : [{ policy, entry: resultEntry(policy, finding, resource, options), place }];
  });

class Reports implements Output {
  readonly wanted = "all";
  readonly headline = false;
  readonly #entries: ReportedEntry[] = [];
  readonly #options: EntryOptions;
  readonly #values: ApplyValues;

  constructor(values: ApplyValues, options: OutputOptions) {
    this.#options = options;
    this.#values = values;
  }

  add(scanned: Scanned, policies: readonly ReportedPolicy[]): string {
    this.#entries.push(...entriesOf(scanned, policies, this.#options));
    return "";
  }

  async end(): Promise<string> {
    const { reportApi, outputFormat } = this.#values;
    const flavour = reportApi === "openreports.io" ? "openreports.io/v1alpha1" : "wgpolicyk8s.io/v1alpha2";
    return reportText(policyReports(this.#entries, flavour), outputFormat);
  }
}

/** Report files beside the printed output, or one of them printed instead. */
class ReportFiles implements Output {
  readonly wanted = "all";
  readonly headline: boolean;
  readonly #printed: Output;
  readonly #silent: boolean;
  readonly #entries: ReportedEntry[] = [];
  readonly #options: OutputOptions;
  readonly #values: ApplyValues;

  constructor(printed: Output, values: ApplyValues, options: OutputOptions) {
    this.#printed = printed;
    this.#silent = values.junit === "-" || values.sarif === "-";
    this.headline = printed.headline && !this.#silent;
    this.#options = options;
    this.#values = values;
  }

  add(scanned: Scanned, policies: readonly ReportedPolicy[]): string {
    this.#entries.push(...entriesOf(scanned, policies, this.#options));
    return this.#silent ? "" : this.#printed.add(scanned, policies);
  }

  unasked(name: string, message: string, place: Place | undefined): void {
    const policy: ReportedPolicy = { name, namespace: "", source: "", annotations: {}, countsSkips: true, place };
    const finding: Finding = { policy: 0, rule: "", status: "error", message, properties: {}, exceptions: [] };
    const resource = { apiVersion: "", kind: "", namespace: "", name: "not asked", uid: "", resourceVersion: "" };
    this.#entries.push({ policy, entry: resultEntry(policy, finding, resource, this.#options) });
  }

  async end(counts: Counts, policies: readonly ReportedPolicy[]): Promise<string> {
    const printed = this.#silent ? "" : await this.#printed.end(counts, policies);
    return printed + (await this.broken(policies));
  }

  async broken(policies: readonly ReportedPolicy[]): Promise<string> {
    const { junit, sarif } = this.#values;
    let printed = "";
    if (junit !== undefined) printed += await delivered(junit, junitReport(this.#entries));
    if (sarif !== undefined) {
      const { text, leftOut } = sarifReport(this.#entries, policies);
      if (leftOut > 0) this.#options.warn(leftOutOfSarif(leftOut));
      printed += await delivered(sarif, text);
    }
    return printed;
  }
}

/** Writes a file; `-` is standard output. */
async function delivered(file: string, text: string): Promise<string> {
  if (file === "-") return text;
  await writeNamed(file, text);
  return "";
}
