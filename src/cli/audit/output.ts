/** Outputs of `audit`: findings as they come, or collected until the end. */
import type { ObjectReport } from "../../cluster/audit/object-report.js";
import { printGoYaml } from "../../data/print-yaml.js";
import type { ReportedPolicy } from "../../offline/reports/finding.js";
import { junitReport, resourceName } from "../../offline/reports/junit.js";
import type { ReportedEntry } from "../../offline/reports/policy-report.js";
import { qualifiedName, type ResultEntry } from "../../offline/reports/result-entry.js";
import { type SarifDocument, sarifReport } from "../../offline/reports/sarif.js";
import { type Cell, COLORS, drawTable } from "../../offline/reports/text-table.js";
import type { AuditValues } from "./options.js";

/** Most results that are kept for a table, JUnit or SARIF, which are printed at the end: more than a user reads, in some ten megabytes. */
const MAX_KEPT = 100_000;

/** Receives reports. */
export interface AuditOutput {
  /** Whether counts and problems are printed with it; otherwise they go to standard error. */
  readonly forPeople: boolean;
  /** Adds a report; returns the text to print now. */
  add(report: ObjectReport): string;
  /** The text to print at the end. */
  end(): string;
  /** Number of results that are not printed. */
  readonly dropped: number;
}

/** The output of the command line. */
export function auditOutput(
  { output }: Pick<AuditValues, "output">,
  policies: readonly ReportedPolicy[],
  color: boolean,
): AuditOutput {
  switch (output) {
    case "json":
      return new JsonList();
    case "yaml":
      return { forPeople: false, dropped: 0, add: ({ body }) => `---\n${printGoYaml(body)}\n`, end: () => "" };
    case "junit":
      return new Kept(false, junitReport);
    case "sarif":
      return new Kept(false, (entries) => sarifReport(entries, policies));
    case "table":
      return new Kept(true, (entries) => table(entries, color));
  }
}

/** A list of reports, printed as they come. */
class JsonList implements AuditOutput {
  readonly forPeople = false;
  readonly dropped = 0;
  #begun = false;

  add({ body }: ObjectReport): string {
    const before = this.#begun ? ",\n" : HEAD;
    this.#begun = true;
    return `${before}${JSON.stringify(body)}`;
  }

  end(): string {
    return `${this.#begun ? "" : HEAD}\n]}\n`;
  }
}

const HEAD = '{"apiVersion":"v1","kind":"List","items":[\n';

/** Collects results until the end. */
class Kept implements AuditOutput {
  readonly forPeople: boolean;
  dropped = 0;
  readonly #print: (entries: readonly ReportedEntry[]) => string | SarifDocument;
  readonly #entries: ReportedEntry[] = [];

  constructor(forPeople: boolean, print: (entries: readonly ReportedEntry[]) => string | SarifDocument) {
    this.forPeople = forPeople;
    this.#print = print;
  }

  add({ entries }: ObjectReport): string {
    for (const { policy, entry } of entries) {
      if (this.#entries.length < MAX_KEPT) this.#entries.push({ policy: policy.reported, entry });
      else this.dropped += 1;
    }
    return "";
  }

  end(): string {
    const printed = this.#print(this.#entries);
    if (typeof printed === "string") return printed;
    this.dropped += printed.leftOut;
    return printed.text;
  }
}

const RESULT_COLORS: Readonly<Record<ResultEntry["result"], string>> = {
  pass: COLORS.good,
  fail: COLORS.bad,
  warn: COLORS.notable,
  error: COLORS.bad,
  skip: COLORS.name,
};

function table(entries: readonly ReportedEntry[], color: boolean): string {
  const rows = entries.map(({ policy, entry }): Cell[] => [
    [{ text: qualifiedName(policy), color: COLORS.name }],
    [{ text: shortName(entry) }],
    [{ text: entry.result, color: RESULT_COLORS[entry.result] }],
    entry.message ?? "",
  ]);
  return drawTable(["POLICY", "RESOURCE", "RESULT", "MESSAGE"], rows, color);
}

/** The name of a resource, without the version. */
function shortName({ resources: [resource = {}] }: ResultEntry): string {
  const { apiVersion: _, ...named } = resource;
  return resourceName(named);
}
